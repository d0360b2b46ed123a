import { type JsonObject, JsonText, type JsonValue } from "@planwright/plan";
import { expect, test } from "vitest";
import type { Call, Outcome } from "../src/index.ts";
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

const IN_DATA = "what it answered is in the data of this error";

/** The results of the items; they are the same when another thread reads the answer. */
const resultsOf = (answer: JsonValue, { items = ITEMS as JsonValue[], one = tool("t", BATCH) } = {}) => {
  const read = (largeBytes?: number) => {
    const run = simulate(plan(items), [one], {
      outcome: () => completed(answer),
      ...(largeBytes !== undefined && { largeBytes }),
    });
    return [...run.records.values()]
      .filter(({ item }) => item !== undefined)
      .map(({ status, output, error }) =>
        status === "COMPLETED" ? output : `${status} ${error?.code}: ${error?.message}`,
      );
  };
  const results = read();
  const large = (told: JsonValue | undefined) =>
    typeof told === "string" ? told.replace(IN_DATA, "it is too large to be kept") : told;
  expect(read(0)).toEqual(results.map((told) => large(told as JsonValue)));
  return results;
};

/** A text that only another thread reads. */
class Unread extends JsonText {
  override value(): never {
    throw new TypeError("It was read as a value");
  }
}

test.each<[string, (output: JsonText) => Outcome]>([
  ["a list", (output) => ({ type: "completed", output })],
  [
    "a list beside an error",
    (output) => ({
      type: "failed",
      error: { code: "TOOL_FAILED", message: "one failed", retryable: false },
      effect: "reported",
      answer: { type: "completed", output },
    }),
  ],
])("the engine asks another thread what a large answer says about the items of %s", (_, give) => {
  const results = [OK(0, "a"), entry(1, { status: "error" }), OK(2, { n: 3 }), OK(3, null)];
  const text = JSON.stringify({ results, summary: { ok: 3, error: 1 } });
  const run = simulate(plan(ITEMS), [write("t", BATCH)], {
    outcome: () => give(new Unread(text, text.length)),
  });
  const items = [...run.records.values()].filter(({ item }) => item !== undefined);
  expect(items.map(({ status, output }) => [status, output])).toEqual([
    ["COMPLETED", "a"],
    ["FAILED", undefined],
    ["COMPLETED", { n: 3 }],
    ["COMPLETED", null],
  ]);
});

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
    new Set([`FAILED TOOL_RESULT_INVALID: t did not answer with one result for each of 4 items; ${IN_DATA}`]),
  );
});

test.each<[string, JsonValue]>([
  ["null", null],
  ["too few results", [1, 2]],
  ["a text", "done"],
])("a batch that is answered with %s keeps the answer in the error of each item", (_, answer) => {
  const run = simulate(plan(ITEMS), [write("t", BATCH)], { outcome: () => completed(answer) });
  const items = [...run.records.values()].filter(({ item }) => item !== undefined);
  expect(items.map(({ error }) => error?.data)).toEqual(ITEMS.map(() => ({ answer })));
});

test("a batch of which one item is sent may answer with the one result instead of a list", () => {
  const one = tool("t", { batch: { param: "list", max: 10, result_path: "made" } });
  const items = [{ v: 10 }, {}, {}, {}];
  const run = simulate(plan(items, { do: { tool: "t", arguments: { list: ["<<item.v>>"] } } }), [one], {
    outcome: () => completed({ made: { id: 10 } }),
  });
  expect(run.calls.map(({ call }) => call.arguments)).toEqual([{ list: [10] }]);
  expect(run.records.get("f[0]")).toMatchObject({ status: "COMPLETED", output: { id: 10 } });
});

const FAILED_AT_2 = {
  results: [
    OK(0, "a"),
    entry(1, { status: "error", error: { code: "SOLD_OUT", message: "sold out" } }),
    OK(2, "c"),
  ],
  summary: { ok: 2, error: 1 },
};
const NONE_OK = { results: [entry(0, { status: "error" })], summary: { ok: 0, error: 1 } };
const direct = (list: JsonValue = [1, 2, 3]) => [
  { id: "b", tool: "t", arguments: { list } },
  { id: "after", tool: "t", arguments: { list: [] }, dependsOn: ["b"] },
];
const partial = { error_propagation: "partial-success" };
const says = "1 of 3 items of step 'b' failed: item 1: sold out";
/** The answer of a tool that also says that it failed. */
const alsoFailed = (data: JsonValue): Outcome => ({
  type: "failed",
  error: { code: "TOOL_FAILED", message: "one failed", retryable: false, data },
  effect: "reported",
});

