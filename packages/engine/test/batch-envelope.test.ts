import type { JsonObject, JsonValue } from "@planwright/plan";
import { expect, test } from "vitest";
import { completed, planOf, simulate, tool, write } from "./simulate.ts";

const BATCH = { batch: { param: "list", max: 10 } };
const plan = (items: JsonValue[], forEach: JsonObject = {}) =>
  planOf([
    {
      id: "f",
      forEach: { items, errors: "collect", do: { tool: "t", arguments: { list: ["<<item>>"] } }, ...forEach },
    },
  ]);
const ITEMS = [10, 20, 30, 40];
const entry = (index: number, more: JsonObject) => ({ index, key: String(index), ...more });
const OK = (index: number, data: JsonValue) => entry(index, { status: "ok", data });

const resultsOf = (answer: JsonValue, { items = ITEMS as JsonValue[], one = tool("t", BATCH) } = {}) => {
  const run = simulate(plan(items), [one], { outcome: () => completed(answer) });
  return [...run.records.values()]
    .filter(({ item }) => item !== undefined)
    .map(({ status, output, error }) =>
      status === "COMPLETED" ? output : `${status} ${error?.code}: ${error?.message}`,
    );
};

test("an answer in the form of an envelope is unwrapped, with ok and error entries", () => {
  const error = { code: "NO_SUCH", message: "gone" };
  const results = [OK(0, { id: 1 }), OK(1, null), entry(2, { status: "error", error }), OK(3, "x")];
  const answer = { results, summary: { ok: 3, error: 1 } };
  expect(resultsOf(answer)).toEqual([{ id: 1 }, null, "FAILED NO_SUCH: gone", "x"]);
});

test("an envelope is found at result_path too", () => {
  const one = tool("t", { batch: { ...BATCH.batch, result_path: "made" } });
  const results = ITEMS.map((item, index) => OK(index, item));
  expect(resultsOf({ made: { results, summary: { ok: 4, error: 0 } } }, { one })).toEqual(ITEMS);
});

test("entries are matched by their index, in any order", () => {
  const results = [3, 1, 0, 2].map((index) => OK(index, index));
  expect(resultsOf({ results })).toEqual([0, 1, 2, 3]);
});

test("an item without an entry has failed, or is in doubt when the tool may have acted; the others keep their results", () => {
  const answer = { results: [OK(0, "a"), OK(3, "d")], summary: { ok: 2, error: 0 } };
  const missing = "TOOL_RESULT_INVALID: The tool gave no result for this item";
  expect(resultsOf(answer)).toEqual(["a", `FAILED ${missing}`, `FAILED ${missing}`, "d"]);
  const one = write("t", BATCH);
  expect(resultsOf(answer, { one })).toEqual(["a", `IN_DOUBT ${missing}`, `IN_DOUBT ${missing}`, "d"]);
});

test("entries with the status skipped or in_doubt are not a success", () => {
  const results = [OK(0, 1), entry(1, { status: "skipped" }), entry(2, { status: "in_doubt" }), OK(3, 4)];
  const skipped = "FAILED TOOL_FAILED: The tool skipped this item";
  const doubt = "TOOL_FAILED: The tool does not know whether it acted";
  expect(resultsOf({ results })).toEqual([1, skipped, `FAILED ${doubt}`, 4]);
  const one = write("t", BATCH);
  expect(resultsOf({ results }, { one })).toEqual([1, skipped, `IN_DOUBT ${doubt}`, 4]);
});

test("an envelope is unwrapped also when the tool was called for one item", () => {
  const error = { code: "NO_SUCH", message: "gone" };
  expect(resultsOf({ results: [OK(0, 7)], summary: { ok: 1, error: 0 } }, { items: [1] })).toEqual([7]);
  const answer = { results: [entry(0, { status: "error", error })], summary: { ok: 0, error: 1 } };
  expect(resultsOf(answer, { items: [1] })).toEqual(["FAILED NO_SUCH: gone"]);
});

test.each<[string, JsonValue]>([
  ["results with a status of their own", ITEMS.map((value) => ({ status: "ok", value }))],
  ["results with data but neither index nor summary", ITEMS.map((data) => ({ status: "ok", data }))],
  ["results of which only some are entries", [OK(0, 1), OK(1, 2), OK(2, 3), { status: "ok", value: 4 }]],
])("%s stay as they are: that is no envelope", (_, results) => {
  expect(resultsOf({ results })).toEqual(results);
});

test("a tool without batches may answer with any value, even an envelope", () => {
  const answer = { results: [OK(0, 7)], summary: { ok: 1, error: 0 } };
  expect(resultsOf(answer, { items: [1], one: tool("t") })).toEqual([answer]);
});

test("an envelope whose entries do not match the sent items fails them all", () => {
  const results = [OK(0, 1), OK(9, 2)];
  expect(new Set(resultsOf({ results, summary: { ok: 2, error: 0 } }))).toEqual(
    new Set(["FAILED TOOL_RESULT_INVALID: t did not answer with one result for each of 4 items"]),
  );
});

test("an item that a batch reports as failed stops a list with errors: stop", () => {
  const one = write("t", { batch: { param: "list", max: 4 } });
  const items = [1, 2, 3, 4, 5, 6, 7, 8];
  const results = [0, 1, 2, 3].map((index) =>
    index === 2 ? entry(index, { status: "error", error: { code: "X", message: "no" } }) : OK(index, index),
  );
  const run = simulate(plan(items, { errors: "stop", concurrency: 1 }), [one], {
    outcome: () => completed({ results, summary: { ok: 3, error: 1 } }),
  });
  expect(run.calls.map(({ call }) => call.key)).toEqual(["f[0..3]"]);
  expect(run.statuses["f"]).toBe("FAILED");
});
