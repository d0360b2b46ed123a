/** A word, a number or a sign of a text, with its place there. */
export interface MomentWord {
  readonly text: string;
  readonly lower: string;
  readonly start: number;
  readonly end: number;
}

/** What is quoted is data: "See you tomorrow" is no tomorrow. No quote is looked through twice. */
const QUOTED = /"[^"]*"|“[^“”]*”|«[^«»]*»|`[^`]*`/g;
/** A sign of its own ends what words mean together. */
const WORD = /[+-]\d{2}:\d{2}(?!\d)|[\p{L}\p{N}]+(?:[.:]\d+)*|\S/gu;
const HYPHEN = /(?<=\p{L})-(?=\p{L})/gu;
const HALF_OF_DAY = /\b([ap])\.m\b\.?/gi;

/** The words of a text in their order, without what is quoted. Takes linear time. */
export function momentWords(text: string): MomentWord[] {
  // Every place stays where it is.
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
