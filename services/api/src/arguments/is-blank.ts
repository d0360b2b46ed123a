/**
 * True for a text in which nothing is visible: blanks, control characters, and those that take no room, such as U+200B or
 * the Hangul fillers. Half of a surrogate pair is not one of them.
 */
export function isBlank(text: string): boolean {
  return /^[\p{White_Space}\p{Cc}\p{Cf}\u115f\u1160\u3164\uffa0]*$/u.test(text);
}
