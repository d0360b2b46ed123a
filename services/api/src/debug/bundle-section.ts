import { parseExactJson, unmarkNumbers } from "@planwright/plan";
import { redact } from "@planwright/runtime";

/** Longest text in a bundle, in UTF-16 units; longer texts are truncated. */
const MAX_TEXT = 131_072;
/** A plan has at most 90 levels, and may be quoted as text in the answer of a model. */
const MAX_DEPTH = 200;

/** A part that is missing in a bundle. */
export interface LeftOut {
  /** Its position in the bundle, such as "plans.v2.steps". */
  where: string;
  /** Number of missing parts. */
  count: number;
  /** Their size as JSON in UTF-8, in bytes; null if they were not read. */
  sizeBytes: number | null;
  reason: string;
}

/** A part of a bundle with its own size limit; every value is redacted. */
export interface BundleSection {
  /**
   * The value as plain JSON without secrets; undefined when it does not fit, which is recorded in `leftOut`.
   */
  keep(where: string, value: unknown): unknown;
  /** The values that fit, in their order; values that come first in `byWeight` are kept first. */
  keepMany<T>(where: string, values: readonly T[], byWeight?: (a: T, b: T) => number): unknown[];
  /** Records parts that are not read. @param what - its sizeBytes is null if the size is not known */
  leaveOut(where: string, what: { count: number; sizeBytes: number | null; reason: string }): void;
  /** Bytes that still fit. */
  room(): number;
  /** True after something did not fit. */
  isFull(): boolean;
}

/** An empty section with a limit in bytes of JSON in UTF-8; what does not fit is added to `leftOut`. */
export function createBundleSection(maxBytes: number, leftOut: LeftOut[]): BundleSection {
  let room = maxBytes;
  let isFull = false;

  function keep(where: string, value: unknown): unknown {
    if (value === undefined) return undefined;
    const text = cleanJson(value);
    const sizeBytes = Buffer.byteLength(text);
    if (sizeBytes <= room) {
      room -= sizeBytes;
      return parseExactJson(text);
    }
    isFull = true;
    const known = leftOut.find((one) => one.where === where && one.sizeBytes !== null);
    if (known) {
      known.count += 1;
      known.sizeBytes = (known.sizeBytes ?? 0) + sizeBytes;
    } else leftOut.push({ where, count: 1, sizeBytes, reason: "no room" });
    return undefined;
  }

  return {
    keep,
    keepMany(where, values, byWeight = () => 0) {
      const order = [...values.entries()].toSorted(([, a], [, b]) => byWeight(a, b));
      const kept = order.map(([index, value]) => ({ index, value: keep(where, value) }));
      return kept
        .filter(({ value }) => value !== undefined)
        .toSorted((a, b) => a.index - b.index)
        .map(({ value }) => value);
    },
    leaveOut(where, what) {
      if (what.count === 0) return;
      isFull = true;
      leftOut.push({ where, ...what });
    },
    room: () => room,
    isFull: () => isFull,
  };
}

/**
 * JSON text without secrets, with long texts truncated. Secrets are removed first: a truncated secret would
 * not be recognised.
 */
export function cleanJson(value: unknown): string {
  const text = JSON.stringify(redact(value, { maxDepth: MAX_DEPTH }), (_key, inner: unknown) =>
    typeof inner === "string" && inner.length > MAX_TEXT
      ? `${inner.slice(0, MAX_TEXT)}… (${inner.length - MAX_TEXT} more characters)`
      : inner,
  );
  return unmarkNumbers(text);
}
