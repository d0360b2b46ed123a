import { estimateTokens } from "./estimate-tokens.ts";

/** A text with more characters never fits: a token is estimated at 3.3 characters at most. */
const MAX_CHARS_PER_TOKEN = 4;

/**
 * A text that costs at most `maxTokens` by {@link estimateTokens}. A longer text keeps its head and tail,
 * with a mark between them that says how many characters are left out. Empty when not even the mark fits.
 * Pure.
 * @param write - writes the text as in the prompt, when that costs more tokens than the text itself. Default:
 * unchanged
 */
export function cutMiddle(text: string, maxTokens: number, write = (cut: string): string => cut): string {
  const maxKept = Math.max(0, maxTokens) * MAX_CHARS_PER_TOKEN;
  const fits = (cut: string) => estimateTokens(write(cut)) <= maxTokens;
  if (text.length <= maxKept && fits(text)) return text;
  let best = "";
  let [low, high] = [0, Math.min(maxKept, text.length - 1)];
  while (low <= high) {
    const kept = Math.floor((low + high) / 2);
    const cut = withoutMiddle(text, kept);
    if (fits(cut)) {
      best = cut;
      low = kept + 1;
    } else high = kept - 1;
  }
  return best;
}

function withoutMiddle(text: string, kept: number): string {
  // Half of a surrogate pair is not a character.
  const head = text.slice(0, Math.ceil(kept / 2)).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(text.length - Math.floor(kept / 2)).replace(/^[\udc00-\udfff]/, "");
  return `${head}\n[${text.length - head.length - tail.length} characters left out]\n${tail}`;
}
