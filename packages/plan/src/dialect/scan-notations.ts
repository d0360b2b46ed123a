/** Finds texts in the form of a reference in the notations of other planners and template languages. */

import { isJsonObject, type JsonObject, type JsonValue, type PathSegment, setOwn } from "../json/json.ts";
import { readPath } from "../reference/read-reference.ts";

/** The signs around or before a reference; `<>-` means `<GENERATED>-0`, `$$` means `$var1.text$`. */
type Signs =
  | "<<"
  | "{{"
  | "$ref:"
  | "${{"
  | "${"
  | "$("
  | "{"
  | "[["
  | "%"
  | "$$"
  | "<"
  | "<>-"
  | "$"
  | "#"
  | "@"
  | "=";

/** A text that may be a reference; `end` is exclusive. */
export interface Candidate {
  readonly signs: Signs;
  readonly start: number;
  readonly end: number;
  /** The text between or after the signs. */
  readonly inner: string;
}

const NAME = /[\p{L}\p{N}_][\p{L}\p{N}_-]{0,127}/uy;
/** True for a text that ends in a word. */
export const WORD_BEFORE = /[\p{L}\p{N}_]$/u;
const GENERATED = /<[A-Za-z_]{1,30}>-(?=[0-9])/y;

/** True for a text without any of the signs. */
export function hasNoSigns(text: string): boolean {
  return !/[<{$#@%=]|\[\[/.test(text);
}

/** The candidates at a position, the form with the most signs first. The look-ahead is bounded. */
export function candidatesAt(text: string, start: number): Candidate[] {
  const found = (signs: Signs, inner: string | undefined, close: string): Candidate[] =>
    inner === undefined || inner.trim() === ""
      ? []
      : [{ signs, start, inner, end: start + openOf(signs).length + inner.length + close.length }];
  const enclosed = (signs: Signs, close: string) =>
    text.startsWith(openOf(signs), start)
      ? found(signs, between(text, start + openOf(signs).length, close), close)
      : [];
  const before = text.slice(Math.max(0, start - 2), start);
  const isApart = !WORD_BEFORE.test(before);
  const sign = text.charAt(start);
  // Of a run such as <<<< only the last two characters can open a reference, as in our own notation.
  if (
    (sign === "<" || sign === "{") &&
    (text.startsWith(sign.repeat(3), start) || isSecond(text, start, sign))
  )
    return [];
  switch (sign) {
    case "<":
      if (text.startsWith("<<", start)) return enclosed("<<", ">>");
      return [...generatedAt(text, start), ...angledAt(text, start)];
    case "{":
      return text.startsWith("{{", start) ? enclosed("{{", "}}") : enclosed("{", "}");
    case "[":
      return enclosed("[[", "]]");
    case "%":
      return isApart ? enclosed("%", "%").filter(({ inner }) => !/\s/.test(inner)) : [];
    case "$":
      if (!isApart || before.endsWith("$")) return [];
      if (text.startsWith("${{", start)) return enclosed("${{", "}}");
      if (text.startsWith("${", start)) return enclosed("${", "}");
      if (text.startsWith("$ref:", start)) return refAt(text, start);
      return [
        ...enclosed("$$", "$").filter(({ inner }) => !/\s/.test(inner)),
        ...wholeAt(text, start, "$"),
        ...enclosed("$(", ")"),
        ...signedAt(text, start, "$"),
      ];
    case "#":
      return isApart && !/[&/#]$/.test(before) ? signedAt(text, start, "#") : [];
    case "@":
      if (!isApart || /[.@/]$/.test(before)) return [];
      if (text.startsWith("@{", start)) return found("${", between(text, start + 2, "}"), "}");
      return [...wholeAt(text, start, "@"), ...signedAt(text, start, "@")];
    case "=":
      if (before !== "" && !/[\s("'`:]$/.test(before)) return [];
      return [...wholeAt(text, start, "="), ...signedAt(text, start, "=")];
    default:
      return [];
  }
}

/** True for the last sign of a run: the previous one was already checked as an opener of two signs. */
function isSecond(text: string, start: number, sign: string): boolean {
  return text.charAt(start - 1) === sign && text.charAt(start + 1) !== sign;
}

function openOf(signs: Signs): string {
  return signs === "$$" ? "$" : signs;
}

/** The text up to the closing signs, if it is short and on one line. */
function between(text: string, from: number, close: string): string | undefined {
  const ahead = text.slice(from, from + MAX_INNER + close.length);
  const end = ahead.indexOf(close);
  const inner = ahead.slice(0, end);
  return end === -1 || /[\r\n]/.test(inner) ? undefined : inner;
}

/** `<s1.text>`, and `<s1.text>>` with a missing opening sign, which is consumed completely. */
function angledAt(text: string, start: number): Candidate[] {
  const inner = between(text, start + 1, ">");
  if (inner === undefined || inner.trim() === "") return [];
  const close = start + 1 + inner.length;
  return [{ signs: "<", start, inner, end: close + (text.startsWith(">>", close) ? 2 : 1) }];
}

/** `<GENERATED>-0`, which a path may follow. */
function generatedAt(text: string, start: number): Candidate[] {
  GENERATED.lastIndex = start;
  const open = GENERATED.exec(text)?.[0];
  if (open === undefined) return [];
  const end = tokenEnd(text, start + open.length);
  return end === undefined ? [] : [{ signs: "<>-", start, end, inner: text.slice(start + open.length, end) }];
}

/** `$ref:1.text`: everything up to a space or a sign that ends a value. */
function refAt(text: string, start: number): Candidate[] {
  const inner = /^[^\s"'`,;)}<>]*/
    .exec(text.slice(start + 5, start + 5 + MAX_INNER))?.[0]
    .replace(/[.:!?]$/, "");
  return inner === undefined || inner === ""
    ? []
    : [{ signs: "$ref:", start, end: start + 5 + inner.length, inner }];
}

/** A candidate that is the complete text: it may contain more than a token inside a text, such as calls. */
function wholeAt(text: string, start: number, signs: "$" | "@" | "="): Candidate[] {
  if (start !== 0 || text.length > MAX_INNER || /[\r\n]/.test(text)) return [];
  return [
    {
      signs,
      start,
      end: text.length,
      inner: signs === "$" && /^\$[.['"(]/.test(text) ? text : text.slice(1),
    },
  ];
}

/** A sign, a name, and a path. */
function signedAt(text: string, start: number, signs: "$" | "#" | "@" | "="): Candidate[] {
  const isPathOnly = signs === "$" && /[.[]/.test(text.charAt(start + 1));
  const end = isPathOnly ? readPath(text, start + 1, false).end : tokenEnd(text, start + 1);
  if (end === undefined || end === start + 1) return [];
  const inner = text.slice(isPathOnly ? start : start + 1, end);
  return isPrice(signs, inner, text.slice(end, end + 2)) ? [] : [{ signs, start, end, inner }];
}

/** `$1.50`, `$1,000`, `$5%`. */
function isPrice(signs: Signs, inner: string, after: string): boolean {
  return (
    signs === "$" && (/^[0-9]+\.[0-9]/.test(inner) || (/^[0-9]+$/.test(inner) && /^(?:,[0-9]|%)/.test(after)))
  );
}

function tokenEnd(text: string, from: number): number | undefined {
  NAME.lastIndex = from;
  const name = NAME.exec(text)?.[0];
  return name === undefined ? undefined : readPath(text, from + name.length, false).end;
}

/*
 * Reads the text between the signs of a foreign notation: a name, possibly after a word for all steps, and a
 * path.
 */

/** A name and a path; `rest` is the remaining text that is not part of the path. */
export interface Inner {
  readonly name: string | { readonly position: number };
  readonly path: readonly PathSegment[];
  readonly rest: string;
}

/** Longer texts are not references. */
const MAX_INNER = 200;
const MAX_BOUNDARIES = 8;
const ALL_STEPS = "steps|step|nodes|node|tasks|task|outputs|output|results|result|jobs|needs|actions|context";
const CALL = new RegExp(
  `^[$@]?(?:${ALL_STEPS}|items|body|ref|get)?(?:\\(\\s*(["']?)([^"'()\\[\\]]{1,128})\\1\\s*\\)|\\[\\s*(["'])([^"'\\]]{1,128})\\3\\s*\\])`,
);
const PLACE = new RegExp(`^\\$?\\.?(?:${ALL_STEPS})(?:\\[([0-9]{1,4})\\]|[./]([0-9]{1,4})(?=$|[./\\[]))`);
const FIELD = new RegExp(`^\\$?\\.?(?:${ALL_STEPS})[./]`);
/** Words for the record of a step, before the field. */
const RECORD =
  /^\??\.(?:item\.json|(?:first|last)\(\)\.json|outputs\.parameters|outputs|output|results|result|json)(?=$|[.[?])/;

/** @param isName - true for the name of a step */
export function readInner(text: string, isName: (name: string) => boolean): Inner | undefined {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > MAX_INNER) return undefined;
  return readPlain(trimmed, isName) ?? readWrapped(trimmed, isName);
}

/** The longest name at the beginning, and the text after it. */
function readPlain(text: string, isName: (name: string) => boolean): Inner | undefined {
  const ends = boundariesOf(text);
  for (const end of ends.reverse()) {
    const name = text.slice(0, end).trimEnd();
    const bare = name.replace(/^[$#@]/, "");
    const known = [name, bare].find((each) => each !== "" && isName(each));
    if (known !== undefined) return { name: known, ...readPathOf(text.slice(end)) };
  }
  return undefined;
}

function boundariesOf(text: string): number[] {
  const ends: number[] = [];
  for (let at = 1; at < text.length && ends.length < MAX_BOUNDARIES; at++) {
    if (".[?|( ".includes(text.charAt(at)) || isZapier(text, at)) ends.push(at);
  }
  return [...ends, text.length];
}

/** `1__text` */
function isZapier(text: string, at: number): boolean {
  return text.startsWith("__", at) && /^[0-9]+$/.test(text.slice(0, at));
}

/** `steps.s1.outputs.x`, `$node["s1"].json.x`, `$('s1').item.json.x`, `$.s1.x`, `steps[0].x`. */
function readWrapped(text: string, isName: (name: string) => boolean): Inner | undefined {
  const place = PLACE.exec(text);
  if (place) {
    const position = Number(place[1] ?? place[2]);
    const digits = place[2];
    // `steps.1` is a name when a step has that name; it is a position only in brackets or after a slash.
    const isNamed = digits !== undefined && isName(digits);
    const isPlace = digits === undefined || place[0].endsWith(`/${digits}`);
    const rest = readRecord(text.slice(place[0].length));
    if (isNamed && !isPlace && digits !== undefined) return { name: digits, ...rest };
    if (isPlace) return { name: { position }, ...rest };
  }
  const call = CALL.exec(text);
  const called = (call?.[2] ?? call?.[4])?.trim();
  if (call && called !== undefined && isName(called))
    return { name: called, ...readRecord(text.slice(call[0].length)) };
  if (call?.[2] !== undefined && called !== undefined && call[0].length === text.length) {
    const inside = readPlain(called, isName);
    if (inside) return inside;
  }
  const field = FIELD.exec(text) ?? /^\$\./.exec(text);
  if (!field) return undefined;
  const below = text.slice(field[0].length);
  const inside = readPlain(field[0].endsWith("/") ? below.replaceAll("/", ".") : below, isName);
  if (!inside) return text.startsWith("$.") ? readWrapped(text.slice(2), isName) : undefined;
  return field[0] === "$." ? inside : withoutRecord(inside);
}

function readRecord(text: string): Pick<Inner, "path" | "rest"> {
  const dotted = text.startsWith("/") ? text.replaceAll("/", ".") : text;
  return readPathOf(dotted.replace(RECORD, ""));
}

const RECORD_KEYS = new Set(["outputs", "output", "results", "result", "json"]);

function withoutRecord(inner: Inner): Inner {
  const [first, second] = inner.path;
  if (first?.type !== "key" || !RECORD_KEYS.has(first.key)) return inner;
  const skip = second?.type === "key" && second.key === "parameters" ? 2 : 1;
  return { ...inner, path: inner.path.slice(skip) };
}

/** A path with the spellings of other languages: `?.a`, `.*`, `[]`, `__a`. */
function readPathOf(text: string): Pick<Inner, "path" | "rest"> {
  const plain = text
    .replace(/^__(?=[A-Za-z])/, ".")
    .replaceAll("?.[", "[")
    .replaceAll("?.", ".")
    .replaceAll("?[", "[")
    .replaceAll(".[", "[")
    .replaceAll("[]", "[*]")
    .replaceAll(/\.\*(?=$|[.[])/g, "[*]");
  const { path, end } = readPath(plain, 0);
  return { path, rest: plain.slice(end).trim() };
}

/* Finds objects that are references in the notations of other planners. */

/** An object, or a field of an object, in the form of a reference. */
export interface ReferenceObject {
  /** The text as written in the document. */
  readonly source: string;
  /**
   * Possible targets, as they would be written between signs: `s1.text`, `steps.s1.output.text`; the first
   * that names a step counts.
   */
  readonly inners: readonly string[];
  /** The inner text, which may be a reference in any notation. */
  readonly written: string;
  /** The text contains more than the reference: an error when it names a step. */
  readonly isMore: boolean;
}

/** Returns the text that replaces an object; undefined keeps the object. */
type ReadReferenceObject = (
  object: ReferenceObject,
  keys: readonly (string | number)[],
) => string | undefined;

type Keys = readonly (string | number)[];

/**
 * A value in which `{"$ref": "s1.text"}` and `{"$ref": "#/steps/s1/output/text"}`, and the fields `"name.$":
 * "$.s1.text"` of state machines, are replaced by the results of `read`. Objects that it keeps are data.
 * Returns the value itself when nothing changes; recursion is as deep as the value.
 */
export function mapReferenceObjects(value: JsonValue, keys: Keys, read: ReadReferenceObject): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map((item, index) => mapReferenceObjects(item, [...keys, index], read));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => mapField(name, field, { value, keys, read }));
  const mapped = fields.every(([name, field]) => field === value[name]) ? value : objectOf(fields);
  // What a field held may have become the reference of this object.
  const { $ref } = mapped;
  // `{"$ref": "authors", "$id": "17"}` is a DBRef of MongoDB.
  if (typeof $ref !== "string" || Object.hasOwn(mapped, "$id")) return mapped;
  return read(refObject(mapped, $ref), keys) ?? mapped;
}

function objectOf(fields: readonly (readonly [string, JsonValue])[]): JsonObject {
  const object: JsonObject = {};
  for (const [name, field] of fields) setOwn(object, name, field);
  return object;
}

function mapField(
  name: string,
  written: JsonValue,
  { value, keys, read }: { value: JsonObject; keys: Keys; read: ReadReferenceObject },
): readonly [string, JsonValue] {
  const place = [...keys, name];
  const field = mapReferenceObjects(written, place, read);
  if (typeof field !== "string" || !name.endsWith(PATH_SUFFIX) || name === PATH_SUFFIX) return [name, field];
  const plain = name.slice(0, -PATH_SUFFIX.length);
  const source = `${JSON.stringify(name)}: ${JSON.stringify(field)}`;
  const calls = FUNCTION.test(field) ? PATH_IN_CALL.exec(field)?.[0] : undefined;
  const object = {
    source,
    inners: calls === undefined ? innersOf(field) : [calls],
    written: field,
    isMore: calls !== undefined || Object.hasOwn(value, plain),
  };
  const found = read(object, place);
  return found === undefined ? [name, field] : [plain, found];
}

/** Suffix of field names in Amazon States Language whose value is a path. */
const PATH_SUFFIX = ".$";
/** Its functions: `States.Format('{}', $.s1.text)`. */
const FUNCTION = /^States\.[A-Za-z]+\(/;
const PATH_IN_CALL = /\$\.[\p{L}\p{N}_.[\]*-]{1,128}/u;

function refObject(value: JsonObject, written: string): ReferenceObject {
  return {
    source: JSON.stringify(value),
    inners: innersOf(written),
    written,
    isMore: Object.keys(value).length > 1,
  };
}

function innersOf(written: string): string[] {
  return written.includes("/") ? [written, innerOfPointer(written)] : [written];
}

const PLAIN = /^[\p{L}\p{N}_-]+$/u;

/**
 * A JSON Pointer, or a path with slashes: `#/steps/s1/output/a~1b` as `steps.s1.output["a/b"]`, `#/steps/0`
 * as `steps[0]`.
 */
function innerOfPointer(pointer: string): string {
  if (pointer.length > MAX_INNER) return "";
  const [first = "", ...others] = pointer
    .replace(/^#?\//, "")
    .split("/")
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  const path = others.map((segment, index) => {
    if (/^[0-9]+$/.test(segment)) return `[${segment}]`;
    // The first segment may be the name of a step; brackets continue the path.
    const isBare = index === 0 || PLAIN.test(segment) || segment.includes("[");
    return isBare ? `.${segment}` : `[${JSON.stringify(segment)}]`;
  });
  return `${first}${path.join("")}`;
}
