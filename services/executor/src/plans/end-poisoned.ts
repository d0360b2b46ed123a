import type { StepError, StepRecord } from "@planwright/engine";
import { type EffectClass, isStepActive } from "@planwright/plan";
import type { ExecutionStore, PlanClaim } from "@planwright/store";
import type { PlanMetrics } from "../metrics/plan-metrics.ts";

/** A plan that was claimed this often without progress is ended, because it kills its executors. */
const MAX_CLAIMS_WITHOUT_PROGRESS = 5;

/** True for a plan that was claimed too often without progress of any step. */
export function isPoisoned({ plan }: PlanClaim): boolean {
  return plan.claims > MAX_CLAIMS_WITHOUT_PROGRESS;
}

/** Ends a poisoned plan as FAILED. Calls that may have had an effect end in doubt. */
export async function endPoisoned(
  store: ExecutionStore,
  claim: PlanClaim,
  metrics: PlanMetrics,
): Promise<{ error: StepError; records: readonly StepRecord[] }> {
  const error = {
    code: "POISONED",
    message: `The plan was started ${MAX_CLAIMS_WITHOUT_PROGRESS} times without progress of any step: each time its executor died or was blocked`,
    retryable: false,
  };
  const unfinished = recordsOfAll(claim).filter(({ key }) => !claim.journal.unit(key)?.finishedAt);
  const records = unfinished.map(
    (record): StepRecord => ({
      ...record,
      status: lastStatus(record, claim.journal.unit(record.key)?.effectClass ?? null),
      waitReason: undefined,
      nextAttemptAt: undefined,
      error,
    }),
  );
  await store.finishPlan(
    claim,
    { type: "finish", status: "FAILED", outputs: {}, error },
    { records, ends: [] },
  );
  metrics.recorded(records.filter(({ status }, index) => status !== unfinished[index]?.status));
  metrics.ended({ status: "FAILED", error });
  return { error, records: records.filter(({ status }) => status !== "SKIPPED") };
}

/** The records of all units: a step that has none yet gets one. */
function recordsOfAll({ plan, records }: PlanClaim): StepRecord[] {
  const known = new Set(records.map(({ key }) => key));
  const unrecorded = plan.plan.steps.filter(({ id }) => !known.has(id));
  const pending = unrecorded.map(({ id }): StepRecord => {
    return { key: id, stepId: id, status: "PENDING", attempts: 0 };
  });
  return [...records, ...pending];
}

/**
 * A unit that may have acted is in doubt; so is a call that was running, unless it only reads. A unit without
 * an effect class was never called, or only reads.
 */
function lastStatus(
  { status, mayHaveActed }: StepRecord,
  effectClass: EffectClass | null,
): StepRecord["status"] {
  if (status === "IN_DOUBT" || mayHaveActed) return "IN_DOUBT";
  if (status === "RUNNING" && effectClass !== null && effectClass !== "R") return "IN_DOUBT";
  return isStepActive(status) ? "FAILED" : "SKIPPED";
}
