import { hash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type CallContext, CallOpenError, Refusal } from "./define-tool.ts";

/**
 * Keeps the answers of calls by idempotency key. Two functions over one table with a unique key:
 * {@link memoryAnswers}, `mongoAnswers`, or your own over your database. A key must be kept for longer than a
 * plan may run and an operator may take to run it again.
 */
export interface AnswerStore {
  /**
   * Takes a key for a call, in one atomic write that is durable when it returns.
   *
   * @param call - digest of the tool and its arguments, to keep beside the key
   * @returns undefined for exactly one caller, in all processes: it may act. What is kept for all others.
   */
  take(key: string, call: string): Promise<KeptAnswer | undefined>;
  /**
   * Ends the call that took the key. Durable when it returns.
   *
   * @param answer - JSON text to keep; undefined: nothing happened, and the key is free again
   */
  settle(key: string, answer: string | undefined): Promise<void>;
}

/** What a store keeps under a key. */
export interface KeptAnswer {
  /** Digest of the call that took the key. */
  call: string;
  /** JSON text; null until the call has ended, and for ever when it died before. */
  answer: string | null;
}

/**
 * The answer under a key; null when it has none: its call still runs, failed or died.
 * @throws {CallOpenError} when another call took the key: that one may have acted, so this is no refusal
 */
export function answerFor(call: string, kept: KeptAnswer, { tool }: CallContext): string | null {
  if (kept.call === call) return kept.answer;
  throw new CallOpenError(
    `The idempotency key was already used for another call of ${tool}, which may have acted`,
  );
}

/**
 * The answer as JSON text. A call that returns nothing has acted too: its answer is null, since no text would say
 * that nothing happened.
 */
export function answerText(output: unknown): string {
  return JSON.stringify(output) ?? "null";
}

/** For a key without an answer. */
export function noAnswer(tool: string): CallOpenError {
  return new CallOpenError(`An earlier call of ${tool} with this key has no answer; it may have acted`);
}

/**
 * Wraps the `run` of a tool: of all calls with one key one runs, and all get its answer, also those that come
 * at the same time, in other processes, or after a restart. A call without a key just runs.
 *
 * 1. The key is taken before `run` and the answer kept after it, both durably.
 * 2. A refusal is not kept: nothing happened, so its key is free, and a repeat may succeed when the reason is
 *    gone.
 * 3. After any other error, and after a crash between taking the key and keeping the answer, the effect may
 *    have happened. The key stays taken without an answer, and no repeat runs: each ends as a call whose
 *    effect is not known, so that a person decides.
 * 4. A key that another call took does not run either, and says that the other call may have acted.
 *
 * Where the effect is in your own database, rule 3 can be avoided: write the key, the answer and the effect in
 * one transaction (`onceInTransaction` for MongoDB), or in one document.
 *
 * @param options.waitMs - how long a repeat waits for the answer of a call that is still running. Default 10 s
 */
export function once<Input, Output extends object>(
  answers: AnswerStore,
  run: (input: Input, context: CallContext) => Output | Promise<Output>,
  { waitMs = 10_000 }: { waitMs?: number } = {},
): (input: Input, context: CallContext) => Promise<Output> {
  return async (input, context) => {
    const { key } = context;
    if (key === undefined) return await run(input, context);
    const earlier = await takeOrWait(answers, key, context, waitMs);
    if (earlier !== undefined) return JSON.parse(earlier) as Output;
    try {
      const output = await run(input, context);
      await answers.settle(key, answerText(output));
      return output;
    } catch (error) {
      if (error instanceof Refusal) await freeKey(answers, key, context);
      throw error;
    }
  };
}

/** The answer of the call that has the key; undefined when the key is taken for this call. */
async function takeOrWait(
  answers: AnswerStore,
  key: string,
  context: CallContext,
  waitMs: number,
): Promise<string | undefined> {
  const call = callDigest(context);
  const waitUntil = performance.now() + waitMs;
  for (let delayMs = 10; ; delayMs = Math.min(delayMs * 2, 500)) {
    context.signal.throwIfAborted();
    const kept = await answers.take(key, call);
    if (kept === undefined) return undefined;
    const answer = answerFor(call, kept, context);
    if (answer !== null) return answer;
    if (performance.now() >= waitUntil) throw noAnswer(context.tool);
    await setTimeout(delayMs, undefined, { signal: context.signal });
  }
}

/** The refusal is true whether or not its key can be freed, so it is never replaced by another error. */
async function freeKey(answers: AnswerStore, key: string, { log }: CallContext): Promise<void> {
  try {
    await answers.settle(key, undefined);
  } catch (error) {
    log("the key of a refused call is still taken: its repeats get no answer", { error });
  }
}

/** Digest of a tool and the arguments as they were sent, in which the order of fields does not count. */
export function callDigest({ tool, arguments: given }: Pick<CallContext, "tool" | "arguments">): string {
  const sorted = (_name: string, value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : value;
  return hash("sha256", JSON.stringify([tool, given], sorted));
}

/**
 * Keeps answers in the memory of this process, for tests, and for tools whose effects are in the same memory.
 * After a restart a repeat acts again.
 * @param options.keepMs - how long a key is kept. Default 24 h
 */
export function memoryAnswers({ keepMs = 86_400_000 }: { keepMs?: number } = {}): AnswerStore {
  /** In the order in which the keys were taken. */
  const kept = new Map<string, KeptAnswer & { takenAt: number }>();
  return {
    async take(key, call) {
      const now = performance.now();
      for (const [old, { takenAt }] of kept) {
        if (now - takenAt < keepMs) break;
        kept.delete(old);
      }
      const found = kept.get(key);
      if (found === undefined) kept.set(key, { call, answer: null, takenAt: now });
      return found;
    },
    async settle(key, answer) {
      const found = kept.get(key);
      if (answer === undefined) kept.delete(key);
      else if (found !== undefined) found.answer = answer;
    },
  };
}
