import type { ModelPrice } from "../chat/model-price.ts";
import type { TokenUsage } from "../draft/token-usage.ts";

const MILLION = 1_000_000;

/** The cost of a call in US dollars. Tokens that the provider did not count are taken from `otherwise`. */
export function costUsd(
  price: ModelPrice,
  usage: TokenUsage,
  otherwise: { inputTokens: number; outputTokens: number } = { inputTokens: 0, outputTokens: 0 },
): number {
  const input = usage.inputTokens ?? otherwise.inputTokens;
  const cached = Math.min(usage.cachedInputTokens ?? 0, input);
  const output = usage.outputTokens ?? otherwise.outputTokens;
  const sum =
    (input - cached) * price.input + cached * (price.cachedInput ?? price.input) + output * price.output;
  return sum / MILLION;
}
