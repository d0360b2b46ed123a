import { redact } from "@planwright/runtime";

/** Longest text in a bundle, in UTF-16 units; the rest of it is cut. */
const MAX_TEXT = 131_072;
/** A plan has 90 levels at most, and may stand as text in an answer of a model. */
const MAX_DEPTH = 200;

/** What a bundle does not hold. */
export interface LeftOut {
  /** Where it would stand, such as "plans.v2.steps". */
  where: string;
  /** Parts that are missing. */
  count: number;
  /** What they take as JSON in UTF-8, in bytes; null where they were not read. */
  sizeBytes: number | null;
  reason: string;
}

/** A part of a bundle with a size of its own: nothing goes in but through the redactor. */
export interface BundleSection {
  /** The value as plain JSON without secrets; undefined when there is no room for it, which is noted. */
  keep(where: string, value: unknown): unknown;
  /** Those of many that there is room for, in their order; of those that come first in `byWeight` the most. */
  keepMany<T>(where: string, values: readonly T[], byWeight?: (a: T, b: T) => number): unknown[];
  /** Notes what is not even read. @param sizeBytes - null where that is not known */
  leaveOut(where: string, what: { count: number; sizeBytes: number | null; reason: string }): void;
  /** Bytes that still find room. */
  room(): number;
  /** True once something found no room. */
  isFull(): boolean;
}

/** An empty section of at most so many bytes, counted as JSON in UTF-8; what finds no room is added to `leftOut`. */
export function createBundleSection(maxBytes: number, leftOut: LeftOut[]): BundleSection {
  let room = maxBytes;
  let isFull = false;

  function keep(where: string, value: unknown): unknown {
    if (value === undefined) return undefined;
    const text = cleanJson(value);
    const sizeBytes = Buffer.byteLength(text);
    if (sizeBytes <= room) {
      room -= sizeBytes;
      return JSON.parse(text);
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

/** As JSON text without secrets, long texts cut. Secrets go first: half a secret could not be told from a word. */
export function cleanJson(value: unknown): string {
  return JSON.stringify(redact(value, { maxDepth: MAX_DEPTH }), (_key, inner: unknown) =>
    typeof inner === "string" && inner.length > MAX_TEXT
      ? `${inner.slice(0, MAX_TEXT)}… (${inner.length - MAX_TEXT} more characters)`
      : inner,
  );
}
