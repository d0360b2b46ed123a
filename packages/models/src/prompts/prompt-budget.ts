/**
 * What the messages of a draft may cost with the answer's schema, in estimated tokens, however large
 * catalogue, last answer, diagnostics and outputs are. It holds for a request of up to 5,000 estimated tokens
 * (some 16,000 characters of ASCII, or 5,000 others), up to 3,500 in a repair, 3,600 in a replan and 2,100 in
 * the repair of a replan; a replan's note counts with the request. A longer request is not cut for it.
 */
export const MAX_PROMPT_TOKENS = 8_000;
/**
 * What a request may cost before its middle is left out, with a mark: more than 10,000 letters of any script.
 * With all that stands beside it a prompt costs at most 14,000 for a draft, and 18,000 for all others. Facts
 * add their own cost.
 */
export const MAX_REQUEST_TOKENS = 11_000;
/** What the user's note on a replan may cost before its middle is left out. */
export const MAX_NOTE_TOKENS = 1_100;
/** What the caller's facts may cost before they are shortened; they count with the request. */
export const MAX_FACTS_TOKENS = 5_500;
/** For the answer's schema and for what providers put around messages. */
export const RESERVED_TOKENS = 420;
/** Tokens that tools get at least, also when the request alone fills the prompt. */
export const MIN_TOOL_TOKENS = 1_500;
/**
 * Tokens that the last answer gets at least in a repair, before the tools are chosen; it also gets what they
 * leave.
 */
export const PREVIOUS_TOKENS = { min: 800, max: 3_000 };
/** Tokens of the diagnostics in a repair. */
export const DIAGNOSTIC_TOKENS = { min: 700, max: 1_500 };
/** Tokens for the plan that failed, in a replan. */
export const RUN_TOKENS = { min: 1_000, max: 4_000 };

/** As much of `tokens` as the bounds allow. */
export const within = ({ min, max }: { min: number; max: number }, tokens: number): number =>
  Math.min(max, Math.max(min, tokens));
