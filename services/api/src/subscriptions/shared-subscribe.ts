import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute } from "graphql";
import type { AnswerBytes } from "../load/answer-bytes.ts";
import { type Results, resultsIterator } from "./results-iterator.ts";

/** How long a result is shared, in milliseconds: its durations and wait reasons are those at its creation. */
const SHARED_FOR_MS = 500;

/** The context of the subscription for which the result was made. */
type SharedContext = { bytes?: Pick<AnswerBytes, "release"> };

interface Shared {
  madeAt: number;
  result: Promise<ExecutionResult>;
}

/**
 * The `subscribe` of graphql-js, but with one result for all readers of the same state with the same document
 * and variables: a thousand readers of a request cost little more than one. Only for sources whose states
 * belong to one tenant, and whose fields do not depend on the reader.
 */
export function createSharedSubscribe(now: () => number = () => performance.now()) {
  const made = new WeakMap<object, Map<string, Shared>>();
  const names = new WeakMap<object, string>();
  let documents = 0;

  /** Equal documents are one object, see {@link createSubscriptionCheck}. */
  function keyOf({ document, operationName, variableValues }: ExecutionArgs): string {
    const name = names.get(document) ?? `${documents++}`;
    names.set(document, name);
    return JSON.stringify([name, operationName ?? null, variableValues ?? null]);
  }

  function resultOf(args: ExecutionArgs, key: string, state: unknown): Promise<ExecutionResult> {
    const run = async () => {
      try {
        return await execute({ ...args, rootValue: state });
      } finally {
        (args.contextValue as SharedContext | undefined)?.bytes?.release();
      }
    };
    if (typeof state !== "object" || state === null) return run();
    const results = made.get(state) ?? new Map<string, Shared>();
    made.set(state, results);
    const shared = results.get(key);
    if (shared && now() - shared.madeAt < SHARED_FOR_MS) return shared.result;
    const result = run();
    results.set(key, { madeAt: now(), result });
    return result;
  }

  return async (args: ExecutionArgs): Promise<Results | ExecutionResult> => {
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return source;
    const states = source[Symbol.asyncIterator]();
    const key = keyOf(args);
    return resultsIterator(
      async () => {
        const { done, value } = await states.next();
        return done ? { done, value: undefined } : { done: false, value: await resultOf(args, key, value) };
      },
      async () => states.return?.(),
    );
  };
}