test.each<[string, JsonObject, (data: JsonValue) => Outcome]>([
  ["", {}, completed],
  [" that says that it failed", {}, alsoFailed],
  [" under result_path", { result_path: "made" }, (data) => completed({ made: data })],
])("a batch tool that is called directly fails its step when items failed: an answer%s", (_, more, give) => {
  const one = write("t", { batch: { ...BATCH.batch, ...more } });
  const run = simulate(planOf(direct()), [one], { outcome: () => give(FAILED_AT_2) });
  expect(run.records.get("b")).toMatchObject({
    status: "FAILED",
    error: { code: "ITEMS_FAILED", message: says, data: { ok: 2, error: 1 } },
  });
  expect(JSON.stringify(run.records.get("b")?.error?.data)).toContain("SOLD_OUT");
  expect([run.finish?.status, run.calls.length]).toEqual(["FAILED", 1]);
});

test.each<
  [string, (data: JsonValue) => Outcome, { memoryBytes?: number; largeBytes?: number; asks?: string[] }]
>([
  ["", completed, {}],
  [" that says that it failed", alsoFailed, {}],
  [" that is read again at the end", completed, { memoryBytes: 0 }],
  [" that is large", completed, { largeBytes: 0, asks: ["shortfall"] }],
  [" that is large and says that it failed", alsoFailed, { largeBytes: 0, asks: ["shortfall"] }],
  [
    " that is large and read again at the end",
    completed,
    { largeBytes: 0, memoryBytes: 0, asks: ["shortfall"] },
  ],
])(
  "with partial-success the step is completed and the plan PARTIAL: an answer%s",
  (_, give, { asks = [], ...options }) => {
    const answers = (call: Call) => (call.stepId === "b" ? give(FAILED_AT_2) : completed({}));
    const run = simulate(planOf(direct()), [write("t", { ...BATCH, ...partial })], {
      outcome: answers,
      ...options,
    });
    const asked = run.commands.flatMap((command) =>
      command.type === "ask" ? [command.question.asks.type] : [],
    );
    expect(asked).toEqual(asks);
    expect(run.records.get("b")).toMatchObject({ status: "COMPLETED", output: FAILED_AT_2 });
    expect(run.records.get("b")?.warnings).toContain(`ITEMS_FAILED: ${says}`);
    expect(run.finish).toMatchObject({ status: "PARTIAL", error: { code: "ITEMS_FAILED", message: says } });
    expect(run.statuses["after"]).toBe("COMPLETED");
  },
);

test("a plan is PARTIAL by a batch that was called directly also when it goes on in another process", () => {
  const answers = (call: Call) => completed(call.stepId === "b" ? FAILED_AT_2 : {});
  const first = simulate(planOf(direct()), [write("t", { ...BATCH, ...partial })], {
    outcome: answers,
    memoryBytes: 0,
    crashAfterEvents: 4,
  });
  expect(first.statuses).toMatchObject({ b: "COMPLETED" });
  const run = simulate(
    planOf(direct(), {}, ["after"]),
    [write("t", { ...BATCH, ...partial, idempotency: "natural" })],
    {
      outcome: answers,
      memoryBytes: 0,
      records: [...first.records.values()],
    },
  );
  expect(run.finish).toMatchObject({ status: "PARTIAL", error: { message: says } });
});

test("with partial-success a direct call of which no item succeeded fails", () => {
  const run = simulate(planOf(direct()), [tool("t", BATCH)], { outcome: () => completed(NONE_OK) });
  expect(run.records.get("b")).toMatchObject({ status: "FAILED", error: { code: "ITEMS_FAILED" } });
});

test("a direct call that answers for fewer items than it was given says so", () => {
  const answer = { results: [OK(0, 1), OK(1, 2)], summary: { ok: 2, error: 0 } };
  const run = simulate(planOf(direct()), [write("t", BATCH)], { outcome: () => completed(answer) });
  expect(run.records.get("b")).toMatchObject({
    status: "COMPLETED",
    warnings: ["OUTPUT_UNEXPECTED: output: declared a result for each of 3 items, returned 2"],
  });
});

test("a list with an error beside the results of its items keeps what each item says", () => {
  const results = [OK(0, "a"), entry(1, { status: "error" }), OK(2, "c"), OK(3, "d")];
  const answer = { results, summary: { ok: 3, error: 1 } };
  const run = simulate(plan(ITEMS), [write("t", BATCH)], { outcome: () => alsoFailed(answer) });
  const statuses = [0, 1, 2, 3].map((index) => run.records.get(`f[${index}]`)?.status);
  expect(statuses).toEqual(["COMPLETED", "FAILED", "COMPLETED", "COMPLETED"]);
  expect(run.records.get("f[0]")?.warnings).toEqual([
    "t reported an error beside the results of its items: one failed",
  ]);
});

test("a call with more items than batch.max is not sent", () => {
  const steps = [
    { id: "a", tool: "t" },
    { id: "b", tool: "t", arguments: { list: "<<a>>" } },
  ];
  const run = simulate(planOf(steps), [write("t", { batch: { param: "list", max: 3 } })], {
    outcome: () => completed([1, 2, 3, 4]),
  });
  expect(run.records.get("b")).toMatchObject({
    status: "FAILED",
    error: {
      code: "ARGUMENTS_INVALID",
      message: expect.stringContaining("has 4 items, and a call takes at most 3"),
    },
  });
  expect(run.calls).toHaveLength(1);
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
