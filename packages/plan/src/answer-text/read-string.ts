import { unescapeText } from "../json/unescape-text.ts";

/** A text in quotes, of any kind. */
export interface QuotedText {
  /** What it says, escapes taken away. */
  readonly value: string;
  /** Position behind the closing quote. */
  readonly end: number;
  /** True when its quotes are not those of JSON, or one inside it should have been escaped. */
  readonly isForeign: boolean;
  /**
   * True when a quote inside it is neither an apostrophe nor one of a pair around words: it may have been
   * meant to end the text.
   */
  readonly isUnclear: boolean;
}

/** Which quotes may close a text, by the one that opened it. */
const CLOSERS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["“", '“”"'],
  ["”", '“”"'],
  ["‘", "‘’'"],
  ["’", "‘’'"],
]);

/** True for a character that opens a text in quotes. */
export function isQuote(char: string): boolean {
  return CLOSERS.has(char);
}

/**
 * Reads the text in quotes at `start`. A quote closes it when what follows can follow a text in JSON; in JSON
 * that is valid every quote without a backslash does. Any other one belongs to the text, such as the
 * apostrophe in 'Alice's blog'.
 * @returns undefined when the text is never closed
 */
export function readString(text: string, start: number): QuotedText | undefined {
  const closers = CLOSERS.get(text.charAt(start)) ?? '"';
  let hasEscape = false;
  const strays: number[] = [];
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "\\") {
      hasEscape = true;
      at++;
    } else if (closers.includes(char)) {
      if (mayFollowText(text, at + 1)) {
        const raw = text.slice(start + 1, at);
        const value = hasEscape ? unescapeText(raw) : raw;
        const isForeign = text.charAt(start) !== '"' || strays.length > 0;
        return { value, end: at + 1, isForeign, isUnclear: !areClear(text, strays) };
      }
      strays.push(at);
    }
  }
  return undefined;
}

/**
 * Apostrophes stand behind a letter; quotes around words in pairs, with space or a bracket outside and none
 * inside.
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

/** A comma, a colon, a closing bracket, a comment, a new line, or the end. */
function mayFollowText(text: string, from: number): boolean {
  const at = skipSpaces(text, from);
  if (at === text.length || text.slice(from, at).includes("\n")) return true;
  return ",:]}#".includes(text.charAt(at)) || beginsComment(text, at);
}

/** True where `//` or a block comment begins. */
export function beginsComment(text: string, at: number): boolean {
  return text.startsWith("//", at) || text.startsWith("/*", at);
}

const SPACES = /\s*/y;

/** Position of the first character at or behind `from` that is not white space. */
export function skipSpaces(text: string, from: number): number {
  SPACES.lastIndex = from;
  return SPACES.test(text) ? SPACES.lastIndex : from;
}
