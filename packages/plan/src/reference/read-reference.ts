import {
  FORBIDDEN_KEYS,
  type JsonValue,
  type Lookup,
  lookUp,
  mapJson,
  type PathSegment,
  placeKeys,
  unescapeText,
  visitTexts,
} from "../json/json.ts";

/** The spellings of a reference; all three mean the same. */
type ReferenceSpelling = "<<" | "{{" | "$ref:";

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
function mayBeginRoot(code: number): boolean {
  return isLetter(code) || code === UNDERSCORE || isSpace(code);
}

/**
 * Reads a reference that opens at `start`. For a malformed reference it returns the root, if that was valid.
 */
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

/** The white space that is allowed inside the delimiters. */
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

/** Text between references, without escapes. */
interface LiteralText {
  readonly type: "literal";
  readonly text: string;
}

/**
 * A text that opens like a reference with a name, but is not a reference: `<<a.b` or `{{a..b}}`. It stays
 * text.
 */
interface MalformedReference {
  readonly root: string;
  readonly start: number;
  readonly text: string;
}

/** Result of {@link scanText}. */
interface ScannedText {
  readonly parts: readonly (LiteralText | TextReference)[];
  readonly malformed: readonly MalformedReference[];
}

const MAX_MALFORMED = 100;
const LESS = 60;
const BRACE = 123;
const DOLLAR = 36;

/**
 * Splits a text into literals and references in one pass from left to right. Linear time: a failed attempt
 * reads only characters that no later attempt of the same kind reads again.
 * @returns undefined when the text contains no reference, no escape and nothing malformed: it is literal
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
    // "a << b" is arithmetic, and "{{ a. }}" a mistake.
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

/** The names with which references of a plan may begin. Step ids win over tool names. */
export interface Names {
  readonly hasStep: (name: string) => boolean;
  /** Step ids by written ids that are invalid in a plan. */
  readonly renamed?: ReadonlyMap<string, string> | undefined;
  /** Ids of the steps that use a tool, by tool name; a single id when only one step uses it. */
  readonly tools?: Lookup<string | readonly string[]> | undefined;
  /** Names that exist inside a forEach: the alias and `index`. They win over step ids. */
  readonly hasScope?: ((name: string) => boolean) | undefined;
}

/** The meaning of the root of a reference. */
export type Located =
  | { readonly type: "scope"; readonly name: string; readonly path: readonly PathSegment[] }
  | { readonly type: "step"; readonly name: string; readonly path: readonly PathSegment[] }
  | { readonly type: "ambiguous"; readonly name: string; readonly candidates: readonly string[] }
  | { readonly type: "unknown" }
  | { readonly type: "forbidden"; readonly key: string };

/**
 * Finds the target of a reference. A tool name may contain dots, so fields after the root are tried as part
 * of the name.
 */
export function locateRoot(root: string, path: readonly PathSegment[], names: Names): Located {
  if (FORBIDDEN_KEYS.has(root)) return { type: "forbidden", key: root };
  for (const segment of path) {
    if (segment.type === "key" && FORBIDDEN_KEYS.has(segment.key))
      return { type: "forbidden", key: segment.key };
  }
  if (names.hasScope?.(root)) return { type: "scope", name: root, path };
  const renamed = names.renamed?.size ? locateRenamed(root, path, names.renamed) : undefined;
  if (names.hasStep(root)) {
    return renamed
      ? { type: "ambiguous", name: root, candidates: [root, renamed.name] }
      : { type: "step", name: root, path };
  }
  if (renamed) return { type: "step", ...renamed };
  if (!names.tools) return { type: "unknown" };
  let name = root;
  for (let used = 0; ; used++) {
    const users = lookUp(names.tools, name);
    if (users !== undefined) {
      const candidates = typeof users === "string" ? [users] : users;
      const [only] = candidates;
      if (only !== undefined && candidates.length === 1)
        return { type: "step", name: only, path: path.slice(used) };
      if (candidates.length > 1) return { type: "ambiguous", name, candidates };
    }
    const longer = joined(name, path[used]);
    if (longer === undefined) return { type: "unknown" };
    name = longer;
  }
}

/** The step whose written id is the root with the longest part of the path. */
function locateRenamed(
  root: string,
  path: readonly PathSegment[],
  renamed: ReadonlyMap<string, string>,
): { name: string; path: readonly PathSegment[] } | undefined {
  let found: { name: string; path: readonly PathSegment[] } | undefined;
  let name: string | undefined = root;
  for (let used = 0; name !== undefined; name = joined(name, path[used]), used++) {
    const id = renamed.get(name);
    if (id !== undefined) found = { name: id, path: path.slice(used) };
  }
  return found;
}

/** A name joined with the next field, which may be part of the name. */
function joined(name: string, segment: PathSegment | undefined): string | undefined {
  if (!segment || segment.type === "all" || name.length > 300) return undefined;
  return `${name}.${segment.type === "key" ? segment.key : segment.index}`;
}

/** A reference with the path of its text in the scanned value. */
export interface Reference extends Omit<TextReference, "type"> {
  /** Path from the value to the text; empty when the value is the text. */
  readonly at: readonly (string | number)[];
  /** True when the text is only this reference: the resolved value keeps its JSON type. */
  readonly isWhole: boolean;
}

/**
 * All references in the texts of a value, in document order; keys of objects are not scanned. Takes linear
 * time and never throws. Does not check whether the roots exist.
 */
export function scanReferences(value: JsonValue): Reference[] {
  const references: Reference[] = [];
  visitTexts(value, (source, place) => {
    const scanned = scanText(source);
    if (!scanned) return;
    const isWhole = scanned.parts.length === 1;
    const at = placeKeys(place);
    for (const part of scanned.parts) {
      if (part.type === "literal") continue;
      const { text, spelling, root, path, start, end } = part;
      references.push({ text, spelling, root, path, start, end, at, isWhole });
    }
  });
  return references;
}

/** User text in the plan language: text that looks like the beginning of a reference is escaped. */
export function escapeText(text: string): string {
  return text.replaceAll(/<<|\{\{|\$ref:/g, "\\$&");
}

/** {@link escapeText} for each text of a value; the copy shares nothing with it. */
export function escapeReferences(value: JsonValue): JsonValue {
  return mapJson(value, escapeText);
}
