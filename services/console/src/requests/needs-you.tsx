import { Link } from "wouter";
import { requestPath } from "../request/paths.ts";
import { NEEDS } from "./filter.ts";
import { useRequestList } from "./use-request-list.ts";

/** Requests of one kind that are shown; the rest is one click away. */
const SHOWN = 5;

const WORDS: Record<(typeof NEEDS)[number], { title: string; action: string }> = {
  APPROVAL: { title: "wait for an approval", action: "look and approve" },
  DOUBT: { title: "have a call in doubt", action: "say what happened" },
  ANSWER: { title: "ask a question", action: "answer" },
};

/** What only a person can move on, each with its one next action. */
export function NeedsYou() {
  return (
    <section className="needs-you" aria-label="Needs you">
      {NEEDS.map((need) => (
        <Need key={need} need={need} />
      ))}
    </section>
  );
}

function Need({ need }: { need: (typeof NEEDS)[number] }) {
  const { rows, readMore } = useRequestList({ needs: need });
  const { title, action } = WORDS[need];
  const count = rows?.length ?? 0;
  return (
    <div className={`need${count > 0 ? " tone-attention" : ""}`}>
      <h2>
        <Link href={`/?needs=${need}`}>
          {count}
          {readMore ? "+" : ""} {title}
        </Link>
      </h2>
      <ul>
        {rows?.slice(0, SHOWN).map(({ requestId, query }) => (
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
