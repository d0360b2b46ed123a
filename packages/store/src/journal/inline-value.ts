import { type JsonValue, type OutputText, stringifyExactJson } from "@planwright/plan";

/** Largest value that is stored in an entry, as JSON text in UTF-8, in bytes. */
export const MAX_INLINE_BYTES = 32_768;
/**
 * Deepest nesting of a value that is stored in an entry. MongoDB's limit is 100, with the levels of the
 * entry.
 */
export const MAX_INLINE_DEPTH = 50;

/** A value that is stored in an entry. */
export interface SmallValue {
  fits: true;
  /** Size as JSON text in UTF-8. */
  sizeBytes: number;
}

/** A value that is stored separately, or of which only a preview is stored. */
export interface LargeValue {
  fits: false;
  /** The value as JSON. */
  text: string;
  /** Size of the text in UTF-8. */
  sizeBytes: number;
}

/** Measures a value, and decides whether an entry can store it and return the same JSON. */
export function measureValue(value: JsonValue): SmallValue | LargeValue {
  const text = stringifyExactJson(value);
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes <= MAX_INLINE_BYTES && isPlain(value)) return { fits: true, sizeBytes };
  return { fits: false, text, sizeBytes };
}

/**
 * {@link measureValue} for an output. If the tool wrote JSON text and the text or the value is too large for
 * the entry, only the text is stored separately: the value can be parsed from it.
 */
export function measureOutput(value: JsonValue, written: OutputText | undefined): SmallValue | LargeValue {
  const measured = measureValue(value);
  if (typeof written !== "string") return measured;
  const sizeBytes = Buffer.byteLength(written);
  return measured.fits && sizeBytes <= MAX_INLINE_BYTES
    ? measured
    : { fits: false, text: written, sizeBytes };
}

/** BSON is UTF-8 and would replace a lone surrogate. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * True when BSON and the driver return the value unchanged. They refuse keys with NUL and every object with
 * `_bsontype`, read an object with `$ref` and `$id` as a DBRef, and replace lone surrogates. Other keys with
 * `$` or dots, `__proto__`, -0 and large numbers are returned unchanged (see `fieldsAsRaw` in createStore).
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
