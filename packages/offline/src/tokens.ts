import { type ExactNumber, exactNumberOf } from "@planwright/plan";

/** What a token looks like; decides which parameters it may fill. */
type TokenKind = "word" | "quoted" | "email" | "url" | "number" | "mark";

/** A piece of the sentence. `mark` tokens are `,` `;` `.` `:` `=` and line ends. */
export interface Token {
  kind: TokenKind;
  /** The value: for quoted text without the quotes. */
  text: string;
  lower: string;
  /** Position in the sentence, from 0; `end` is exclusive. */
  start: number;
  end: number;
}

const QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  "“": "”",
  "'": "'",
  "‘": "’",
  "`": "`",
  "«": "»",
};
const MARKS = new Set([",", ";", ".", ":", "=", "!", "?", "(", ")"]);
const isSpace = (char: string) => char === " " || char === "\t" || char === "\r" || char === "\u00a0";

/** Splits a sentence into words, quoted values and marks, in one pass. A line end becomes the mark `;`. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (isSpace(char)) {
      at += 1;
    } else if (char === "\n") {
      tokens.push(tokenOf("mark", ";", at, at + 1));
      at += 1;
    } else {
      const quoted = quotedAt(text, at);
      if (quoted) {
        tokens.push(quoted);
        at = quoted.end;
      } else {
        const end = endOfChunk(text, at);
        pushChunk(tokens, text, at, end);
        at = end;
      }
    }
  }
  return tokens;
}

const tokenOf = (kind: TokenKind, text: string, start: number, end: number): Token => ({
  kind,
  text,
  lower: text.toLowerCase(),
  start,
  end,
});

/** A single quote opens a quotation only when a closing quote follows that is not inside a word. */
function quotedAt(text: string, at: number): Token | null {
  const close = QUOTES[text.charAt(at)];
  if (close === undefined) return null;
  let end = text.indexOf(close, at + 1);
  while (close === "'" && end !== -1 && /[\p{L}\p{N}]/u.test(text.charAt(end + 1)))
    end = text.indexOf(close, end + 1);
  return end === -1 ? null : tokenOf("quoted", text.slice(at + 1, end), at, end + 1);
}

function endOfChunk(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length) {
    const char = text.charAt(end);
    if (isSpace(char) || char === "\n") break;
    if ((char === '"' || char === "“") && MARKS.has(text.charAt(end - 1))) break;
    end += 1;
  }
  return end;
}

/**
 * Splits a chunk without spaces: marks at both ends, commas and the mark of `key:value` become separate
 * tokens.
 */
function pushChunk(tokens: Token[], text: string, from: number, to: number): void {
  let start = from;
  let end = to;
  while (start < end && MARKS.has(text.charAt(start)) && !isDotFile(text, start, end)) {
    tokens.push(tokenOf("mark", text.charAt(start), start, start + 1));
    start += 1;
  }
  while (end > start && MARKS.has(text.charAt(end - 1))) end -= 1;
  if (text.charAt(start) === "<" && text.charAt(end - 1) === ">" && isEmail(text.slice(start + 1, end - 1))) {
    start += 1;
    end -= 1;
  }
  const split = splitAt(text, start, end);
  if (split === -1) {
    if (end > start) tokens.push(tokenOf(kindOf(text.slice(start, end)), text.slice(start, end), start, end));
  } else {
    pushChunk(tokens, text, start, split);
    tokens.push(tokenOf("mark", text.charAt(split), split, split + 1));
    pushChunk(tokens, text, split + 1, end);
  }
  for (let at = end; at < to; at++) {
    if (MARKS.has(text.charAt(at))) tokens.push(tokenOf("mark", text.charAt(at), at, at + 1));
  }
}

const isDotFile = (text: string, start: number, end: number) =>
  text.charAt(start) === "." && end > start + 1 && !MARKS.has(text.charAt(start + 1));

/**
 * The position that divides a chunk: a comma that is not inside a number, or the first `:` or `=` after a
 * plain key.
 */
function splitAt(text: string, start: number, end: number): number {
  for (let at = start + 1; at < end - 1; at++) {
    const char = text.charAt(at);
    if (char === "," && !(isDigit(text.charAt(at - 1)) && isDigit(text.charAt(at + 1)))) return at;
    if (char === "=" || (char === ":" && text.charAt(at + 1) !== "/")) {
      return /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(text.slice(start, at)) ? at : -1;
    }
  }
  return -1;
}

const isDigit = (char: string) => char >= "0" && char <= "9";

function kindOf(text: string): TokenKind {
  if (isEmail(text)) return "email";
  if (/^[a-z][a-z0-9+.-]{1,20}:\/\/./i.test(text)) return "url";
  if (toNumber(text) !== null) return "number";
  return "word";
}

/** True for text that looks like one e-mail address. */
export function isEmail(text: string): boolean {
  const at = text.indexOf("@");
  const dot = text.lastIndexOf(".");
  return (
    at > 0 &&
    !/[\s<>()",;:]/.test(text) &&
    at === text.lastIndexOf("@") &&
    dot > at + 1 &&
    dot < text.length - 1
  );
}

/**
 * The value of a text that is a number, with an optional currency sign and thousands commas; null when the
 * text is no number.
 */
export function toNumber(text: string): number | ExactNumber | null {
  const plain = text.replace(/^[$€£#]/, "");
  if (!/^[+-]?(\d{1,3}(,\d{3})+|\d{1,20})(\.\d{1,20})?$/.test(plain)) return null;
  return exactNumberOf(plain.replace(/[+,]/g, ""));
}
