import type { ExecutionArgs, ExecutionResult } from "graphql";
import { expect, test } from "vitest";
import { createAnswerBytes, createByteBudget } from "../load/answer-bytes.ts";
import { boundSubscribe, createMadeTexts, resultsIterator } from "./subscriptions.ts";

const MIB = 1_048_576;
const LARGE = {
  request: { rows: Array.from({ length: 60_000 }, (_, n) => ({ n, text: '\n"é'.repeat(10) })) },
};
const LARGE_TEXT = JSON.stringify(LARGE);

/** Readers of the same results, with limits that count the slices of work. */
function bounded(results: readonly ExecutionResult[], maxBytes = 8 * MIB) {
  let slices = 0;
  const budget = createByteBudget({ maxBytes: 48 * MIB });
  const pace = async <T>(run: () => T | Promise<T>): Promise<T> => {
    slices += 1;
    return run();
  };
  const bytes = createAnswerBytes({ maxBytes, inlineBytes: 65_536, budget, pace }, { tenant: "t" });
  const texts = createMadeTexts();
  const subscribe = boundSubscribe(async () => {
    const left = [...results];
    return resultsIterator(
      async () => {
        const value = left.shift();
        return value ? { done: false, value } : { done: true, value: undefined };
      },
      async () => undefined,
    );
  }, texts);
  return {
    texts,
    heldBytes: () => budget.heldBytes(),
    slices: () => slices,
    async follow() {
      const source = await subscribe({ contextValue: { bytes, tenant: "t" } } as unknown as ExecutionArgs);
      if (!(Symbol.asyncIterator in source)) throw new TypeError("refused");
      return source;
    },
  };
}

/** The message of a library. */
const messageOf = (payload: unknown): string => JSON.stringify({ id: "1", type: "next", payload });

test("the text of a large result is made in slices, once for all readers, and replaces its mark in each message", async () => {
  const { texts, heldBytes, slices, follow } = bounded([{ data: LARGE }, { data: { small: 1 } }]);
  const readers = await Promise.all([follow(), follow()]);
  const results = await Promise.all(readers.map((reader) => reader.next()));
  expect(slices()).toBeGreaterThan(3);
  for (const { value } of results) {
    const message = messageOf(value);
    expect(message.length).toBeLessThan(200);
    expect(texts.fill(message)).toBe(messageOf({ data: LARGE }));
  }
  expect(heldBytes()).toBe(2 * Buffer.byteLength(LARGE_TEXT));
  const made = slices();
  const last = await Promise.all(readers.map((reader) => reader.next()));
  expect(last.map(({ value }) => texts.fill(messageOf(value)))).toEqual(
    Array(2).fill(messageOf({ data: { small: 1 } })),
  );
  expect({ heldBytes: heldBytes(), slices: slices() }).toEqual({ heldBytes: 0, slices: made });
});

test("a reader that leaves holds no memory, and a result above the limit is an error, after which the next one follows", async () => {
  const first = bounded([{ data: LARGE }]);
  const reader = await first.follow();
  await reader.next();
  await reader.return?.();
  expect(first.heldBytes()).toBe(0);
  const second = bounded([{ data: LARGE }, { data: { small: 1 } }], MIB);
  const states = await second.follow();
  expect((await states.next()).value).toMatchObject({
    data: null,
    errors: [{ originalError: { code: "ANSWER_TOO_LARGE" } }],
  });
  expect((await states.next()).value).toEqual({ data: { small: 1 } });
  expect(second.heldBytes()).toBe(0);
});
