import { Link } from "wouter";
import { requestPath } from "../request/paths.ts";
import { NEEDS } from "./filter.ts";
import { type Needs, useNeeds } from "./use-needs.ts";

const WORDS: Record<(typeof NEEDS)[number], { title: string; action: string }> = {
  APPROVAL: { title: "wait for an approval", action: "look and approve" },
  DOUBT: { title: "have a call in doubt", action: "say what happened" },
  ANSWER: { title: "ask a question", action: "answer" },
};

/** What only a person can move on, each with its one next action. */
export function NeedsYou() {
  const needs = useNeeds();
  return (
    <section className="needs-you" aria-label="Needs you">
      {NEEDS.map((need) => (
        <Need key={need} need={need} found={needs?.[need]} />
      ))}
    </section>
  );
}

function Need({ need, found }: { need: (typeof NEEDS)[number]; found: Needs[keyof Needs] | undefined }) {
  const { title, action } = WORDS[need];
  const count = found?.nodes.length ?? 0;
  return (
    <div className={`need${count > 0 ? " tone-attention" : ""}`}>
      <h2>
        <Link href={`/?needs=${need}`}>
          {count}
          {found?.pageInfo.hasNextPage ? "+" : ""} {title}
        </Link>
      </h2>
      <ul>
        {found?.nodes.map(({ requestId, query }) => (
          <li key={requestId}>
            <Link href={requestPath({ requestId, version: null, stepId: null, view: "graph" })}>
              {action}: <span dir="auto">{query ?? requestId}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
