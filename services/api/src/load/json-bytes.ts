import { unmarkNumbers } from "@planwright/plan";
import { AnswerTooLargeError } from "../errors/input-errors.ts";
import type { AnswerLimits } from "./answer-bytes.ts";
import { runInSlices, SLICE_BYTES } from "./pace.ts";

/**
 * Size of a value as JSON text in UTF-8, in bytes, without escapes. Stops above the limit, and then returns
 * more than the limit. Pure.
 */
export function jsonBytes(value: unknown, limit: number): number {
  if (typeof value === "string") return Buffer.byteLength(value) + 2;
  if (typeof value !== "object" || value === null) return String(value).length;
  if (value instanceof Date) return ISO_DATE_BYTES;
  const known = measured.get(value);
  if (known !== undefined) return known;
  let sum = 2;
  if (Array.isArray(value)) {
    for (const entry of value) {
      if (sum > limit) break;
      sum += jsonBytes(entry, limit - sum) + 1;
    }
    return sum;
  }
  for (const key in value) {
    if (sum > limit) break;
    sum += key.length + 4 + jsonBytes(Reflect.get(value, key), limit - sum);
  }
  return sum;
}
const ISO_DATE_BYTES = 26;

/** Sizes of large values that are not changed any more. */
const measured = new WeakMap<object, number>();

/**
 * Remembers the size of a value that is not changed any more, so that {@link jsonBytes} need not walk it: an
 * answer may have it several times. @returns the value
 */
export function rememberJsonBytes<T>(value: T, sizeBytes: number): T {
  if (typeof value === "object" && value !== null) measured.set(value, sizeBytes);
  return value;
}

/**
 * Like JSON.stringify, but in slices with pauses in between, and with exact numbers as their digits.
 * @throws {AnswerTooLargeError} as soon as the text exceeds the limit
 */
export async function stringifyInSlices(
  value: object,
  { maxBytes, pace }: Pick<AnswerLimits, "maxBytes" | "pace">,
): Promise<string> {
  return runInSlices(pace, stringifySteps(value, maxBytes));
}

function* stringifySteps(value: object, maxBytes: number): Generator<void, string> {
  const texts: string[] = [];
  let total = 0;
  for (const text of slicesOf(value)) {
    total += Buffer.byteLength(text);
    if (total > maxBytes) throw new AnswerTooLargeError(maxBytes);
    texts.push(text);
    yield;
  }
  return texts.join("");
}

/** Yields the JSON text in parts of at most one slice, where the value can be divided. */
function* slicesOf(value: unknown): Generator<string, void, void> {
  const isDivisible = typeof value === "object" && value !== null && !(value instanceof Date);
  if (!isDivisible || jsonBytes(value, SLICE_BYTES) <= SLICE_BYTES) {
    yield unmarkNumbers(JSON.stringify(value) ?? "null");
    return;
  }
  const isList = Array.isArray(value);
  let before = isList ? "[" : "{";
  for (const [key, member] of Object.entries(value)) {
    if (!isList && member === undefined) continue;
    yield isList ? before : `${before}${JSON.stringify(key)}:`;
    yield* slicesOf(member);
    before = ",";
  }
  yield before === "," ? (isList ? "]" : "}") : isList ? "[]" : "{}";
}
