import { unescapeText } from "@planwright/plan/internal";

/** A text in quotes of any kind. */
export interface QuotedText {
  /** The text without escapes. */
  readonly value: string;
  /** Position after the closing quote. */
  readonly end: number;
  /** True for JSON quotes around a `\u` without four digits: it may be a character or a path of Windows. */
  readonly hasHalfEscape: boolean;
  /**
   * True when a quote inside is neither an apostrophe nor part of a pair around words: it may have been meant
   * to end the text.
   */
  readonly isUnclear: boolean;
}

/** Closing quotes by opening quote. */
const CLOSERS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["“", '“”"'],
  ["”", '“”"'],
  ["‘", "‘’'"],
  ["’", "‘’'"],
]);

const HEX = /^[0-9a-f]{4}$/i;

/** True for a character that opens a text in quotes. */
export function isQuote(char: string): boolean {
  return CLOSERS.has(char);
}

/**
 * Reads the text in quotes at `start`. A quote closes it when the next character can follow a text in JSON;
 * in valid JSON every quote without a backslash does. Any other quote belongs to the text, such as the
 * apostrophe in 'Alice's blog'.
 * @returns undefined when the text is never closed
 */
export function readString(text: string, start: number): QuotedText | undefined {
  const closers = CLOSERS.get(text.charAt(start)) ?? '"';
  const isPlain = text.charAt(start) === '"';
  let hasEscape = false;
  let hasHalfEscape = false;
  const strays: number[] = [];
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "\\") {
      hasEscape = true;
      at++;
      hasHalfEscape ||= isPlain && text.charAt(at) === "u" && !HEX.test(text.slice(at + 1, at + 5));
    } else if (closers.includes(char)) {
      if (mayFollowText(text, at + 1)) {
        const raw = text.slice(start + 1, at);
        const value = hasEscape ? unescapeText(raw) : raw;
        return { value, end: at + 1, hasHalfEscape, isUnclear: !areClear(text, strays) };
      }
      strays.push(at);
    }
  }
  return undefined;
}

/**
 * True when all stray quotes are apostrophes (after a letter) or pairs around words, with a space or bracket
 * outside and no space inside.
 */
function areClear(text: string, strays: readonly number[]): boolean {
  const doubles = strays.filter((at) => !"'‘’".includes(text.charAt(at)));
  const isApostrophe = (at: number) => /[\p{L}\p{N}]/u.test(text.charAt(at - 1));
  const isOpening = (at: number) => /[\s([]/.test(text.charAt(at - 1)) && /\S/.test(text.charAt(at + 1));
  const isClosing = (at: number) => /\S/.test(text.charAt(at - 1));
  return (
    doubles.length % 2 === 0 &&
    doubles.every((at, index) => (index % 2 === 0 ? isOpening(at) : isClosing(at))) &&
    strays.every((at) => !"'‘’".includes(text.charAt(at)) || isApostrophe(at))
  );
}

/** True at a comma, a colon, a closing bracket, a comment, a new line, or the end. */
function mayFollowText(text: string, from: number): boolean {
  const at = skipSpaces(text, from);
  if (at === text.length || text.slice(from, at).includes("\n")) return true;
  return ",:]}#".includes(text.charAt(at)) || beginsComment(text, at);
}

/** True when `//` or a block comment begins here. */
export function beginsComment(text: string, at: number): boolean {
  return text.startsWith("//", at) || text.startsWith("/*", at);
}

const SPACES = /\s*/y;

/** Position of the first character at or after `from` that is not white space. */
export function skipSpaces(text: string, from: number): number {
  SPACES.lastIndex = from;
  return SPACES.test(text) ? SPACES.lastIndex : from;
}
