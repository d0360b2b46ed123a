/**
 * Reads the text between the signs of a foreign notation: a name, possibly after a word for all steps, and a
 * path.
 */
import type { PathSegment } from "../json/path.ts";
import { readPath } from "../reference/read-reference.ts";

/** A name and a path; `rest` is the remaining text that is not part of the path. */
export interface Inner {
  readonly name: string | { readonly position: number };
  readonly path: readonly PathSegment[];
  readonly rest: string;
}

/** Longer texts are not references. */
export const MAX_INNER = 200;
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
