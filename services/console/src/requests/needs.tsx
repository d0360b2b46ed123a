import { isJsonObject, numberText } from "@planwright/plan";
import { Link } from "wouter";
import { useNow } from "../data/browser.ts";
import { type Needs, READ_NEEDS, READ_WAITING_CALL } from "../data/list-operations.ts";
import { useRead } from "../data/use-api.ts";
import { ListRow, Pill } from "../parts/elements.tsx";
import { agoText, instantText, inText, NEED_LOOK } from "../parts/looks.ts";
import { requestPath } from "../request/paths.ts";
import { HomeCard } from "./home-card.tsx";
import { useFedRead } from "./use-request-list.ts";

/** The decisions that a list can be filtered by. */
export const NEEDS = ["APPROVAL", "DOUBT", "ANSWER", "SIGN_IN"] as const;

type Need = (typeof NEEDS)[number];
type Needed = Needs[Need]["nodes"][number] & { need: Need };

const ACTION: Record<Need, string> = {
  APPROVAL: "look and approve",
  DOUBT: "say what happened",
  ANSWER: "answer",
  SIGN_IN: "sign in",
};

/** Most rows; the list has the others. */
const SHOWN = 4;

/** The requests that wait for a decision: one line each, the first to end on top. */
export function NeedsYou() {
  const needs = useFedRead(READ_NEEDS);
  const now = useNow();
  const waiting = firstToExpire(
    NEEDS.flatMap((need) => (needs?.[need].nodes ?? []).map((request) => ({ ...request, need }))),
  );
  return (
    <HomeCard
      label="Needs you"
      count={waiting.length}
      hasMore={NEEDS.some((need) => needs?.[need].pageInfo.hasNextPage)}
      facts={NEEDS.map((need) => ({
        href: `/?needs=${need}`,
        count: needs?.[need].nodes.length ?? 0,
        word: NEED_LOOK[need].short,
      }))}
      empty={needs === null ? "Reading …" : "No request waits for a person."}
    >
      {waiting.slice(0, SHOWN).map((request) => (
        <NeedRow key={request.requestId} request={request} now={now} />
      ))}
    </HomeCard>
  );
}

function NeedRow({ request, now }: { request: Needed; now: number }) {
  const { requestId, title, need, updatedAt, plan } = request;
  const call = useRead(READ_WAITING_CALL, need === "ANSWER" || need === "SIGN_IN" ? null : { requestId });
  const [step] = call.data?.request?.plan?.stepsConnection.nodes ?? [];
  const amount = step && amountOf(step.resolvedArguments ?? step.arguments);
  const expiresAt = plan?.expiresAt ?? null;
  const href = requestPath({ requestId, version: null, stepId: null, view: null });
  return (
    <ListRow
      lead={<Pill look={NEED_LOOK[need]} />}
      title={
        <Link href={href} aria-label={`${ACTION[need]}: ${title}`}>
          <span dir="auto">{title}</span>
        </Link>
      }
      facts={
        <>
          {amount !== undefined && <strong className="amount">{amount}</strong>}
          <span title={`waits since ${instantText(updatedAt)}`}>{agoText(updatedAt, now)}</span>
          {expiresAt !== null && (
            <span className="tone-attention" title={`expires at ${instantText(expiresAt)}`}>
              expires {inText(expiresAt, now)}
            </span>
          )}
        </>
      }
    />
  );
}

/** In the order of the time at which the wait ends; those whose wait has no end come last. */
export function firstToExpire<Row extends { plan: { expiresAt: string | null } | null }>(
  rows: readonly Row[],
): Row[] {
  const at = ({ plan }: Row) => (plan?.expiresAt ? Date.parse(plan.expiresAt) : Number.MAX_SAFE_INTEGER);
  return rows.toSorted((one, other) => at(one) - at(other));
}

/** Names of arguments that say how much a call is about. */
const AMOUNT_NAME = /^(?:amount|total|price|sum|cost|fee)(?:[_-]?(?:due|in[_-]?cents|cents|usd|eur))?$/iu;

/**
 * How much a call is about, such as "129.5 EUR", by the names of its arguments; undefined if none says so. Pure.
 */
export function amountOf(given: unknown): string | undefined {
  if (!isJsonObject(given)) return undefined;
  for (const [name, value] of Object.entries(given)) {
    if (!AMOUNT_NAME.test(name) || (typeof value !== "number" && typeof value !== "string")) continue;
    const text = typeof value === "number" ? numberText(value, 3) : value.slice(0, 20);
    const { currency } = given;
    const unit = typeof currency === "string" ? currency.slice(0, 5) : /cents/iu.test(name) ? "cents" : "";
    return `${text} ${unit}`.trim();
  }
  return undefined;
}
