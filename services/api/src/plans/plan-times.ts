import type { PlanHead } from "@planwright/store";
import type { Reads } from "../operation/reads.ts";

/** How long a plan took, in milliseconds, until its end or until now; null before its start. */
export interface PlanTimes {
  /** Its own time: from its start, without `waitedForPeopleMs`. */
  durationMs: number | null;
  /** The time in which only a person could continue it. */
  waitedForPeopleMs: number | null;
}

/** Of a plan that has ended it follows from the document, so that lists of plans read no journal for it. */
export async function planTimes(
  plan: Pick<PlanHead, "_id" | "startedAt" | "finishedAt" | "epoch" | "waitedForPeopleMs">,
  reads: Pick<Reads, "waitedForPeopleMs">,
  nowMs: number,
): Promise<PlanTimes> {
  if (!plan.startedAt) return { durationMs: null, waitedForPeopleMs: null };
  const untilMs = plan.finishedAt?.getTime() ?? nowMs;
  const totalMs = Math.max(0, untilMs - plan.startedAt.getTime());
  const waitedForPeopleMs = Math.min(
    totalMs,
    endedAfterMs(plan) ?? (await reads.waitedForPeopleMs(plan._id, new Date(untilMs))),
  );
  return { durationMs: totalMs - waitedForPeopleMs, waitedForPeopleMs };
}

/** How long a plan that has ended had waited for people; undefined when only its journal knows. */
function endedAfterMs({
  finishedAt,
  epoch,
  waitedForPeopleMs,
}: Pick<PlanHead, "finishedAt" | "epoch" | "waitedForPeopleMs">): number | undefined {
  if (!finishedAt) return undefined;
  // A plan that was claimed once was never released, so it did not wait.
  return waitedForPeopleMs ?? (epoch <= 1 ? 0 : undefined);
}
