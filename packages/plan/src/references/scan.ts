/**
 * Finds references in texts: `<<step.path>>`, `{{step.path}}`, `$ref:step.path`.
 *
 * 1. One pass from left to right, every character looked at a bounded number of times: no backtracking.
 * 2. `\<<` and `\{{` are literal; what they open is text.
 * 3. What does not read as a reference (`<<`, `{{ not a path }}`) is text.
 */
import { isJsonObject } from "../json.ts";

/** One part of a path: a property, a position in a list, or `*` for every item of a list. */
export type PathPart =
  | { type: "property"; name: string }
  | { type: "index"; index: number }
  | { type: "every" };

/** How a reference is written. */
export type ReferenceSpelling = "angle" | "curly" | "ref";

/** One reference inside one text. */
export interface Reference {
  /** As it stands in the text. */
  text: string;
  /** A step id, a tool name, or a name of the forEach around it. */
  root: string;
  path: PathPart[];
  spelling: ReferenceSpelling;
  /** Offsets in the text, end exclusive. */
  start: number;
  end: number;
}

/** A reference with the place of its text in a value. */
export interface LocatedReference extends Reference {
  /** Keys and positions from the value's root to the text. */
  at: (string | number)[];
}

/** Pieces of a text: literal parts with escapes undone, and references, in order. */
export type TextPart = { literal: string } | { reference: Reference };

const ROOT = /[A-Za-z0-9_-]/;
const NAME = /[A-Za-z0-9_$-]/;
const DIGITS = /^(?:0|[1-9][0-9]{0,8})$/;
/** A reference longer than this is text. */
const MAX_REFERENCE_CHARS = 1_024;

/** Every reference in a value: strings at any depth, not object keys. In document order. */
export function scanReferences(value: unknown): LocatedReference[] {
  const found: LocatedReference[] = [];
  const pending: { value: unknown; at: (string | number)[] }[] = [{ value, at: [] }];
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    const { value: current, at } = entry;
    if (typeof current === "string") {
      for (const part of splitText(current)) if ("reference" in part) found.push({ ...part.reference, at });
    } else if (Array.isArray(current)) {
      for (let index = current.length - 1; index >= 0; index -= 1) {
        pending.push({ value: current[index], at: [...at, index] });
      }
    } else if (isJsonObject(current)) {
      for (const [key, item] of Object.entries(current).reverse())
        pending.push({ value: item, at: [...at, key] });
    }
  }
  return found;
}

/** A text as literal parts and references. */
export function splitText(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let literal = "";
  let position = 0;
  const flush = (): void => {
    if (literal !== "") parts.push({ literal });
    literal = "";
  };
  while (position < text.length) {
    const opening = nextOpening(text, position);
    literal += text.slice(position, opening);
    if (opening === text.length) break;
    if (text[opening] === "\\") {
      literal += text.slice(opening + 1, opening + 3);
      position = opening + 3;
      continue;
    }
    const reference = readReference(text, opening);
    if (reference) {
      flush();
      parts.push({ reference });
      position = reference.end;
    } else {
      literal += text[opening];
      position = opening + 1;
    }
  }
  flush();
  return parts;
}

/** Where the next reference or escape may begin; the length of the text when there is none. */
function nextOpening(text: string, from: number): number {
  for (let position = from; position < text.length; position += 1) {
    const char = text[position];
    if (char === "<" && text[position + 1] === "<") return position;
    if (char === "{" && text[position + 1] === "{") return position;
    if (char === "$" && text.startsWith("$ref:", position)) return position;
    if (char === "\\" && (text.startsWith("<<", position + 1) || text.startsWith("{{", position + 1)))
      return position;
  }
  return text.length;
}

