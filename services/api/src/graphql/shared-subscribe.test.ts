import { makeExecutableSchema } from "@graphql-tools/schema";
import { type DocumentNode, type ExecutionResult, parse } from "graphql";
import { expect, test } from "vitest";
import { createSharedSubscribe } from "./subscriptions.ts";

const STATES = [{ n: 1 }, { n: 2 }];
const FOLLOW = parse("subscription ($by: Int!) { times(by: $by) }");

/** Subscriptions over the same states, and the number of calls of their resolver. */
function following() {
  let resolved = 0;
  let nowMs = 0;
  const schema = makeExecutableSchema({
    typeDefs: "type Query { no: Int } type Subscription { times(by: Int!): Int }",
    resolvers: {
      Subscription: {
        times: {
          async *subscribe() {
            yield* STATES;
          },
          resolve: ({ n }: { n: number }, { by }: { by: number }) => {
            resolved += 1;
            return n * by;
          },
        },
      },
    },
  });
  const subscribe = createSharedSubscribe(() => nowMs);
  return {
    async read(by: number, document: DocumentNode = FOLLOW): Promise<unknown[]> {
      const results = await subscribe({ schema, document, variableValues: { by } });
      if (!(Symbol.asyncIterator in results)) throw new TypeError("refused");
      const values: ExecutionResult[] = [];
      for await (const result of results) values.push(result);
      return values.map(({ data }) => data?.["times"]);
    },
    resolved: () => resolved,
    pass: (ms: number) => (nowMs += ms),
  };
}

test("readers of the same state with the same document and variables share one result", async () => {
  const { read, resolved } = following();
  expect(await Promise.all([read(10), read(10), read(10)])).toEqual(Array(3).fill([10, 20]));
  expect(resolved()).toBe(2);
});

test("other variables, other documents and later readers get separate results", async () => {
  const { read, resolved, pass } = following();
  expect(await read(10)).toEqual([10, 20]);
  expect(await read(3)).toEqual([3, 6]);
  expect(await read(10, parse("subscription { times(by: 7) }"))).toEqual([7, 14]);
  pass(1_000);
  expect(await read(10)).toEqual([10, 20]);
  expect(resolved()).toBe(8);
});
