import { setTimeout as delay } from "node:timers/promises";
import { unmarkNumbers } from "@planwright/plan";
import { AnswerTooLargeError, ApiError } from "../errors/api-error.ts";
import type { ByteBudget, Grant } from "./byte-budget.ts";

/** Limits of the answers of a process. */
export interface AnswerLimits {
  /** Largest answer, in bytes. */
  maxBytes: number;
  /** Larger outputs are sent as references, in bytes of JSON. */
  inlineBytes: number;
  /** Memory for all large answers together. */
  budget: ByteBudget;
  /** Runs the work on large answers in slices. */
  pace: Pace;
}

/** Measures one answer, from the first byte read to the last byte sent. */
export interface AnswerBytes {
  readonly limits: AnswerLimits;
  /** True after the answer got a grant of the budget. */
  isHeavy(): boolean;
  /** Call before reading this many bytes. @throws {AnswerTooLargeError | OverloadedError} */
  reading(bytes: number): Promise<void>;
  /** The same before making text of this size from read data; call it each time. */
  making(bytes: number): Promise<void>;
  /** Acquires the grant of a heavy answer before anything is read. @throws {OverloadedError} */
  claim(): Promise<void>;
  /** Call before holding this many bytes at once that are streamed and not collected in one answer. */
  holding(bytes: number): Promise<void>;
  /** The same for bytes from which a page is cut: the next page of the answer may need more. */
  cutting(bytes: number): Promise<void>;
  /** Reserves space for an output in the answer; false: it does not fit and is sent as a reference. */
  reserve(bytes: number): boolean;
  /** Call before sending the answer of this size. @throws {OverloadedError} */
  sending(bytes: number): Promise<void>;
  /**
   * From now on the answer waits for the budget without a timeout: the operation has taken effect, and cannot
   * be refused.
   */
  waitWithoutTimeout(): void;
  /** Why no answer is possible; undefined otherwise. */
  failure(): ApiError | undefined;
  /** Call when the answer was sent, or its client has disconnected. */
  release(): void;
}

/** The owner of an answer. */
export interface AnswerOwner {
  tenant: string;
  /** Aborted when the client disconnects. */
  signal?: AbortSignal | undefined;
}

/** Reads up to this size need no grant of the budget. */
const LIGHT_BYTES = 1_048_576;
/** Answers up to this size need no grant, even if the client is slow. */
export const LIGHT_ANSWER_BYTES = 262_144;
/**
 * Most bytes that are read for one answer, as a multiple of the largest answer: not all read data is sent.
 */
const READ_FACTOR = 2;
/** Grant of a heavy answer while it is made, as a multiple of the largest answer. */
const HELD_FACTOR = 3;
/** Part of an answer that outputs may use. */
const OUTPUT_SHARE = 0.75;

/** A new answer. */
export function createAnswerBytes(limits: AnswerLimits, { tenant, signal }: AnswerOwner): AnswerBytes {
  const { maxBytes, budget } = limits;
  let read = 0;
  let made = 0;
  let freeBytes = maxBytes * OUTPUT_SHARE;
  let hasNoTimeout = false;
  let isReleased = false;
  let failure: ApiError | undefined;
  let grant: Promise<Grant> | undefined;

  async function hold(bytes: number): Promise<void> {
    grant ??= budget.acquire({ tenant, bytes, hasNoTimeout, signal });
    try {
      const granted = await grant;
      if (isReleased) granted.release();
    } catch (error) {
      if (error instanceof ApiError) failure ??= error;
      throw error;
    }
  }

  async function count(total: number, max: number): Promise<void> {
    if (total > max) {
      failure ??= new AnswerTooLargeError(maxBytes);
      throw failure;
    }
    if (total > LIGHT_BYTES) await hold(maxBytes * HELD_FACTOR);
  }

  return {
    limits,
    isHeavy: () => grant !== undefined,
    async reading(bytes) {
      read += bytes;
      await count(read, maxBytes * READ_FACTOR);
    },
    async making(bytes) {
      made += bytes;
      await count(made, maxBytes);
    },
    claim: () => hold(maxBytes * HELD_FACTOR),
    async holding(bytes) {
      if (bytes > LIGHT_BYTES) await hold(bytes);
    },
    async cutting(bytes) {
      if (bytes > LIGHT_BYTES) await hold(maxBytes * HELD_FACTOR);
    },
    reserve(bytes) {
      if (bytes > freeBytes) return false;
      freeBytes -= bytes;
      return true;
    },
    async sending(bytes) {
      if (bytes > LIGHT_ANSWER_BYTES) {
        hasNoTimeout = true;
        await hold(bytes);
      }
      (await grant)?.shrink(bytes);
    },
    waitWithoutTimeout() {
      hasNoTimeout = true;
    },
    failure: () => failure,
    release() {
      isReleased = true;
      grant?.then(
        (granted) => granted.release(),
        () => undefined,
      );
    },
  };
}

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

/** Runs a slice of work on large answers. */
type Pace = <T>(run: () => T | Promise<T>) => Promise<T>;

/** Size of a slice, in bytes: it takes a few milliseconds of this process. */
export const SLICE_BYTES = 262_144;
/** Pause after a slice, as a multiple of the duration of the slice. */
const PAUSE_FACTOR = 2;
/** Longest pause, in milliseconds: the time of a slice may have been spent in MongoDB. */
const MAX_PAUSE_MS = 20;

/** Duration of a slice of {@link runInSlices}, in milliseconds. */
const SLICE_MS = 10;

/** Runs work that is divided into short steps to its end, in slices of some of its steps. */
export async function runInSlices<T>(pace: Pace, steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const last = await pace(() => {
      const endsAt = performance.now() + SLICE_MS;
      let step = steps.next();
      while (!step.done && performance.now() < endsAt) step = steps.next();
      return step;
    });
    if (last.done) return last.value;
  }
}

/**
 * Runs one slice at a time in the process, with a pause after each, so that small answers are sent in
 * between, however many large answers are being made.
 */
export function createPace(): Pace {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const slice = last.then(async () => {
      const startedAt = performance.now();
      const result = await run();
      return { result, pauseMs: Math.min(MAX_PAUSE_MS, (performance.now() - startedAt) * PAUSE_FACTOR) };
    });
    last = slice.then(
      ({ pauseMs }) => delay(pauseMs),
      () => undefined,
    );
    return slice.then(({ result }) => result);
  };
}
