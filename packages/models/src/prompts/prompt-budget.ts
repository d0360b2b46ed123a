/**
 * Maximum of estimated tokens of a draft's messages and the answer's schema, for any size of catalogue, last
 * answer, diagnostics and outputs. It holds for a request of up to 5,000 estimated tokens (about 16,000 ASCII
 * characters, or 5,000 others), up to 3,500 in a repair, 3,600 in a replan and 2,100 in the repair of a
 * replan; a replan's note counts with the request. A longer request is not cut to keep this limit.
 */
export const MAX_PROMPT_TOKENS = 8_000;
/**
 * Maximum of tokens of a request before its middle is left out, with a mark: more than 10,000 letters of any
 * script. With all other parts a prompt costs at most 14,000 for a draft, and 18,000 otherwise. Facts are
 * added to that.
 */
export const MAX_REQUEST_TOKENS = 11_000;
/** Maximum of tokens of the user's note on a replan before its middle is left out. */
export const MAX_NOTE_TOKENS = 1_100;
/** Maximum of tokens of the caller's facts before they are shortened; they count with the request. */
export const MAX_FACTS_TOKENS = 5_500;
/** Tokens for the answer's schema and for the parts that providers add around messages. */
export const RESERVED_TOKENS = 420;
/** Minimum of tokens for tools, also when the request alone fills the prompt. */
export const MIN_TOOL_TOKENS = 1_500;
/**
 * Tokens for the last answer in a repair: the minimum before the tools are chosen. It also gets the tokens
 * that the tools leave.
 */
export const PREVIOUS_TOKENS = { min: 800, max: 3_000 };
/** Tokens of the diagnostics in a repair. */
export const DIAGNOSTIC_TOKENS = { min: 700, max: 1_500 };
/** Tokens for the failed plan in a replan. */
export const RUN_TOKENS = { min: 1_000, max: 4_000 };

/** `tokens`, limited to the bounds. */
export const within = ({ min, max }: { min: number; max: number }, tokens: number): number =>
  Math.min(max, Math.max(min, tokens));

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

/** Characters of one token in prompts, which are English and JSON; rather too few than too many. */
const ASCII_PER_TOKEN = 3.3;

/**
 * The estimated number of tokens of a text, rather too many than too few. Every model has a different
 * vocabulary; for tool descriptions in JSON and English prose the estimate is at or above the count of
 * OpenAI's `o200k_base`. A character beyond ASCII counts as one token.
 */
export function estimateTokens(text: string): number {
  let ascii = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) < 128) ascii += 1;
  return Math.ceil(ascii / ASCII_PER_TOKEN) + (text.length - ascii);
}
