import { estimateTokens } from "./estimate-tokens.ts";

/**
 * The first text that costs at most `maxTokens`, otherwise the last one. Later texts are not generated. Empty
 * without texts. Pure.
 */
export function firstFitting(texts: Iterable<string>, maxTokens: number): string {
  let last = "";
  for (const text of texts) {
    last = text;
    if (estimateTokens(text) <= maxTokens) break;
  }
  return last;
}
