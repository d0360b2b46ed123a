import { redactInSteps } from "@planwright/runtime";
import { rememberJsonBytes } from "../load/json-bytes.ts";

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

/**
 * A part of a bundle with its own size limit; every value is redacted. What is long is done in steps, between
 * which the process does other work.
 */
export interface BundleSection {
  /**
   * The value without secrets, with long texts truncated; undefined when it does not fit, which is recorded in
   * `leftOut`.
   */
  keep(where: string, value: unknown): Generator<void, unknown>;
  /**
   * The values that fit, in their order; values that come first in `byWeight` are kept first.
   * @param show - makes what is kept of a value; default: the value itself
   */
  keepMany<T>(
    where: string,
    values: readonly T[],
    byWeight?: (a: T, b: T) => number,
    show?: (value: T) => unknown,
  ): Generator<void, unknown[]>;
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

  function* keep(where: string, value: unknown): Generator<void, unknown> {
    if (value === undefined) return undefined;
    const clean = yield* redactInSteps(value, { maxDepth: MAX_DEPTH, maxText: MAX_TEXT });
    yield;
    const sizeBytes = Buffer.byteLength(JSON.stringify(clean));
    if (sizeBytes <= room) {
      room -= sizeBytes;
      return rememberJsonBytes(clean, sizeBytes);
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
    *keepMany(where, values, byWeight = () => 0, show = (value) => value) {
      const order = [...values.entries()].toSorted(([, a], [, b]) => byWeight(a, b));
      const kept: { index: number; value: unknown }[] = [];
      for (const [index, value] of order) {
        kept.push({ index, value: yield* keep(where, show(value)) });
        yield;
      }
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
