/** GraphQL documents that are malformed, invalid, or exceed a limit. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { z } from "zod";
import { expectRefusal, firstOfEach, RefusalSchema, readCases } from "./refusals.ts";
import { type RunningSystem, startRunningSystem } from "./running-system.ts";

const cases = readCases(
  "documents.json",
  z.array(
    z.strictObject({
      ...RefusalSchema,
      status: RefusalSchema.status.default(400),
      code: RefusalSchema.code.default("GRAPHQL_VALIDATION_FAILED"),
      query: z.string(),
      operationName: z.string().optional(),
    }),
  ),
);

let running: RunningSystem;
beforeAll(async () => {
  running = await startRunningSystem("documents.json");
});
afterAll(() => running.close());

describe("documents", () => {
  afterAll(() => running.expectWorking());
  for (const { cases: some, options } of firstOfEach(cases))
    test.each(some)("$name: $code", options, async (each) => {
      const { name, query, operationName } = each;
      expectRefusal(await running.play(name, () => running.post("/graphql", { query, operationName })), each);
    });
});
