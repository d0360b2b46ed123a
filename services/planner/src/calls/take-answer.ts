import { isAnswered, type RecordedAnswer } from "@planwright/models";
import type { EndedModelCall, ModelCallBegin, PlanningClaim } from "@planwright/store";

/** The call whose answer is wanted. */
export interface WantedAnswer {
  purpose: ModelCallBegin["purpose"];
  /** See `askDigest`. */
  askDigest: string;
  /** Who may have answered, "provider:model". */
  models: readonly string[];
}

/**
 * What a planner that died was answered to the same question, taken out of the claim so that it is used once; null when it was not asked,
 * or its answer was not recorded. The answer of the latest claim comes first: what was asked next was asked about that one.
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