function readReference(text: string, start: number): Reference | null {
  if (text[start] === "$") {
    const body = readBody(text, start + 5, false);
    return body && { ...body.path, spelling: "ref", text: text.slice(start, body.end), start, end: body.end };
  }
  const isAngle = text[start] === "<";
  const from = skipSpaces(text, start + 2);
  const body = readBody(text, from, true);
  if (!body) return null;
  const close = skipSpaces(text, body.end);
  if (!text.startsWith(isAngle ? ">>" : "}}", close)) return null;
  const end = close + 2;
  return { ...body.path, spelling: isAngle ? "angle" : "curly", text: text.slice(start, end), start, end };
}

function skipSpaces(text: string, from: number): number {
  let position = from;
  while (position < from + 16 && text[position] === " ") position += 1;
  return position;
}

/** Root and path from a position. Outside brackets a dot that no name follows ends a `$ref:`, as in "see $ref:a.b." */
function readBody(
  text: string,
  from: number,
  isClosed: boolean,
): { path: Pick<Reference, "root" | "path">; end: number } | null {
  const limit = Math.min(text.length, from + MAX_REFERENCE_CHARS);
  const rootEnd = readRoot(text, from, limit, isClosed);
  if (rootEnd === from) return null;
  const path: PathPart[] = [];
  let position = rootEnd;
  while (position < limit) {
    const part =
      text[position] === "." ? readName(text, position, limit) : readBracket(text, position, limit);
    if (!part) break;
    path.push(part.part);
    position = part.end;
  }
  return { path: { root: text.slice(from, rootEnd), path }, end: position };
}

/** A step id or tool name. A tool's server may stand before it: `server/tool`. */
function readRoot(text: string, from: number, limit: number, isClosed: boolean): number {
  let position = from;
  while (position < limit && (ROOT.test(text[position] ?? "") || (isClosed && text[position] === "/")))
    position += 1;
  return position;
}

function readName(text: string, dot: number, limit: number): { part: PathPart; end: number } | null {
  let end = dot + 1;
  while (end < limit && NAME.test(text[end] ?? "")) end += 1;
  const name = text.slice(dot + 1, end);
  if (name === "") return null;
  return {
    part: DIGITS.test(name) ? { type: "index", index: Number(name) } : { type: "property", name },
    end,
  };
}

function readBracket(text: string, open: number, limit: number): { part: PathPart; end: number } | null {
  if (text[open] !== "[") return null;
  if (text.startsWith("[*]", open)) return { part: { type: "every" }, end: open + 3 };
  const quote = text[open + 1];
  if (quote === '"' || quote === "'") return readQuoted(text, open, limit, quote);
  let end = open + 1;
  while (end < limit && end < open + 11 && text[end] !== "]") end += 1;
  const digits = text.slice(open + 1, end);
  if (text[end] !== "]" || !DIGITS.test(digits)) return null;
  return { part: { type: "index", index: Number(digits) }, end: end + 1 };
}

/** `["any key"]`; a backslash takes the next character as it is. */
function readQuoted(
  text: string,
  open: number,
  limit: number,
  quote: string,
): { part: PathPart; end: number } | null {
  let name = "";
  for (let position = open + 2; position < limit; position += 1) {
    const char = text[position];
    if (char === "\\") {
      position += 1;
      name += text[position] ?? "";
    } else if (char === quote) {
      return text[position + 1] === "]" ? { part: { type: "property", name }, end: position + 2 } : null;
    } else name += char;
  }
  return null;
}

/** The canonical spelling, `<<root.path>>`. */
export function printReference({ root, path }: Pick<Reference, "root" | "path">): string {
  const printed = path.map((part) => {
    if (part.type === "every") return "[*]";
    if (part.type === "index") return `[${part.index}]`;
    const isPlain = /^[A-Za-z0-9_$-]+$/.test(part.name) && !DIGITS.test(part.name);
    return isPlain ? `.${part.name}` : `["${part.name.replace(/[\\"]/g, "\\$&")}"]`;
  });
  return `<<${root}${printed.join("")}>>`;
}
