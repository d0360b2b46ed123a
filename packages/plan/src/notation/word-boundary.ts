const WORD = /^[\p{L}\p{N}\p{M}_]$/u;
/** Scripts that are written without spaces, or with endings directly after a name. */
const WITHOUT_SPACES =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u;
const SCRIPTS: readonly RegExp[] = [
  /^\p{Script=Latin}$/u,
  /^\p{Script=Cyrillic}$/u,
  /^\p{Script=Greek}$/u,
  /^\p{Script=Arabic}$/u,
  /^\p{Script=Hebrew}$/u,
];

/**
 * True when two adjacent characters belong to one word: both are letters, digits or `_`. Letters of two
 * scripts belong to two words. Chinese, Japanese, Korean and Thai are written without spaces, so text next to
 * them is a separate word.
 */
export function wordContinues(character: string, next: string): boolean {
  if (!WORD.test(character) || !WORD.test(next)) return false;
  if (WITHOUT_SPACES.test(character) || WITHOUT_SPACES.test(next)) return false;
  const scripts = [scriptOf(character), scriptOf(next)];
  return scripts.includes(-1) || scripts[0] === scripts[1];
}

/**
 * True when a text contains another one as complete words. Case matters; the empty text is never contained.
 * @param isPart - true for further texts that continue the previous word
 */
export function containsAsWords(
  text: string,
  wanted: string,
  isPart = (_after: string): boolean => false,
): boolean {
  if (wanted === "") return false;
  const first = firstOf(wanted);
  const last = lastOf(wanted);
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    const end = at + wanted.length;
    const continues =
      wordContinues(lastOf(text.slice(Math.max(0, at - 2), at)), first) ||
      wordContinues(last, firstOf(text.slice(end, end + 2)));
    if (!continues && !isPart(text.slice(end, end + 2))) return true;
  }
  return false;
}

/** Index of the script; -1 for characters of every script: digits, marks, `_`. */
function scriptOf(character: string): number {
  return SCRIPTS.findIndex((script) => script.test(character));
}

// Characters outside the basic plane have two code units.
const firstOf = (text: string): string => String.fromCodePoint(text.codePointAt(0) ?? 32);
const lastOf = (text: string): string => Array.from(text.slice(-2)).at(-1) ?? " ";
