/** A word, number or sign in a text, with its position. */
export interface MomentWord {
  readonly text: string;
  readonly lower: string;
  readonly start: number;
  readonly end: number;
}

/** Quoted text is data: "See you tomorrow" does not mean tomorrow. No quote is scanned twice. */
const QUOTED = /"[^"]*"|“[^“”]*”|«[^«»]*»|`[^`]*`/g;
/** A separate sign ends a group of words. */
const WORD = /[+-]\d{2}:\d{2}(?!\d)|[\p{L}\p{N}]+(?:[.:]\d+)*|\S/gu;
const HYPHEN = /(?<=\p{L})-(?=\p{L})/gu;
const HALF_OF_DAY = /\b([ap])\.m\b\.?/gi;

/** The words of a text in order, without quoted text. Takes linear time. */
export function momentWords(text: string): MomentWord[] {
  // Quotes are replaced by blanks, so that positions do not change.
  const plain = text
    .replace(QUOTED, (quoted) => ",".padEnd(quoted.length))
    .replace(HALF_OF_DAY, (said, half: string) => `${half}m`.padEnd(said.length))
    .replace(HYPHEN, " ");
  return [...plain.matchAll(WORD)].map(({ 0: word, index }) => ({
    text: word,
    lower: word.toLowerCase(),
    start: index,
    end: index + word.length,
  }));
}
