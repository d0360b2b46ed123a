import { estimateTokens } from "./estimate-tokens.ts";

/**
 * The first of the texts that costs at most `maxTokens`, else the last; those after it are never made. Empty
 * when there are none. Pure.
 */
export function firstFitting(texts: Iterable<string>, maxTokens: number): string {
  let last = "";
  for (const text of texts) {
    last = text;
    if (estimateTokens(text) <= maxTokens) break;
  }
  return last;
}
