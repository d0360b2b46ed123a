import type { JsonValue, OutputText } from "@planwright/plan";

/** Largest value that stands in the document of its step, as JSON text in UTF-8, in bytes. */
export const MAX_INLINE_BYTES = 32_768;
/**
 * Deepest nesting that stands in the document of its step; MongoDB itself ends at 100, the document's own
 * levels included.
 */
export const MAX_INLINE_DEPTH = 50;

/** A value that stands in the document of its step. */
export interface SmallValue {
  fits: true;
  /** As JSON text in UTF-8. */
  sizeBytes: number;
}

/** A value beside its step: what is to be kept of it instead. */
export interface LargeValue {
  fits: false;
  /** The value as JSON. */
  text: string;
  /** Of the text in UTF-8. */
  sizeBytes: number;
}

/** Whether a value may stand in the document of its step and comes back as the same JSON. */
export function measureValue(value: JsonValue): SmallValue | LargeValue {
  const text = JSON.stringify(value);
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes <= MAX_INLINE_BYTES && isPlain(value)) return { fits: true, sizeBytes };
  return { fits: false, text, sizeBytes };
}

/**
 * {@link measureValue} for an output. Where the tool wrote JSON text of its own, that text is stored
 * separately when either is too large for the entry; that text is kept once, for it says the value as well.
 */
export function measureOutput(value: JsonValue, written: OutputText | undefined): SmallValue | LargeValue {
  const measured = measureValue(value);
  if (typeof written !== "string") return measured;
  const sizeBytes = Buffer.byteLength(written);
  return measured.fits && sizeBytes <= MAX_INLINE_BYTES
    ? measured
    : { fits: false, text: written, sizeBytes };
}

/** Half of a character: BSON, which is UTF-8, would replace it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * True when BSON and its driver take nothing in the value for something else. They refuse keys with NUL and
 * every object with `_bsontype`, read an object with `$ref` and `$id` as a type of their own, and replace
 * lone surrogates. Other keys with `$` or dots, `__proto__`, -0 and large numbers come back as they went.
 */
export function isPlain(value: JsonValue, depth = 0): boolean {
  if (typeof value === "string") return !LONE_SURROGATE.test(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth >= MAX_INLINE_DEPTH) return false;
  if (Array.isArray(value)) return value.every((entry) => isPlain(entry, depth + 1));
  if (Object.hasOwn(value, "$ref") && Object.hasOwn(value, "$id")) return false;
  return Object.entries(value).every(([key, member]) => isPlainKey(key) && isPlain(member, depth + 1));
}

function isPlainKey(key: string): boolean {
  return key !== "_bsontype" && !key.includes("\0") && !LONE_SURROGATE.test(key);
}
