import type { JsonValue, Plan } from "@planwright/plan";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { heldBytesOf, MAX_END_BYTES, MAX_LIST_BYTES, type Outcome } from "../src/index.ts";
import {
  type Call,
  completed,
  failed,
  planOf,
  type SimulateOptions,
  type Simulation,
  simulate,
  tool,
  write,
} from "./simulate.ts";

const TOOLS = [
  tool("read"),
  tool("other"),
  write("keyed", { idempotency: "key" }),
  write("batched", { idempotency: "key", batch: { param: "list", max: 3 } }),
  tool("alone", { barrier: true }),
  tool("needs", { mode: "dependent", depends_on: [{ tool: "read", required_fields: ["of", "numbers"] }] }),
  tool("lacks", { mode: "dependent", depends_on: [{ tool: "read", required_fields: ["of", "price"] }] }),
];

/** Every second call returns JSON text in a format that our serialization does not produce. */
function outcome(call: Call): Outcome {
  const { list } = call.arguments;
  if (Array.isArray(list)) return completed(list.map((one) => ({ got: one })));
  if (call.key === "each[2]") return failed();
  const output = { of: call.key, numbers: [1, 2, 3, 4, 5] };
  const text = `{ "of":"${call.key}",  "numbers":[1,2,3,4,5]}`;
  return call.key.length % 2 === 0 ? completed(output) : { type: "completed", output, text };
}

const LOST_BEFORE = " (the answer to an earlier call was lost; this one is to the same key)";

const STEPS = [
  { id: "a", tool: "read" },
  { id: "b", tool: "keyed", arguments: { x: "<<a.of>>", text: "see <<a>>" } },
  { id: "c", tool: "other", arguments: { all: "<<a>>" }, approval: true },
  {
    id: "each",
    forEach: {
      items: "<<a.numbers>>",
      errors: "collect",
      do: { tool: "keyed", arguments: { x: "<<item>>" } },
    },
  },
  {
    id: "some",
    forEach: {
      items: "<<a.numbers>>",
      when: { all: [{ ne: ["<<item>>", 2] }, { contains: ["<<a.numbers>>", "<<index>>"] }] },
      do: { tool: "read", arguments: { x: "<<item>>" } },
    },
  },
  { id: "batch", forEach: { items: "<<a.numbers>>", do: { tool: "batched", arguments: { x: "<<item>>" } } } },
  { id: "no", tool: "read", when: { eq: ["<<b.of>>", "nothing"] } },
  { id: "wall", tool: "alone", arguments: { x: "<<b.numbers[0]>>" } },
  {
    id: "late",
    tool: "read",
    arguments: { text: "<<each.results[1].data>>, <<some.results[1].data>> and <<b>>" },
  },
  { id: "end", tool: "read", arguments: { x: ["<<each.summary.ok>>", "<<batch.summary.ok>>", "<<c.of>>"] } },
];

const CHECKED = [
  { id: "a", tool: "read" },
  { id: "c", tool: "keyed", arguments: { all: ["<<a>>", 1.5] }, approval: true },
  {
    id: "list",
    approval: true,
    forEach: { items: "<<a.numbers>>", do: { tool: "keyed", arguments: { x: "<<item>> of <<a.of>>" } } },
  },
  {
    id: "batches",
    approval: true,
    forEach: {
      items: [{ x: 1 }, {}, { x: 3 }, { x: 4 }, {}],
      errors: "collect",
      do: { tool: "batched", arguments: { x: "<<item.x>>", of: "<<a.of>>" } },
    },
  },
  {
    id: "odd",
    forEach: {
      items: ["<<a.numbers>>", [1], [2], [], []],
      errors: "collect",
      do: { tool: "batched", arguments: { x: "<<item[0]>>" } },
    },
  },
  { id: "needs", tool: "needs", arguments: { x: "<<c.of>>" }, dependsOn: ["a"] },
  { id: "lacks", tool: "lacks", dependsOn: ["a"] },
];

const PLANS: Record<string, Plan> = {
  "with approvals, batches with invalid items, and required fields": planOf(CHECKED, {
    onStepFailure: "fail-forward",
  }),
  "that returns all outputs": planOf(STEPS),
  "that returns parts": planOf(STEPS, {}, { sum: ["<<late.of>>", "<<each.summary>>"], lost: "<<a.none>>" }),
  "that merges the outputs of dependencies": planOf(STEPS, { mergeDependencyOutputs: true, maxParallel: 2 }),
  "that requests two outputs": planOf(STEPS, { maxParallel: 1 }, ["a", "end"]),
};

