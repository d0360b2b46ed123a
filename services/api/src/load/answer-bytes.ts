import { AnswerTooLargeError, ApiError } from "../errors/api-errors.ts";
import type { ByteBudget, Grant } from "./byte-budget.ts";
import type { Pace } from "./pace.ts";

/** What bounds the answers of a process. */
export interface AnswerLimits {
  /** One answer holds so many bytes at most. */
  maxBytes: number;
  /** Outputs above this size come by reference, in bytes of JSON. */
  inlineBytes: number;
  /** What large answers may hold together. */
  budget: ByteBudget;
  /** Runs the work on large answers in slices. */
  pace: Pace;
}

/** Measures one answer, from the first byte that is read for it to the last one that is sent. */
export interface AnswerBytes {
  readonly limits: AnswerLimits;
  /** True once it holds a part of the budget. */
  isHeavy(): boolean;
  /** To be called before so many bytes are read. @throws {AnswerTooLargeError | OverloadedError} */
  reading(bytes: number): Promise<void>;
  /** The same for text that is made of what was read, and for each time that it is made. */
  making(bytes: number): Promise<void>;
  /** Takes the part of the budget that a heavy answer holds, before anything is read. @throws {OverloadedError} */
  claim(): Promise<void>;
  /** To be called before so many bytes are held at once that are sent as they are, and never are in an answer together. */
  holding(bytes: number): Promise<void>;
  /** The same for what a page is cut out of: the next page of the answer may be cut out of more. */
  cutting(bytes: number): Promise<void>;
  /** Takes room for an output in the answer. False: there is none, so it has to go by reference. */
  place(bytes: number): boolean;
  /** The answer has this size, and is sent now. @throws {OverloadedError} */
  sending(bytes: number): Promise<void>;
  /** From now on it waits for the budget as long as it takes: what was asked for is done, and cannot be refused any more. */
  bePatient(): void;
  /** Why there can be no answer; undefined while there can. */
  failure(): ApiError | undefined;
  /** It was sent, or its client is gone. */
  release(): void;
}

/** Whose answer it is. */
export interface AnswerOwner {
  tenant: string;
  /** Aborted when the client is gone. */
  signal?: AbortSignal | undefined;
}

/** Up to here the budget does not concern what is read for an answer. */
const LIGHT_BYTES = 1_048_576;
/** The same for the answer, whose bytes wait for a client that may be slow. */
export const LIGHT_ANSWER_BYTES = 262_144;
/** So many times the largest answer may be read for one: not everything that is read is told. */
const READ_FACTOR = 2;
/** So many times the largest answer one that is not light holds while it is made. */
const HELD_FACTOR = 3;
/** Part of an answer that outputs may take. */
const OUTPUT_SHARE = 0.75;

/** An answer of which nothing was read yet. */
export function createAnswerBytes(limits: AnswerLimits, { tenant, signal }: AnswerOwner): AnswerBytes {
  const { maxBytes, budget } = limits;
  let read = 0;
  let made = 0;
  let room = maxBytes * OUTPUT_SHARE;
  let isPatient = false;
  let isReleased = false;
  let failure: ApiError | undefined;
  let grant: Promise<Grant> | undefined;

  async function hold(bytes: number): Promise<void> {
    grant ??= budget.acquire({ tenant, bytes, isPatient, signal });
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
    place(bytes) {
      if (bytes > room) return false;
      room -= bytes;
      return true;
    },
    async sending(bytes) {
      if (bytes > LIGHT_ANSWER_BYTES) {
        isPatient = true;
        await hold(bytes);
      }
      (await grant)?.shrink(bytes);
    },
    bePatient() {
      isPatient = true;
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
