/** What an operator decides in the durable executor, the caller of `runPlan` decides by functions. */
import type { EngineEvent, Resolution, StepError, StepRecord } from "../state/protocol.ts";

/** The decisions of the caller. */
export interface CallerAnswers {
  /**
   * Asked before a call that needs approval; `arguments` of the record is what will be sent. Without it such
   * calls are refused.
   */
  approve?: ((record: StepRecord) => boolean | Promise<boolean>) | undefined;
  /**
   * Settles a call whose effect is unknown. Without it such a step is FAILED: nothing would ever settle it.
   */
  settleInDoubt?: ((record: StepRecord) => Resolution | Promise<Resolution>) | undefined;
}

/**
 * Asks whether a step that waits for approval may call, or what happened to a call in doubt. Never rejects: a
 * question that throws refuses the call, or fails the step in doubt.
 * @param now - in the milliseconds of the run's clock
 */
export async function askCaller(
  record: StepRecord,
  answers: CallerAnswers,
  now: () => number,
): Promise<EngineEvent> {
  const isInDoubt = record.status === "IN_DOUBT";
  try {
    return isInDoubt ? await resolutionOf(record, answers, now) : await approvalOf(record, answers, now);
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
  { approve }: CallerAnswers,
  now: () => number,
): Promise<EngineEvent> {
  const { stepId } = record;
  const approved = approve ? await approve(record) : false;
  const reason = approve
    ? undefined
    : `Step '${stepId}' needs approval, and no approve() was given that could give it`;
  return { type: "approval", stepId, approved, reason, at: now() };
}

async function resolutionOf(
  record: StepRecord,
  { settleInDoubt }: CallerAnswers,
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