const APPROVALS = ["c", "list", "batches"].map((stepId) => {
  return { type: "approval", stepId, approved: true, at: 400 } as const;
});
const COMMON: SimulateOptions = {
  outcome,
  writeMs: 3,
  durationMs: (call) => 5 + (call.key.length % 4),
  events: APPROVALS,
};

const callsOf = ({ calls }: Simulation): [string, JsonValue][] =>
  [...new Map(calls.map(({ call }) => [call.key, call.arguments]))].toSorted(([a], [b]) => (a < b ? -1 : 1));
const endOf = ({ finish }: Simulation) => finish && { ...finish, records: undefined };

const EARLY: SimulateOptions = { ...COMMON, acknowledgesEarly: true };

/** `npm test` draws a tenth, and kills and cancels at every seventh moment; `npm run proof` does the rest. */
for (const { numRuns, every, options } of [
  { numRuns: 6, every: 7, options: {} },
  { numRuns: 54, every: 1, options: { tags: ["proof"] } },
])
  describe.each(Object.entries(PLANS))("a plan %s", options, (_, plan) => {
    const unlimited = simulate(plan, TOOLS, COMMON);

    test("has the same end when reads are acknowledged early, with any memory and any delay", () => {
      fc.assert(
        fc.property(fc.nat(1_500), fc.nat(40), (memoryBytes, writeMs) => {
          const run = simulate(plan, TOOLS, { ...EARLY, memoryBytes, writeMs });
          expect(endOf(run)).toEqual(endOf(unlimited));
          expect(callsOf(run)).toEqual(callsOf(unlimited));
          expect(run.records).toEqual(unlimited.records);
        }),
        { numRuns },
      );
    });

    test("killed after any event, with reads acknowledged early, continues to the same end", () => {
      for (let crashAfterEvents = 1; crashAfterEvents < 70; crashAfterEvents += every) {
        const before = simulate(plan, TOOLS, { ...EARLY, memoryBytes: 0, crashAfterEvents });
        if (before.finish) break;
        const records = [...before.records.values()].map((record) => structuredClone(record));
        const after = simulate(plan, TOOLS, { ...EARLY, memoryBytes: 0, records });
        const end: unknown = JSON.parse(JSON.stringify(endOf(after)).replaceAll(LOST_BEFORE, ""));
        expect(end, `after ${crashAfterEvents} events`).toEqual(endOf(unlimited));
      }
    });

    test("makes the same calls and has the same end without memory for outputs", () => {
      const withoutMemory = simulate(plan, TOOLS, { ...COMMON, memoryBytes: 0 });
      expect(withoutMemory.commands.some(({ type }) => type === "load")).toBe(true);
      expect(callsOf(withoutMemory)).toEqual(callsOf(unlimited));
      expect(endOf(withoutMemory)).toEqual(endOf(unlimited));
      expect(withoutMemory.records).toEqual(unlimited.records);
    });

    test("killed after any event, continues without any output in memory to the same end", () => {
      for (let crashAfterEvents = 1; crashAfterEvents < 60; crashAfterEvents += every) {
        const before = simulate(plan, TOOLS, { ...COMMON, memoryBytes: 0, crashAfterEvents });
        if (before.finish) break;
        const records = [...before.records.values()].map((record) => structuredClone(record));
        const after = simulate(plan, TOOLS, { ...COMMON, memoryBytes: 0, records });
        // The message says whether an answer was lost, which depends on the event.
        const end: unknown = JSON.parse(JSON.stringify(endOf(after)).replaceAll(LOST_BEFORE, ""));
        expect(end, `after ${crashAfterEvents} events`).toEqual(endOf(unlimited));
      }
    });

    test("has the same end with any memory", () => {
      fc.assert(
        fc.property(fc.nat(1_500), fc.nat(40), (memoryBytes, writeMs) => {
          const run = simulate(plan, TOOLS, { ...COMMON, memoryBytes, writeMs });
          expect(endOf(run)).toEqual(endOf(unlimited));
          expect(callsOf(run)).toEqual(callsOf(unlimited));
        }),
        { numRuns },
      );
    });

    test("makes the same calls and has the same end when large outputs are held as texts and calls are resolved by the shell", () => {
      fc.assert(
        fc.property(fc.nat(120), fc.nat(1_500), fc.nat(40), (largeBytes, memoryBytes, writeMs) => {
          const run = simulate(plan, TOOLS, { ...EARLY, largeBytes, memoryBytes, writeMs });
          expect(endOf(run)).toEqual(endOf(unlimited));
          expect(callsOf(run)).toEqual(callsOf(unlimited));
          expect(run.records).toEqual(unlimited.records);
        }),
        { numRuns, examples: [[0, 0, 3]] },
      );
    });

    test("killed after any event, with large outputs held as texts, continues to the same end", () => {
      for (let crashAfterEvents = 1; crashAfterEvents < 80; crashAfterEvents += every) {
        const options = { ...COMMON, memoryBytes: 40, largeBytes: 0 };
        const before = simulate(plan, TOOLS, { ...options, crashAfterEvents });
        if (before.finish) break;
        const records = [...before.records.values()].map((record) => structuredClone(record));
        const after = simulate(plan, TOOLS, { ...options, records });
        const end: unknown = JSON.parse(JSON.stringify(endOf(after)).replaceAll(LOST_BEFORE, ""));
        expect(end, `after ${crashAfterEvents} events`).toEqual(endOf(unlimited));
      }
    });

    test.each([
      ["as values", undefined],
      ["as texts", 0],
    ])(
      "can be cancelled at any time without memory for outputs, held %s, and every unit has ended",
      (__, largeBytes) => {
        for (let at = 1; at < 90; at += 2 * every) {
          const cancel = { type: "cancel", at, reason: "stop" } as const;
          const options = largeBytes === undefined ? COMMON : { ...COMMON, largeBytes };
          const run = simulate(plan, TOOLS, { ...options, memoryBytes: 0, events: [...APPROVALS, cancel] });
          const open = [...run.records.values()].filter(({ status }) =>
            ["PENDING", "RUNNING", "RETRYING"].includes(status),
          );
          expect([run.finish?.type, open], `cancelled at ${at}`).toEqual(["finish", []]);
        }
      },
    );
  });

