/** In the durable executor an operator decides; in memory functions of the caller of `runPlan` decide. */
import type { EngineEvent, Resolution, StepError, StepRecord } from "../state/protocol.ts";

/** Functions of the caller that decide. */
export interface CallerDecisions {
  /**
   * Called before a call that needs approval; `arguments` of the record are the arguments that will be sent.
   * Default: such calls are refused.
   */
  approve?: ((record: StepRecord) => boolean | Promise<boolean>) | undefined;
  /**
   * Settles a call whose effect is unknown. Default: such a step is FAILED, because nothing else would settle
   * it.
   */
  settleInDoubt?: ((record: StepRecord) => Resolution | Promise<Resolution>) | undefined;
}

/**
 * Asks the caller to approve a step or to settle a call in doubt. Never rejects: when the function throws,
 * the call is refused or the step in doubt is FAILED.
 * @param now - time of the run's clock, in Unix milliseconds
 */
export async function askForDecision(
  record: StepRecord,
  decisions: CallerDecisions,
  now: () => number,
): Promise<EngineEvent> {
  const isInDoubt = record.status === "IN_DOUBT";
  try {
    return isInDoubt ? await resolutionOf(record, decisions, now) : await approvalOf(record, decisions, now);
  } catch (error) {
    const { message } = error instanceof Error ? error : new TypeError(String(error));
    const at = now();
    if (!isInDoubt) return { type: "approval", stepId: record.stepId, approved: false, reason: message, at };
    const failure: StepError = { code: "TOOL_FAILED", message, retryable: false };
    return { type: "resolve", key: record.key, resolution: { type: "failed", error: failure }, at };
  }
}

async function approvalOf(
  record: StepRecord,
  { approve }: CallerDecisions,
  now: () => number,
): Promise<EngineEvent> {
  const { stepId } = record;
  const approved = approve ? await approve(record) : false;
  const reason = approve ? undefined : `Step '${stepId}' needs approval, and no approve() was passed`;
  return { type: "approval", stepId, approved, reason, at: now() };
}

async function resolutionOf(
  record: StepRecord,
  { settleInDoubt }: CallerDecisions,
  now: () => number,
): Promise<EngineEvent> {
  const error = record.error ?? {
    code: "TOOL_CONNECTION_LOST",
    message: "The answer was lost",
    retryable: false,
  };
  const resolution = settleInDoubt ? await settleInDoubt(record) : ({ type: "failed", error } as const);
  return { type: "resolve", key: record.key, resolution, at: now() };
}
