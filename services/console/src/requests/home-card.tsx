import { numberText } from "@planwright/plan";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { useIsNarrow } from "../data/browser.ts";
import { Button } from "../parts/elements.tsx";

/** A part of a count: a number, its word, and the list of them. */
interface CountedFact {
  href: string;
  count: number;
  word: string;
}

/**
 * A card above the list of requests. On a phone it is one line until it is opened, so that the list begins on the
 * first screen.
 */
export function HomeCard({
  label,
  count,
  hasMore,
  facts,
  empty,
  children,
}: {
  label: string;
  count: number;
  /** True: there are more than were counted. */
  hasMore: boolean | undefined;
  facts: readonly CountedFact[];
  /** In place of the rows when there is none. */
  empty: string;
  /** The rows. */
  children: ReactNode;
}) {
  const isNarrow = useIsNarrow();
  const [isOpen, setIsOpen] = useState(false);
  const isShown = !isNarrow || isOpen;
  return (
    <section className={`card home-card${count > 0 ? " is-counted" : ""}`} aria-label={label}>
      <header className="card-head">
        <h2>
          {label}{" "}
          <span className="tab-count">
            {numberText(count)}
            {hasMore && "+"}
          </span>
        </h2>
        <span className="home-facts">
          {count === 0 && <span className="quiet-text">{empty}</span>}
          {facts
            .filter((fact) => fact.count > 0)
            .map((fact) => (
              <Link key={fact.href} href={fact.href}>
                {numberText(fact.count)} {fact.word}
              </Link>
            ))}
          {isNarrow && count > 0 && (
            <Button kind="quiet" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
              {isOpen ? "Hide" : "Show"}
            </Button>
          )}
        </span>
      </header>
      {isShown && count > 0 && <ul className="list-rows">{children}</ul>}
    </section>
  );
}
