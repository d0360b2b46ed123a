import { awayForMs, type DraftError, modelPauseMs } from "@planwright/models";
import { CodedError } from "@planwright/plan";
import type { ModelWait, PlanningClaim, PlanningStore } from "@planwright/store";
import { redactedError } from "./record-of-call.ts";

/** Dependencies of {@link postponeIfAway}. */
export interface PostponeParts {
  store: Pick<PlanningStore, "postponePlanning">;
  /** How long the model of a request may be away before its planning fails, in milliseconds. Default: 600,000. */
  modelUnreachableMs?: number | undefined;
}

/** The request was released: a planner claims it again when its model is to be tried again. */
export class PostponedError extends CodedError<Pick<ModelWait, "error" | "nextAttemptAt" | "until">> {
  readonly code = "POSTPONED";
  readonly retryable = true;
  constructor(wait: ModelWait) {
    super("Planning continues when the model is back", wait);
  }
}

/**
 * Returns an error that waiting does not cure, or that came after all waiting.
 * @throws {PostponedError} when the model is away for now: the claim is then released
 * @throws {LeaseLostError}
 */
export async function postponeIfAway(
  { store, modelUnreachableMs = 600_000 }: PostponeParts,
  claim: PlanningClaim,
  error: DraftError,
): Promise<DraftError> {
  const requestedMs = awayForMs(error);
  if (requestedMs === null) return error;
  const wait = await store.postponePlanning(claim, {
    error: redactedError(error),
    pauseMs: (tries) => modelPauseMs(tries, Math.random()),
    requestedMs,
    unreachableMs: modelUnreachableMs,
  });
  if (wait) throw new PostponedError(wait);
  return error;
}
