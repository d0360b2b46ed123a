import { type CallEnd, type CallToCome, costUsd, estimateTokens, type ModelPrice } from "@planwright/models";
import type { ModelCallEnd, ModelSpending } from "@planwright/store";
import { keptText } from "./record-of-call.ts";
import { redactedError } from "./redacted-error.ts";

/** Facts that were known when the call began. */
interface Begun {
  call: Pick<CallToCome, "promptTokens">;
  /** Null when the price is unknown. */
  price: ModelPrice | null;
  reserved: ModelSpending;
}

const NOTHING: ModelSpending = { modelCalls: 0, tokens: 0, costUsd: 0 };

/**
 * An ended call, as it is stored and counted. Pure. A call that the provider refused costs nothing; a call
 * with an unknown result costs all that was reserved; tokens that the provider did not count are estimated.
 */
export function settledCall(outcome: CallEnd, begun: Begun): ModelCallEnd {
  const { usage, finishReason, latencyMs, error, text } = outcome;
  const { spent, isCounted } = spentOn(outcome, begun);
  const answer = keptText(text);
  return {
    answer,
    isAnswerComplete: answer === text,
    finishReason,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cachedInputTokens: usage.cachedInputTokens ?? null,
    latencyMs,
    costUsd: begun.price === null ? null : spent.costUsd,
    pricing: begun.price === null ? "unpriced" : isCounted ? "priced" : "estimated",
    spent,
    error: error && redactedError(error),
  };
}

function spentOn(
  { spent, usage, text }: CallEnd,
  { call, price, reserved }: Begun,
): { spent: ModelSpending; isCounted: boolean } {
  switch (spent) {
    case "none":
      return { spent: NOTHING, isCounted: true };
    case "unknown":
      return { spent: reserved, isCounted: false };
    case "complete": {
      const estimate = { inputTokens: call.promptTokens, outputTokens: estimateTokens(text) };
      const tokens =
        (usage.inputTokens ?? estimate.inputTokens) + (usage.outputTokens ?? estimate.outputTokens);
      const cost = price === null ? 0 : costUsd(price, usage, estimate);
      return {
        spent: { modelCalls: 1, tokens, costUsd: cost },
        isCounted: usage.inputTokens !== null && usage.outputTokens !== null,
      };
    }
  }
}
