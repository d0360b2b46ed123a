import { expect, test } from "vitest";
import type { CostRecord } from "../operations.ts";
import { costLines } from "./fleet-lines.ts";

const style = (_: unknown, text: string) => text;
const cost = (more: Partial<CostRecord>): CostRecord => ({
  calls: 1,
  failures: 0,
  unended: 0,
  unpriced: 0,
  inputTokens: 1_000,
  cachedInputTokens: 0,
  outputTokens: 100,
  costUsd: 0.0125,
  ...more,
});
const time = { from: "2026-11-23T10:00:00.000Z", before: "2026-11-24T10:00:00.000Z", isComplete: true };
const columns = Number.POSITIVE_INFINITY;

test("costs are shown by model, in total and by request; what is not known is named", () => {
  const total = cost({ calls: 4, failures: 1, unended: 1, unpriced: 1, costUsd: 3 });
  const models = [
    { model: "openai:x", cost: cost({ calls: 3, unended: 1, costUsd: 3 }) },
    { model: "openai:y", cost: cost({ failures: 1, unpriced: 1, costUsd: 0 }) },
  ];
  const requestId = "req_1795253322_b8dzgomm7f8z2yi7kyqz";
  const requests = [{ requestId, title: "Write a poem", cost: total }];
  expect(costLines({ ...time, total, models, requests }, { columns, style })).toEqual([
    "Model calls from 2026-11-23T10:00:00Z to 2026-11-24T10:00:00Z",
    "",
    "MODEL     CALLS  FAILED     TOKENS IN  CACHED  TOKENS OUT  USD",
    "openai:x  3      0          1000       0       100         3.00",
    "openai:y  1      1 (100 %)  1000       0       100         ?",
    "total     4      1 (25 %)   1000       0       100         3.00 + ?",
    "?: the price of 1 call is not known; MODEL_PRICES_FILE sets prices",
    "Not in the sums: 1 call without an end",
    "",
    "USD       REQUEST                              SENTENCE",
    `3.00 + ?  ${requestId}  Write a poem`,
  ]);
});

test.each([40, 60, 80])("the tables of costs fit a terminal of %d columns", (columns) => {
  const large = cost({ calls: 12_345, failures: 321, inputTokens: 1_234_567_890, costUsd: 1_234.5 });
  const models = [{ model: `openai:${"of-a-long-name-".repeat(4)}`, cost: large }];
  const lines = costLines({ ...time, total: large, models, requests: [] }, { columns, style }).slice(2);
  expect(lines.length).toBeGreaterThan(3);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
});

test("a time without a call says so", () => {
  const none = { ...time, total: cost({ calls: 0 }), models: [], requests: [] };
  expect(costLines(none, { columns, style })).toEqual([
    "No model was called from 2026-11-23T10:00:00Z to 2026-11-24T10:00:00Z.",
  ]);
});