test("conditions, lists, approvals and parts of the outputs that read large outputs are left to the shell, small ones are not", () => {
  const plan = planOf(
    [
      { id: "a", tool: "read" },
      { id: "b", tool: "read", when: { eq: ["<<a.numbers[0]>>", 1] } },
      { id: "c", tool: "read", arguments: { x: "<<a.of>>" }, approval: true },
      {
        id: "each",
        forEach: { items: "<<a.numbers>>", do: { tool: "other", arguments: { x: "<<item>>" } } },
      },
    ],
    {},
    { first: "<<a.numbers[0]>>", all: "<<each.results[*].data.of>>" },
  );
  const asked = (largeBytes: number) => {
    const memoryBytes = Number.POSITIVE_INFINITY;
    const run = simulate(plan, TOOLS, { outcome, memoryBytes, largeBytes, events: APPROVALS });
    const questions = run.commands.flatMap((command) =>
      command.type === "ask" ? [command.question.asks.type] : [],
    );
    return { questions, outputs: run.finish?.outputs };
  };
  const { questions, outputs } = asked(0);
  expect(questions.toSorted()).toEqual(["approval", "items", "part", "part", "when"]);
  expect(asked(1_000_000)).toEqual({ questions: [], outputs });
});

test("a part that is too large for the end of its plan leaves the outputs to the steps", () => {
  const plan = planOf([{ id: "a", tool: "read" }], {}, { all: "<<a.of>>", lost: "<<a.none>>" });
  const run = simulate(plan, [tool("read")], {
    memoryBytes: 0,
    largeBytes: 0,
    outcome: () => completed({ of: "x".repeat(MAX_END_BYTES) }),
  });
  expect(run.finish).toMatchObject({
    status: "PARTIAL",
    outputs: null,
    error: { code: "OUTPUT_UNRESOLVED", message: expect.stringContaining("'lost'") },
  });
});

test("an output that was acknowledged early stays in memory until it is durable; after that it can be dropped and loaded", () => {
  const plan = planOf(
    [
      { id: "a", tool: "read" },
      { id: "b", tool: "read", arguments: { x: "<<a>>" } },
      { id: "c", tool: "read", arguments: { x: "<<a>>" }, dependsOn: ["b"] },
    ],
    {},
    ["c"],
  );
  const loads = (writeMs: number, durationMs: number): (readonly string[])[] =>
    simulate(plan, [tool("read")], {
      acknowledgesEarly: true,
      memoryBytes: 0,
      writeMs,
      durationMs: () => durationMs,
    }).commands.flatMap((command) => (command.type === "load" ? [command.keys] : []));
  expect(loads(1_000, 1)).toEqual([]);
  expect(loads(1, 1_000)).toEqual([["a"]]);
});

