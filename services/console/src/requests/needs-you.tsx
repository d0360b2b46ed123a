import { Link } from "wouter";
import { expiryText } from "../design/text.ts";
import { requestPath } from "../request/paths.ts";
import { NEEDS } from "./filter.ts";
import { type Needs, useNeeds } from "./use-needs.ts";

const WORDS: Record<(typeof NEEDS)[number], { one: string; many: string; action: string }> = {
  APPROVAL: { one: "waits for an approval", many: "wait for an approval", action: "look and approve" },
  DOUBT: { one: "has a call in doubt", many: "have a call in doubt", action: "say what happened" },
  ANSWER: { one: "asks a question", many: "ask a question", action: "answer" },
};

/** The requests that wait for a decision, each with one next action. */
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
  const { one, many, action } = WORDS[need];
  const count = found?.nodes.length ?? 0;
  return (
    <div className={`need${count > 0 ? " tone-attention" : ""}`}>
      <h2>
        <Link href={`/?needs=${need}`}>
          {count}
          {found?.pageInfo.hasNextPage ? "+" : ""} {count === 1 ? one : many}
        </Link>
      </h2>
      <ul>
        {firstToExpire(found?.nodes ?? []).map(({ requestId, title, plan }) => (
          <li key={requestId}>
            <Link href={requestPath({ requestId, version: null, stepId: null, view: "graph" })}>
              {action}: <span dir="auto">{title}</span>
            </Link>
            {plan && plan.expiresAt !== null && (
              <span className="quiet-text"> {expiryText(plan.expiresAt)}</span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** In the order of the time that is shown; those whose wait has no end come last. */
export function firstToExpire<Row extends { plan: { expiresAt: string | null } | null }>(
  rows: readonly Row[],
): Row[] {
  const at = ({ plan }: Row) => (plan?.expiresAt ? Date.parse(plan.expiresAt) : Number.MAX_SAFE_INTEGER);
  return rows.toSorted((one, other) => at(one) - at(other));
}
