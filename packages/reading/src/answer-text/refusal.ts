/** Finish reasons of providers for an answer that reached its length limit. */
const LENGTH_REASONS = new Set([
  "length",
  "max_tokens",
  "max_output_tokens",
  "model_length",
  "token_limit",
  "model_context_window_exceeded",
]);
/** Finish reasons of providers for an answer that was withheld. */
const REFUSAL_REASONS = new Set([
  "content_filter",
  "content_filtered",
  "guardrail_intervened",
  "refusal",
  "safety",
  "recitation",
  "blocklist",
  "prohibited_content",
  "spii",
]);

/** The meaning of a finish reason of any provider. */
export function meaningOfFinish(reason: string | null | undefined): "cut" | "refused" | "complete" {
  const word = (reason ?? "").toLowerCase();
  if (LENGTH_REASONS.has(word)) return "cut";
  return REFUSAL_REASONS.has(word) ? "refused" : "complete";
}

/** Only this number of characters is checked: refusals are at the beginning, later text is usually advice. */
const MAX_CHECKED_CHARS = 600;
const REFUSALS: readonly RegExp[] = [
  /\b(?:i['’]?m|i am|we['’]?re|we are) (?:very |so |really |truly )?(?:sorry|unable|not able|not allowed|not permitted)\b/i,
  /\b(?:i|we) (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|have to decline|decline|refuse)\b/i,
  /\bi (?:do not|don['’]?t) (?:have (?:access|the ability|any tool|a tool)|feel comfortable)/i,
  /^\W*(?:sorry|unfortunately|apologies|my apologies|i apologi[sz]e)\b/i,
  /\bas an ai\b/i,
  /\bnone of the (?:available |given |provided )?tools\b/i,
  /\b(?:es tut mir leid|ich kann (?:das|dabei|dies|ihnen|dir)? ?(?:leider )?nicht|lo siento|no puedo|je suis désolé|je ne peux pas|mi dispiace|desculpe|não posso)/i,
  /(?:抱歉|对不起|無法|无法|申し訳|できません|죄송)/,
];

/**
 * True for prose in which a model says that it will not or cannot do the request. Only called when there is
 * no plan.
 */
export function isRefusal(prose: string): boolean {
  const beginning = prose.slice(0, MAX_CHECKED_CHARS);
  return REFUSALS.some((pattern) => pattern.test(beginning));
}
