import type { PathSegment } from "../json/path.ts";
import { unescapeText } from "../json/unescape-text.ts";

/** The spellings of a reference; all three mean the same. */
export type ReferenceSpelling = "<<" | "{{" | "$ref:";

/** A reference found in a text; `start` and `end` are UTF-16 offsets, `end` exclusive. */
export interface TextReference {
  readonly type: "reference";
  /** The reference as written. */
  readonly text: string;
  readonly spelling: ReferenceSpelling;
  /** The name before the path. */
  readonly root: string;
  readonly path: readonly PathSegment[];
  readonly start: number;
  readonly end: number;
}

/** A reference with more segments than this is text. */
const MAX_SEGMENTS = 128;
const BACKSLASH = 92;
const UNDERSCORE = 95;

/** True for a character that may follow an opener: a root's first character, or a space before it. */
export function mayBeginRoot(code: number): boolean {
  return isLetter(code) || code === UNDERSCORE || isSpace(code);
}

/**
 * Reads a reference that opens at `start`. For a malformed reference it returns the root, if that was valid.
 */
export function readReference(
  text: string,
  start: number,
  spelling: ReferenceSpelling,
): TextReference | { type: "malformed"; root: string } | undefined {
  const closer = spelling === "<<" ? ">>" : spelling === "{{" ? "}}" : "";
  let at = start + spelling.length;
  if (closer !== "") at = skipSpaces(text, at);
  const rootEnd = readRoot(text, at);
  if (rootEnd === at) return undefined;
  const root = text.slice(at, rootEnd);
  at = rootEnd;
  const path: PathSegment[] = [];
  for (;;) {
    const segment = readSegment(text, at, closer !== "");
    if (!segment) break;
    if (path.length === MAX_SEGMENTS) return { type: "malformed", root };
    path.push(segment.segment);
    at = segment.end;
  }
  if (closer !== "") {
    at = skipSpaces(text, at);
    if (!text.startsWith(closer, at)) return { type: "malformed", root };
    at += closer.length;
  }
  return { type: "reference", text: text.slice(start, at), spelling, root, path, start, end: at };
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** The white space that is allowed inside the delimiters. */
export function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13;
}

/** A step id, an alias, or a tool name up to its first dot; `/` joins server and tool. */
function readRoot(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (!isLetter(first) && first !== UNDERSCORE) return from;
  let at = from + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    const isJoin = code === 47 && isNameCode(text.charCodeAt(at + 1));
    if (!isNameCode(code) && !isJoin) return at;
    at++;
  }
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** ASCII letters, digits, `_` and `-`. */
function isNameCode(code: number): boolean {
  return isLetter(code) || isDigit(code) || code === UNDERSCORE || code === 45;
}

const WORD = /^[\p{L}\p{N}\p{M}]$/u;

/**
 * End of the field name at `from`. Between delimiters `$` and `@` also belong to names; letters of all
 * scripts always do.
 */
function readName(text: string, from: number, delimited: boolean): number {
  let at = from;
  for (;;) {
    const code = text.codePointAt(at);
    if (code === undefined) return at;
    if (isNameCode(code) || (delimited && (code === 36 || code === 64))) at++;
    else if (code >= 128 && WORD.test(String.fromCodePoint(code))) at += code > 0xffff ? 2 : 1;
    else return at;
  }
}

/** The longest path that begins at `from`, by default as between delimiters. */
export function readPath(text: string, from: number, delimited = true): { path: PathSegment[]; end: number } {
  const path: PathSegment[] = [];
  let at = from;
  for (;;) {
    const segment = path.length < MAX_SEGMENTS ? readSegment(text, at, delimited) : undefined;
    if (!segment) return { path, end: at };
    path.push(segment.segment);
    at = segment.end;
  }
}

interface ReadSegment {
  segment: PathSegment;
  end: number;
}

function readSegment(text: string, at: number, delimited: boolean): ReadSegment | undefined {
  const code = text.charCodeAt(at);
  if (code === 46) {
    const end = readName(text, at + 1, delimited);
    return end === at + 1 ? undefined : { segment: nameSegment(text.slice(at + 1, end)), end };
  }
  return code === 91 ? readBracket(text, at + 1) : undefined;
}

const POSITION = /^(?:0|[1-9][0-9]{0,8})$/;

function nameSegment(name: string): PathSegment {
  return isDigit(name.charCodeAt(0)) && POSITION.test(name)
    ? { type: "index", index: Number(name) }
    : { type: "key", key: name };
}

function readBracket(text: string, from: number): ReadSegment | undefined {
  const first = text.charCodeAt(from);
  if (first === 42) {
    return text.charCodeAt(from + 1) === 93 ? { segment: { type: "all" }, end: from + 2 } : undefined;
  }
  if (first === 34 || first === 39) return readQuoted(text, from);
  let at = from;
  while (at < from + 10 && isDigit(text.charCodeAt(at))) at++;
  const digits = text.slice(from, at);
  if (text.charCodeAt(at) !== 93 || !POSITION.test(digits)) return undefined;
  return { segment: { type: "index", index: Number(digits) }, end: at + 1 };
}

/** A quoted key, with the escapes of JSON and `\'`. */
function readQuoted(text: string, from: number): ReadSegment | undefined {
  const quote = text.charCodeAt(from);
  let at = from + 1;
  let hasEscape = false;
  for (; ; at++) {
    const code = text.charCodeAt(at);
    if (Number.isNaN(code)) return undefined;
    if (code === quote) break;
    if (code === BACKSLASH) {
      hasEscape = true;
      at++;
    }
  }
  if (text.charCodeAt(at + 1) !== 93) return undefined;
  const raw = text.slice(from + 1, at);
  return { segment: { type: "key", key: hasEscape ? unescapeText(raw) : raw }, end: at + 2 };
}
