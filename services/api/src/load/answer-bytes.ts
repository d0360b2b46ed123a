import { ApiError } from "../errors/api-error.ts";
import { AnswerTooLargeError } from "../errors/input-errors.ts";
import type { ByteBudget, Grant } from "./byte-budget.ts";
import type { Pace } from "./pace.ts";

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
