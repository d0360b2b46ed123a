import { type JsonValue, parseJson } from "@planwright/plan";
import { copyJson, unescapeText } from "@planwright/plan/internal";
import { beginsComment, type ClosedJson, isQuote, scanJson, skipSpaces } from "./scan-json.ts";

/** A JSON value in an answer. */
export interface FoundValue {
  readonly value: JsonValue;
  readonly start: number;
  /** Position after its last character. */
  readonly end: number;
  /** True when the text had to be repaired. */
  readonly isRepaired: boolean;
  /** The text between the previous JSON and this one, without spaces and commas, cut to 200 characters. */
  readonly gap: string;
}

/** A plan, or a part of one, that cannot be parsed. */
export interface BrokenJson {
  readonly at: number;
  readonly reason: string;
  /** An ellipsis or a comment replaces a part of it. */
  readonly isElided: boolean;
}

/** All JSON in an answer. */
export interface FoundJson {
  readonly values: FoundValue[];
  readonly broken: BrokenJson[];
  /** Brackets are still open at the end. */
  isCut: boolean;
  isTooDeep: boolean;
}

/** Maximum nesting of JSON texts inside JSON texts that is read. */
const MAX_LEVELS = 3;
/** Maximum number of kept values without steps: they may say why there is no plan. */
const MAX_OTHERS = 100;

/**
 * Finds the JSON in prose, in order, only outermost brackets. JSON that begins inside broken JSON is not
 * read, because it is a part of the broken JSON. Linear in the length of the text.
 */
export function findJson(text: string, level = 1): FoundJson {
  const found: FoundJson = { values: [], broken: [], isCut: false, isTooDeep: false };
  const whole = level < MAX_LEVELS ? wholeText(text) : undefined;
  if (whole !== undefined) {
    addInner(findJson(whole, level + 1), text, 0, text.length, found);
    return found;
  }
  let at = nextStart(text, 0);
  while (at !== -1 && !found.isCut && !found.isTooDeep) {
    let end = at + 1;
    if (text.charAt(at) === '"') end = readQuoted(text, at, level, found) ?? end;
    else if (beginsJson(text, at)) end = readAt(text, at, level, found);
    at = nextStart(text, end);
  }
  return found;
}

/** The inner text when the answer is exactly one JSON text. */
function wholeText(text: string): string | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith('"') || endOfEscaped(trimmed, 1) !== trimmed.length - 1) return undefined;
  return unescapeText(trimmed.slice(1, -1));
}

/**
 * A bracket, or the quote of a (possibly nested) text that begins with a bracket. Quotes after a backslash
 * are inside a text and do not match, so no part is read twice.
 */
const START = /[{[]|(?<!\\)"(?=(?:\s|\\n|\\+"){0,20}[{[])/g;

function nextStart(text: string, from: number): number {
  START.lastIndex = from;
  return START.exec(text)?.index ?? -1;
}

/** Reads the JSON at `start` into `found`. @returns the position after it */
function readAt(text: string, start: number, level: number, found: FoundJson): number {
  const scanned = scanJson(text, start);
  switch (scanned.type) {
    case "cut":
      found.isCut = true;
      return text.length;
    case "too-deep":
      found.isTooDeep = true;
      return text.length;
    case "escaped":
      return level < MAX_LEVELS ? readEscaped(text, start, level, found) : text.length;
    case "broken":
      if (scanned.speaksOfSteps)
        found.broken.push({ at: start, reason: scanned.reason, isElided: scanned.isElided });
      return scanned.at;
    case "closed": {
      if (!scanned.speaksOfSteps && found.values.length >= MAX_OTHERS) return scanned.end;
      const read = scanned.isElided ? ELIDED : readJson(text, start, scanned);
      if (read.ok) {
        const { value, isRepaired } = read;
        const gap = gapBefore(text, start, found);
        found.values.push({ value, start, end: scanned.end, isRepaired, gap });
      } else if (scanned.speaksOfSteps) {
        found.broken.push({ at: start, reason: read.reason, isElided: scanned.isElided });
      }
      return scanned.end;
    }
  }
}

const ELIDED = { ok: false, reason: "something is left out of it" } as const;

/**
 * Reads a JSON text that contains only JSON.
 * @returns the position after it; undefined when it is only a quote
 */
function readQuoted(text: string, start: number, level: number, found: FoundJson): number | undefined {
  const end = endOfEscaped(text, start + 1);
  const inner =
    level < MAX_LEVELS ? findJson(unescapeText(text.slice(start + 1, end)), level + 1) : undefined;
  if (end === text.length || !inner || inner.isCut || inner.values.length === 0) return undefined;
  addInner(inner, text, start, end + 1, found);
  return end + 1;
}

/**
 * Reads the inside of a JSON text without its quotes: up to the last bracket before the next quote without a
 * backslash.
 */
function readEscaped(text: string, start: number, level: number, found: FoundJson): number {
  const region = text.slice(start, endOfEscaped(text, start));
  const end = start + Math.max(region.lastIndexOf("}"), region.lastIndexOf("]"), 0) + 1;
  addInner(findJson(unescapeText(text.slice(start, end)), level + 1), text, start, end, found);
  return end;
}

function addInner(inner: FoundJson, text: string, start: number, end: number, found: FoundJson): void {
  const outerGap = gapBefore(text, start, found);
  for (const [index, value] of inner.values.entries()) {
    const gap = index === 0 ? outerGap + value.gap : value.gap;
    found.values.push({ ...value, start, end, gap });
  }
  for (const broken of inner.broken) found.broken.push({ ...broken, at: start });
  found.isCut ||= inner.isCut;
  found.isTooDeep ||= inner.isTooDeep;
}

function gapBefore(text: string, start: number, { values }: FoundJson): string {
  const gap = text.slice(values.at(-1)?.end ?? 0, start).replace(/[\s,;]+/g, "");
  return gap.slice(0, 200);
}

function endOfEscaped(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "\\") at++;
    else if (char === '"') return at;
  }
  return text.length;
}

