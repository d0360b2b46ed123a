/**
 * Compares the readings of a running request with its journal. See {@link
 * import("./check-journal.ts").checkJournal}, rule 3.
 */
import { isDeepStrictEqual } from "node:util";
import { ENDED_REQUEST_STATUSES, isTerminalPlanStatus, type PlanStatus } from "@planwright/plan";
import type { FinalPlan, SeenReading } from "../evidence/evidence.ts";
import type { Reading } from "../evidence/reading.ts";
import { lastStatus, momentAt, type ReplayedPlan, requestStatusOf } from "./replayed-request.ts";

/** A request by its journal, with the documents of its plans. */
export interface JournalFacts {
  requestId: string;
  lastSeq: number;
  /** By planId. */
  replayed: ReadonlyMap<string, ReplayedPlan>;
  plans: readonly FinalPlan[];
}

type SeenPlan = NonNullable<Reading["plan"]>;
type SeenStep = SeenPlan["steps"][number];

const ENDED_STATUSES: ReadonlySet<string> = new Set(ENDED_REQUEST_STATUSES);

/** Checks the readings of one request, in their order. Pure. */
export function checkReadings(
  { requestId, lastSeq, replayed, plans }: JournalFacts,
  readings: readonly SeenReading[],
  report: (id: string, expected: string, found: string) => void,
): void {
  const stepIds = new Map(
    plans.map(({ _id, plan }) => [_id, (plan?.steps ?? []).map((step): string => step.id)]),
  );
  /** The seq before which no further reading may show a state. */
  let from = 0;
  for (const { reading, afterSeq } of readings) {
    const seen = reading.plan;
    if (seen === null) continue;
    const plan = replayed.get(reading.planId);
    if (plan === undefined) {
      report(requestId, "plans of its journal", `a client saw ${reading.planId}`);
      continue;
    }
    const expected = new Set(statusesFrom(plan, afterSeq));
    if (!expected.has(seen.status))
      report(
        requestId,
        `${plan.planId} as one of ${[...expected].join(", ")}`,
        `a client saw it ${seen.status}`,
      );
    if (ENDED_STATUSES.has(reading.status) && reading.status !== requestStatusOf(plan))
      report(
        requestId,
        `the status that follows from ${plan.planId}, ${lastStatus(plan)}`,
        `a client saw it ${reading.status}`,
      );
    // A client reads the end of a plan from the plan's document, which is written after the entry. It reads
    // the steps after that.
    const endSeq = isTerminalPlanStatus(seen.status) ? (plan.endedSeq ?? 0) : 0;
    from = Math.max(from, afterSeq, plan.storedSeq, endSeq);
    const match = entryOf(plan, stepIds.get(plan.planId) ?? [], seen, { from, to: lastSeq });
    if (typeof match === "number") from = match;
    else report(`${requestId} ${plan.planId}`, match.expected, match.found);
  }
}

/**
 * Statuses of the plan that a reading after this entry may show. A document that no worker has written shows
 * QUEUED.
 */
function statusesFrom({ statuses }: ReplayedPlan, afterSeq: number): PlanStatus[] {
  if (afterSeq === 0) return [...statuses.map(({ status }) => status), "QUEUED"];
  const now = statuses.findLast(({ seq }) => seq <= afterSeq)?.status ?? "READY";
  const later = statuses.filter(({ seq }) => seq > afterSeq).map(({ status }) => status);
  return now === "READY" ? [now, "QUEUED", ...later] : [now, ...later];
}

/**
 * The first seq after which the plan was as the client read it; without one, a description of the difference.
 */
function entryOf(
  plan: ReplayedPlan,
  stepIds: readonly string[],
  { steps }: SeenPlan,
  { from, to }: { from: number; to: number },
): number | { expected: string; found: string } {
  for (let seq = from; seq <= to; seq++) {
    const keys = new Set([...stepIds, ...plan.units.keys()].filter((key) => momentAt(plan, key, seq)));
    if (keys.size === steps.length && steps.every((step) => keys.has(step.key) && wasAt(plan, step, seq)))
      return seq;
  }
  const span = `between entries ${from} and ${to}`;
  for (const step of steps) {
    const moments = [from, ...(plan.units.get(step.key)?.moments ?? []).map(({ seq }) => seq)];
    if (moments.some((seq) => seq >= from && wasAt(plan, step, seq))) continue;
    const expected = moments
      .filter((seq) => seq >= from)
      .map((seq) => wordsOf(momentAt(plan, step.key, seq), seq));
    return {
      expected: `${step.key} ${span} as ${expected.join("; ")}`,
      found: `a client saw it ${wordsOf(step)}`,
    };
  }
  const found = steps.map(({ key, status }) => `${key} ${status}`).join(", ");
  return { expected: `all steps as after one entry ${span}`, found: `a client saw ${found}` };
}

function wasAt(plan: ReplayedPlan, { key, status, output, attempts }: SeenStep, seq: number): boolean {
  const moment = momentAt(plan, key, seq);
  if (moment === undefined || moment.status !== status) return false;
  if (attempts !== undefined && attempts.length !== moment.attempts) return false;
  const isCompared = status === "COMPLETED" && !moment.isStoredSeparately;
  return !isCompared || isDeepStrictEqual(output, moment.output ?? null);
}

function wordsOf(
  unit: { status: string; attempts?: number | readonly unknown[] | undefined; output?: unknown } | undefined,
  seq?: number,
): string {
  if (unit === undefined) return "not there";
  const { status, attempts, output = null } = unit;
  const count = typeof attempts === "number" ? attempts : attempts?.length;
  const tries = count === undefined ? "" : ` (${count} attempts)`;
  const result = output === null ? "" : ` with ${JSON.stringify(output).slice(0, 200)}`;
  return `${status}${tries}${result}${seq === undefined ? "" : ` at entry ${seq}`}`;
}
