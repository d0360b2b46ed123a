/** GraphQL documents that are none, are not valid, or ask for more than one may. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type RunningApi, startTestApi } from "../running-api.ts";
import { expandMacros } from "./expand-macros.ts";
import { expectRefusal, expectWell, readCases, slowestAnswer, timed, traces } from "./refusals.ts";

const cases = readCases(
  "documents.json",
  z.array(
    z.strictObject({
      name: z.string(),
      query: z.string(),
      operationName: z.string().optional(),
      status: z.number().int().default(400),
      code: z.string().default("GRAPHQL_VALIDATION_FAILED"),
      says: z.string(),
    }),
  ),
);

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

describe("documents", () => {
  afterAll(() => expectWell(running));
  test.each(cases)("$name: $code", async (each) => {
    const before = await traces(running);
    const { query, operationName } = each;
    const body = expandMacros(JSON.stringify({ query, operationName }));
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    expectRefusal(await timed(each.name, () => running.send("/graphql", init)), each);
    expect(await traces(running)).toEqual(before);
  });
});

test("the slowest answer is told", async ({ annotate }) => {
  await annotate(slowestAnswer());
});