test("only results of reads are repeatable: not results of effects, and not failures", () => {
  const ids = ["read", "keyed", "other", "last"];
  const plan = planOf(
    ids.map((id) => ({ id, tool: id === "last" ? "read" : id })),
    { onStepFailure: "fail-forward" },
  );
  const recorded: [string[], boolean][] = [];
  simulate(plan, TOOLS, {
    durationMs: ({ key }) => 1 + ids.indexOf(key),
    outcome: ({ key }) => (key === "other" ? failed() : completed({ ok: true })),
    onCommand: (command) => {
      if (command.type !== "record") return;
      recorded.push([command.records.map(({ key, status }) => `${key} ${status}`), command.isRepeatable]);
    },
  });
  expect(recorded).toEqual([
    [["read COMPLETED"], true],
    [["keyed COMPLETED"], false],
    [["other FAILED"], false],
  ]);
});

test("an output without an unfinished reader is dropped at once, others are kept", () => {
  const plan = planOf(
    [
      { id: "a", tool: "read" },
      { id: "b", tool: "read", arguments: { x: "<<a>>" } },
      { id: "unread", tool: "read", dependsOn: ["b"] },
    ],
    {},
    ["b"],
  );
  const held: number[] = [];
  simulate(plan, [tool("read")], {
    memoryBytes: Number.POSITIVE_INFINITY,
    outcome: () => completed("x".repeat(98)),
    onCommand: ({ type }, state) => type === "call" && held.push(heldBytesOf(state)),
  });
  // At the calls of a, b and unread: at the last one a is dropped, and b is kept because the plan returns it.
  expect(held).toEqual([0, 100, 100]);
});

test("a plan whose outputs are too large for its end returns none, loads none, and is COMPLETED", () => {
  const steps = Array.from({ length: 4 }, (_, index) => ({ id: `s${index}`, tool: "read" }));
  const run = simulate(planOf(steps), [tool("read")], {
    memoryBytes: 0,
    outcome: () => completed("x".repeat(MAX_END_BYTES / 3)),
    durationMs: ({ key }) => 10 + Number(key.slice(1)),
  });
  expect(run.finish).toMatchObject({ status: "COMPLETED", outputs: null });
  expect(run.commands.filter(({ type }) => type === "load")).toEqual([]);
});

test("a step that refers to outputs over the memory limit fails before its call, and the error has their size", () => {
  const plan = planOf([
    { id: "a", tool: "read" },
    { id: "b", tool: "read", arguments: { x: "<<a.of>>" } },
  ]);
  const outcome = () => completed({ of: "x".repeat(100) });
  const run = simulate(plan, [tool("read")], { memoryBytes: 0, maxReadBytes: 100, outcome });
  expect(run.calls.map(({ call }) => call.key)).toEqual(["a"]);
  expect(run.records.get("b")).toMatchObject({
    status: "FAILED",
    error: {
      code: "REFERENCES_TOO_LARGE",
      message: expect.stringContaining("109 bytes together; an executor holds at most 100"),
    },
  });
});

test("a part of the outputs that refers to outputs over the memory limit is left out", () => {
  const plan = planOf([{ id: "a", tool: "read" }], {}, { large: "<<a.of>>", small: 1 });
  const outcome = () => completed({ of: "x".repeat(100) });
  // Sizes are known only for outputs that were stored before the end.
  const { records } = simulate(plan, [tool("read")], { outcome });
  const run = simulate(plan, [tool("read")], {
    memoryBytes: 0,
    maxReadBytes: 100,
    records: [...records.values()],
  });
  expect(run.finish).toMatchObject({
    status: "PARTIAL",
    outputs: { small: 1 },
    error: { code: "OUTPUT_UNRESOLVED", message: expect.stringContaining("109 bytes") },
  });
});

test("a list whose results are too large for one output fails, and every item is called and kept", () => {
  const large = "x".repeat(7_900_000);
  const items = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const plan = planOf([
    { id: "each", forEach: { items, do: { tool: "read", arguments: { x: "<<item>>" } } } },
    { id: "after", tool: "read", arguments: { x: "<<each.summary.ok>>" } },
  ]);
  const run = simulate(plan, [tool("read")], { memoryBytes: 0, outcome: () => completed(large) });
  expect(run.statuses).toEqual({ each: "FAILED", after: "SKIPPED" });
  expect(run.records.get("each")?.error).toMatchObject({
    code: "ITEMS_TOO_LARGE",
    data: { bytes: 9 * 7_900_002, maxBytes: MAX_LIST_BYTES },
  });
  expect(items.map((_, index) => run.records.get(`each[${index}]`)?.status)).toEqual(
    items.map(() => "COMPLETED"),
  );
  expect(run.commands.filter(({ type }) => type === "load")).toEqual([]);
});
