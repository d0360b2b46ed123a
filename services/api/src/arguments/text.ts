/**
 * True for text without a visible character: only blanks, control characters, and zero-width characters such
 * as U+200B or the Hangul fillers. Half of a surrogate pair counts as visible.
 */
export function isBlank(text: string): boolean {
  return /^[\p{White_Space}\p{Cc}\p{Cf}\u115f\u1160\u3164\uffa0]*$/u.test(text);
}

/** True for a text that can be stored unchanged: no half of a surrogate pair, and no NUL character. */
export function isWellFormed(text: string): boolean {
  return !/[\p{Surrogate}\0]/u.test(text);
}

/** Longest value that a message shows, in UTF-16 units. */
const MAX_SHOWN = 60;

/** A text of a client, short enough for a message. */
export function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** The same in quotation marks. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text));
}
