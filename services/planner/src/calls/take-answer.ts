import { isAnswered, type RecordedAnswer } from "@planwright/models";
import type { EndedModelCall, ModelCallDocument, PlanningClaim } from "@planwright/store";

/** The call whose answer is wanted. */
export interface WantedAnswer {
  purpose: ModelCallDocument["purpose"];
  /** See `askDigest`. */
  askDigest: string;
  /** The models that may have answered, "provider:model". */
  models: readonly string[];
}

/**
 * The recorded answer of an earlier planner to the same question; null when that planner did not ask, or its
 * answer was not recorded. The answer is removed from the claim, so it is used once. Answers of later claims
 * come first, because the next question was about such an answer.
 */
export function takeAnswer(
  { earlierCalls }: Pick<PlanningClaim, "earlierCalls">,
  wanted: WantedAnswer,
): RecordedAnswer | null {
  const at = earlierCalls.findIndex((call) => isWanted(call, wanted));
  const [call] = at < 0 ? [] : earlierCalls.splice(at, 1);
  return call ? toAnswer(call) : null;
}

const isWanted = (call: EndedModelCall, { purpose, askDigest, models }: WantedAnswer): boolean =>
  isAnswered(call) && call.purpose === purpose && call.askDigest === askDigest && models.includes(call.model);

function toAnswer(call: EndedModelCall): RecordedAnswer {
  const { model, answer: text, finishReason, latencyMs, error } = call;
  const { inputTokens, outputTokens, cachedInputTokens = null } = call;
  return {
    model,
    text,
    finishReason,
    latencyMs,
    error,
    usage: { inputTokens, outputTokens, cachedInputTokens },
  };
}
