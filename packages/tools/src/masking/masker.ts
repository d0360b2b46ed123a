/**
 * Masks the values of secrets in everything that a server sends. This is the only place that decides how they
 * are found and what replaces them.
 *
 * 1. A value without secrets is returned as the same object.
 * 2. White space is ignored, and consecutive texts are searched as one, so that a secret that is split over
 *    lines, parts or fields is found.
 */
import type { Outcome } from "@planwright/engine";
import {
  digitsOf,
  isJsonNumber,
  isJsonObject,
  type JsonObject,
  JsonText,
  type JsonValue,
  type OutputText,
  REDACTED,
} from "@planwright/plan";
import { compact, formsOf, MIN_SECRET_LENGTH } from "./secret-forms.ts";
import { createSecretScanner, type Found } from "./secret-scanner.ts";

/** Masks the values of secrets. */
export interface Masker {
  /** A text without the values, each replaced by `[redacted]`. */
  text(text: string): string;
  /** The same for all texts and keys of a JSON value, and for numbers that are a secret. */
  json(value: JsonValue): JsonValue;
  /** The same for the output or error of a call, and for the text form of the output. */
  outcome(outcome: Outcome): Outcome;
}

/** Masks values of at least 6 characters; values below 8 characters only where they are whole words. */
export function createMasker(values: Iterable<string>): Masker {
  const all = new Set([...values].filter((value) => value.length >= MIN_SECRET_LENGTH));
  const scanner = createSecretScanner([...new Set([...all].flatMap(formsOf))]);

  /** The masked texts; undefined when they contain no secret. */
  function masked(texts: readonly string[]): string[] | undefined {
    const compacted = texts.map(compact);
    const found = scanner.find(compacted.join(""));
    if (found.length === 0) return undefined;
    const ranges = merged(found);
    let end = 0;
    let first = 0;
    let isChanged = false;
    const clean = texts.map((text, index) => {
      const start = end;
      end += compacted[index]?.length ?? 0;
      while (first < ranges.length && (ranges[first]?.to ?? 0) <= start) first += 1;
      const ownRanges: Found[] = [];
      for (let next = first; next < ranges.length; next += 1) {
        const range = ranges[next];
        if (!range || range.from >= end) break;
        const from = Math.max(start, range.from);
        const to = Math.min(end, range.to);
        const isAcross = range.from < start || range.to > end;
        if (isAcross && (range.isWord || (range.isPiece && to - from < MIN_SECRET_LENGTH))) continue;
        ownRanges.push({ ...range, from: from - start, to: to - start });
      }
      const shown = ownRanges.length === 0 ? text : withoutRanges(text, ownRanges);
      if (shown !== text) isChanged = true;
      return shown;
    });
    return isChanged ? clean : undefined;
  }

  function json(value: JsonValue): JsonValue {
    const texts: string[] = [];
    const keys: string[] = [];
    const hasNumber = collect(value, { texts, keys }, all);
    const clean = masked([...texts, ...keys]);
    if (!clean)
      return hasNumber
        ? rebuilt(
            value,
            (text) => text,
            (key) => key,
            all,
          )
        : value;
    let nextText = 0;
    let nextKey = texts.length;
    return rebuilt(
      value,
      (text) => clean[nextText++] ?? text,
      (key) => clean[nextKey++] ?? key,
      all,
    );
  }

  const text = (given: string): string => masked([given])?.[0] ?? given;

  function outcome(given: Outcome): Outcome {
    if (given.type === "completed") {
      // A large output was masked where it was read.
      const output = given.output instanceof JsonText ? given.output : json(given.output);
      const written = writtenAs(given.text, output !== given.output, text);
      const warnings = given.warnings?.map(text);
      if (output === given.output && written === given.text && !warnings) return given;
      return { ...given, output, text: written, ...(warnings && { warnings }) };
    }
    if (given.type !== "failed") return given;
    const { message, data } = given.error;
    const shown = data === undefined ? {} : { data: json(data) };
    return { ...given, error: { ...given.error, message: text(message), ...shown } };
  }

  if (all.size === 0) return { text: (given) => given, json: (value) => value, outcome: (given) => given };
  return { text, json, outcome };
}

/**
 * Decides the text form. If the value was masked, or its text contains more secrets than the value, the text
 * is made from the masked value (0).
 */
function writtenAs(
  written: OutputText | undefined,
  isMasked: boolean,
  text: (text: string) => string,
): OutputText | undefined {
  if (typeof written !== "string") return written;
  return isMasked || text(written) !== written ? 0 : written;
}

/** Collects texts and keys in their order. @returns whether a number is a secret */
function collect(
  value: JsonValue,
  into: { texts: string[]; keys: string[] },
  secrets: ReadonlySet<string>,
): boolean {
  if (isJsonNumber(value)) return secrets.has(digitsOf(value));
  if (typeof value === "string") into.texts.push(value);
  let hasNumber = false;
  if (Array.isArray(value)) for (const inner of value) hasNumber = collect(inner, into, secrets) || hasNumber;
  else if (isJsonObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      into.keys.push(key);
      hasNumber = collect(inner, into, secrets) || hasNumber;
    }
  }
  return hasNumber;
}

/** The value with other texts and keys, requested in the order of {@link collect}. */
function rebuilt(
  value: JsonValue,
  nextText: (text: string) => string,
  nextKey: (key: string) => string,
  secrets: ReadonlySet<string>,
): JsonValue {
  const inner = (each: JsonValue): JsonValue => rebuilt(each, nextText, nextKey, secrets);
  if (isJsonNumber(value)) return secrets.has(digitsOf(value)) ? REDACTED : value;
  if (typeof value === "string") return nextText(value);
  if (Array.isArray(value)) return value.map(inner);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, each]): [string, JsonValue] => [
    nextKey(key),
    inner(each),
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

/** Sorted, with adjacent ranges merged. */
function merged(found: readonly Found[]): Found[] {
  const ranges: Found[] = [];
  for (const range of found.toSorted((one, other) => one.from - other.from)) {
    const last = ranges.at(-1);
    if (!last || range.from > last.to) ranges.push({ ...range });
    else {
      last.isWord &&= range.isWord;
      last.isPiece &&= range.isPiece;
      last.to = Math.max(last.to, range.to);
    }
  }
  return ranges;
}

const WORD = /[\p{L}\p{N}]/u;

/** @param ranges - positions in the text without its white space */
function withoutRanges(text: string, ranges: readonly Found[]): string {
  const positions = /\s/.test(text) ? positionsOf(text) : undefined;
  let clean = "";
  let end = 0;
  for (const { from, to, isWord } of ranges) {
    const start = positions ? (positions[from] ?? 0) : from;
    const stop = (positions ? (positions[to - 1] ?? 0) : to - 1) + 1;
    if (isWord && (WORD.test(text[start - 1] ?? "") || WORD.test(text[stop] ?? ""))) continue;
    clean += text.slice(end, start) + REDACTED;
    end = stop;
  }
  return clean + text.slice(end);
}

/** The position of each character that is not white space. */
function positionsOf(text: string): number[] {
  const positions: number[] = [];
  for (let position = 0; position < text.length; position += 1)
    if (!/\s/.test(text[position] ?? "")) positions.push(position);
  return positions;
}
