import type { PathSegment } from "./path.ts";

/** How a reference is written; all three mean the same. */
export type ReferenceSpelling = "<<" | "{{" | "$ref:";

/** A reference found in a text; `start` and `end` are UTF-16 offsets, `end` exclusive. */
export interface TextReference {
  readonly type: "reference";
  /** As it stands in the text. */
  readonly text: string;
  readonly spelling: ReferenceSpelling;
  /** The name before the path. */
  readonly root: string;
  readonly path: readonly PathSegment[];
  readonly start: number;
  readonly end: number;
}

/** Text between references, with its escapes taken away. */
export interface LiteralText {
  readonly type: "literal";
  readonly text: string;
}

/** Opened like a reference and followed by a name, but never a reference: `<<a.b` or `{{a..b}}`. It is text. */
export interface MalformedReference {
  readonly root: string;
  readonly start: number;
  readonly text: string;
}

/** What {@link scanText} finds. */
export interface ScannedText {
  readonly parts: readonly (LiteralText | TextReference)[];
  readonly malformed: readonly MalformedReference[];
}

/** A reference with more segments than this is text. */
export const MAX_SEGMENTS = 128;

const MAX_MALFORMED = 100;
const LESS = 60;
const BRACE = 123;
const DOLLAR = 36;
const BACKSLASH = 92;
const UNDERSCORE = 95;

/**
 * Splits a text into literals and references in one pass from left to right, in linear time: an attempt that fails
 * has read characters that no later attempt of the same kind reads again.
 * @returns undefined when the text holds no reference, no escape and nothing malformed: it stands for itself
 */
export function scanText(text: string): ScannedText | undefined {
  if (!text.includes("<<") && !text.includes("{{") && !text.includes("$ref:")) return undefined;
  const parts: (LiteralText | TextReference)[] = [];
  const malformed: MalformedReference[] = [];
  let literal = "";
  let from = 0;
  let at = 0;
  let changed = false;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH && openerAt(text, at + 1)) {
      const opener = openerAt(text, at + 1) ?? "<<";
      literal += text.slice(from, at) + opener;
      at += 1 + opener.length;
      from = at;
      changed = true;
      continue;
    }
    if (code !== LESS && code !== BRACE && code !== DOLLAR) {
      at++;
      continue;
    }
    // Of a run such as <<<< only the last two characters can open a reference.
    if (code !== DOLLAR) at = Math.max(endOfRun(text, at, code) - 2, at);
    const opener = openerAt(text, at);
    if (!opener || !mayBeginRoot(text.charCodeAt(at + opener.length))) {
      at++;
      continue;
    }
    const read = readReference(text, at, opener);
    if (read?.type === "reference") {
      literal += text.slice(from, at);
      if (literal !== "") parts.push({ type: "literal", text: literal });
      literal = "";
      parts.push(read);
      at = read.end;
      from = at;
      changed = true;
      continue;
    }
    // "a << b" is arithmetic, and "{{ a. }}" a slip.
    const isSpaced = opener === "<<" && isSpace(text.charCodeAt(at + 2));
    if (read && !isSpaced && malformed.length < MAX_MALFORMED)
      malformed.push({ root: read.root, start: at, text: text.slice(at, at + 80) });
    at++;
  }
  if (!changed && malformed.length === 0) return undefined;
  literal += text.slice(from);
  if (literal !== "") parts.push({ type: "literal", text: literal });
  return { parts, malformed };
}

function openerAt(text: string, at: number): ReferenceSpelling | undefined {
  switch (text.charCodeAt(at)) {
    case LESS:
      return text.charCodeAt(at + 1) === LESS ? "<<" : undefined;
    case BRACE:
      return text.charCodeAt(at + 1) === BRACE ? "{{" : undefined;
    case DOLLAR:
      return text.startsWith("$ref:", at) ? "$ref:" : undefined;
    default:
      return undefined;
  }
}

function endOfRun(text: string, from: number, code: number): number {
  let end = from;
  while (text.charCodeAt(end) === code) end++;
  return end;
}

/** After an opener: a root's first character, or a space before it. */
function mayBeginRoot(code: number): boolean {
  return isLetter(code) || code === UNDERSCORE || isSpace(code);
}

/** Reads a reference that opens at `start`; tells the root when it opens well and goes wrong later. */
function readReference(
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

function isSpace(code: number): boolean {
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

/** End of the field name at `from`. Between delimiters `$` and `@` belong to names as well; letters of all scripts always do. */
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
  return { segment: { type: "key", key: hasEscape ? unescape(raw) : raw }, end: at + 2 };
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["b", "\b"],
  ["f", "\f"],
]);

function unescape(raw: string): string {
  return raw.replace(
    /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g,
    (_, hex: string | undefined, plain: string | undefined) =>
      hex === undefined
        ? (ESCAPES.get(plain ?? "") ?? plain ?? "")
        : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