const NAME_AND_COLON = /[A-Za-z_$][A-Za-z0-9_$-]{0,127}\s*(?::|$)/y;
const LIST_ITEM = /[{[\]\\0-9-]|(?:true|false|null|True|False|None)\b/y;

/** False for brackets of prose, templates and references. */
function beginsJson(text: string, start: number): boolean {
  const at = skipSpaces(text, start + 1);
  const char = text.charAt(at);
  if (char === "" || isQuote(char) || beginsComment(text, at) || char === "#") return true;
  if (text.charAt(start) === "[") return matchesAt(LIST_ITEM, text, at);
  return char === "}" || char === "\\" || matchesAt(NAME_AND_COLON, text, at);
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** A parsed value, or the reason why it cannot be parsed. */
type ReadJson =
  | { readonly ok: true; readonly value: JsonValue; readonly isRepaired: boolean }
  | { readonly ok: false; readonly reason: string };

/** Larger than the depth limit of a scan. */
const MAX_DEPTH = 200;
/** Larger than the largest accepted answer. */
const MAX_BYTES = 8 * 1_048_576;

/** Parses scanned JSON: as it is written, and otherwise without its defects. */
function readJson(text: string, start: number, { end, doubt, json }: ClosedJson): ReadJson {
  if (doubt !== undefined) return refused(doubt);
  const plain = parseJson(text.slice(start, end));
  if (plain.ok) return safeCopy(plain.value, false);
  const repaired = parseJson(json);
  return repaired.ok ? safeCopy(repaired.value, true) : refused("it cannot be repaired");
}

const refused = (reason: string): ReadJson => ({ ok: false, reason });

/** A copy in which no member changes a prototype. What no plan may have is refused by its reader. */
function safeCopy(parsed: JsonValue, isRepaired: boolean): ReadJson {
  const copy = copyJson(parsed, { maxDepth: MAX_DEPTH, maxBytes: MAX_BYTES });
  return copy.ok
    ? { ok: true, value: copy.value, isRepaired }
    : refused(`something in it is not JSON at ${copy.path}`);
}

/**
 * The JSON value of a text that contains only this value, apart from spaces and a code fence; otherwise
 * undefined.
 */
export function innerJson(text: string): { value: JsonValue; isRepaired: boolean } | undefined {
  const trimmed = text.trim();
  if (!/^(?:[{["]|```)/.test(trimmed)) return undefined;
  const { values, broken, isCut, isTooDeep } = findJson(trimmed);
  const [only, ...others] = values;
  if (!only || others.length > 0 || broken.length > 0 || isCut || isTooDeep) return undefined;
  const around = `${trimmed.slice(0, only.start)}${trimmed.slice(only.end)}`.replace(/[\s"]+/g, "");
  return /^(?:```(?:json)?(?:```)?)?$/i.test(around) ? only : undefined;
}
