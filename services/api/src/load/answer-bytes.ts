import { setTimeout as delay } from "node:timers/promises";
import { unmarkNumbers } from "@planwright/plan";
import { AnswerTooLargeError, ApiError, OverloadedError } from "../errors/api-error.ts";
import type { ApiMetrics } from "../errors/telemetry.ts";

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
interface AnswerOwner {
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
      if (bytes > LIGHT_ANSWER_BYTES) await hold(bytes);
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
const SLICE_BYTES = 262_144;
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

/*
 * A memory budget for all heavy answers of this process: bytes that were read for them, and bytes that wait
 * to be sent.
 *
 * 1. All grants together never exceed the budget, and one tenant never holds more than half of it.
 * 2. The tenant that holds least is served first, its callers in order. A caller that does not fit is not
 *    overtaken.
 * 3. A caller waits for a short time. After that, or when too many callers of its tenant wait, it is refused.
 *    A caller whose operation has taken effect is never refused.
 */

/** Settings of {@link createByteBudget}. */
interface ByteBudgetOptions {
  /** Limit of all grants together. */
  maxBytes: number;
  /** How long a caller waits before it is refused, in milliseconds. Default 2,000. */
  waitMs?: number | undefined;
  /** Counts refusals. Default: nothing is counted. */
  metrics?: Pick<ApiMetrics, "refused"> | undefined;
  /** Uniform in [0, 1). Default: Math.random. */
  random?: (() => number) | undefined;
}

/** A request for a grant. */
export interface GrantRequest {
  tenant: string;
  /** At most half of the budget is granted. */
  bytes: number;
  /** True: waits without a timeout. */
  hasNoTimeout: boolean;
  /** Aborted when the client disconnects: then the caller is refused. */
  signal?: AbortSignal | undefined;
}

/** Bytes that a caller holds. */
export interface Grant {
  /** Releases everything above this many bytes. */
  shrink(bytes: number): void;
  /** Releases all bytes. Safe to call twice. */
  release(): void;
}

/** The budget of a process. */
interface ByteBudget {
  /** @throws {OverloadedError} */
  acquire(request: GrantRequest): Promise<Grant>;
  /** Bytes that are held now. */
  heldBytes(): number;
}

const WAIT_MS = 2_000;
/** Most callers of one tenant that wait at once. */
const MAX_WAITING = 64;
/** Clients may retry after 1 to 2 times this time, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

interface Waiting extends GrantRequest {
  grant: () => void;
}

/** An unused budget. */
export function createByteBudget(options: ByteBudgetOptions): ByteBudget {
  const { maxBytes, waitMs = WAIT_MS, metrics, random = Math.random } = options;
  const share = Math.floor(maxBytes / 2);
  const heldBy = new Map<string, number>();
  let held = 0;
  let waiting: readonly Waiting[] = [];

  const heldOf = (tenant: string): number => heldBy.get(tenant) ?? 0;

  function change(tenant: string, bytes: number): void {
    held += bytes;
    const own = heldOf(tenant) + bytes;
    if (own === 0) heldBy.delete(tenant);
    else heldBy.set(tenant, own);
  }

  /** Grants as many callers as fit, in the order of invariant 2. */
  function serve(): void {
    for (;;) {
      const [next] = waiting
        .filter(({ tenant, bytes }) => heldOf(tenant) + bytes <= share)
        .toSorted((a, b) => heldOf(a.tenant) - heldOf(b.tenant));
      if (!next || held + next.bytes > maxBytes) return;
      waiting = waiting.filter((one) => one !== next);
      next.grant();
    }
  }

  function grantOf(tenant: string, granted: number): Grant {
    let own = granted;
    change(tenant, own);
    const shrink = (bytes: number): void => {
      if (bytes >= own) return;
      change(tenant, bytes - own);
      own = bytes;
      serve();
    };
    return { shrink, release: () => shrink(0) };
  }

  function overloaded(): OverloadedError {
    metrics?.refused("bytes");
    return new OverloadedError(
      "large answers use all the memory reserved for them; small answers still work",
      Math.round(RETRY_AFTER_MS * (1 + random())),
    );
  }

  return {
    async acquire({ bytes: asked, ...request }) {
      const { tenant, hasNoTimeout, signal } = request;
      const bytes = Math.min(asked, share);
      const isCrowded = waiting.filter((one) => one.tenant === tenant).length >= MAX_WAITING;
      if (signal?.aborted || (isCrowded && !hasNoTimeout)) throw overloaded();
      return new Promise((resolve, reject) => {
        const settle = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", refuse);
        };
        const refuse = (): void => {
          settle();
          waiting = waiting.filter((one) => one !== own);
          reject(overloaded());
          serve();
        };
        const own: Waiting = {
          ...request,
          bytes,
          grant() {
            settle();
            resolve(grantOf(tenant, bytes));
          },
        };
        const timer = hasNoTimeout ? undefined : setTimeout(refuse, waitMs);
        signal?.addEventListener("abort", refuse, { once: true });
        waiting = [...waiting, own];
        serve();
      });
    },
    heldBytes: () => held,
  };
}

/** Most parts in one read, which limits the list of ids. */
const MAX_PARTS = 500;

/**
 * Reads parts of known sizes. They are counted before the read, and read in slices for a heavy answer.
 * @throws {AnswerTooLargeError | OverloadedError}
 */
export async function readInSlices<Wanted extends { sizeBytes: number }, Found>(
  bytes: AnswerBytes,
  wanted: readonly Wanted[],
  read: (slice: readonly Wanted[]) => Promise<Found[]>,
): Promise<Found[]> {
  await bytes.reading(wanted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  const { pace } = bytes.limits;
  const found: Found[] = [];
  for (const slice of slicesBySize(wanted)) {
    found.push(...(bytes.isHeavy() ? await pace(() => read(slice)) : await read(slice)));
  }
  return found;
}

/** Divides parts into slices, in order; a part that is larger than a slice gets its own slice. Pure. */
function slicesBySize<Wanted extends { sizeBytes: number }>(wanted: readonly Wanted[]): Wanted[][] {
  const slices: Wanted[][] = [];
  let last: Wanted[] = [];
  let freeBytes = 0;
  for (const one of wanted) {
    if (one.sizeBytes > freeBytes || last.length === MAX_PARTS) {
      last = [];
      slices.push(last);
      freeBytes = SLICE_BYTES;
    }
    last.push(one);
    freeBytes -= one.sizeBytes;
  }
  return slices;
}
