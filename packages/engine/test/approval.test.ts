import { canonicalDigest, exactNumberOf, sha256, stringifyExactJson } from "@planwright/plan";
import { expect, test } from "vitest";
import { createEngineState, decide, type EngineEvent, type StepRecord } from "../src/index.ts";
import { type Call, completed, planOf, simulate, tool, write } from "./simulate.ts";

const approve = (at: number, stepId = "b"): EngineEvent => ({ type: "approval", stepId, approved: true, at });
const outcome = (call: Call) => completed({ of: call.key, list: [1, 2, 3, 4, 5] });

test("the record of a step that waits for approval has the arguments that will be sent, and the call has the arguments to approve", () => {
  const plan = planOf([
    { id: "a", tool: "t" },
    { id: "b", tool: "t", arguments: { text: "from <<a.of>>", list: "<<a.list>>" }, approval: true },
  ]);
  const waiting = simulate(plan, [tool("t")], { outcome });
  const resolved = { text: "from a", list: [1, 2, 3, 4, 5] };
  expect(waiting.records.get("b")).toMatchObject({ status: "WAITING_APPROVAL", arguments: resolved });
  expect(waiting.calls[0]?.call).not.toHaveProperty("approvable");
  const approved = simulate(plan, [tool("t")], { outcome, events: [approve(50)] });
  expect(approved.calls[1]?.call).toMatchObject({ arguments: resolved, approvable: resolved });
});

test.each([
  ["single calls", {}, ["b[0]", "b[1]", "b[2]", "b[3]", "b[4]"]],
  ["batches", { batch: { param: "list", max: 3 } }, ["b[0..2]", "b[3..4]"]],
])("a forEach asks for approval once for all of its calls, made as %s", (_, contract, keys) => {
  const plan = planOf([
    { id: "a", tool: "t" },
    {
      id: "b",
      approval: true,
      forEach: { items: "<<a.list>>", do: { tool: "w", arguments: { x: "<<item>> of <<a.of>>" } } },
    },
  ]);
  const tools = [tool("t"), write("w", { idempotency: "key", ...contract })];
  const requested = simulate(plan, tools, { outcome }).records.get("b");
  expect(requested?.status).toBe("WAITING_APPROVAL");
  expect(Object.keys(Object(requested?.arguments?.["calls"]))).toEqual(keys);
  const { calls } = simulate(plan, tools, { outcome, events: [approve(50)] });
  const made = calls.slice(1).map(({ call }) => [call.key, call.arguments] as const);
  expect(Object.fromEntries(made)).toEqual(requested?.arguments?.["calls"]);
  for (const { call } of calls.slice(1)) expect(call.approvable).toEqual(requested?.arguments);
});

test("a call repeated after a crash has the same arguments to approve as before", () => {
  const plan = planOf([
    { id: "a", tool: "t" },
    {
      id: "b",
      approval: true,
      forEach: { items: "<<a.list>>", do: { tool: "w", arguments: { x: "<<item>>" } } },
    },
  ]);
  const tools = [tool("t"), write("w", { idempotency: "key" })];
  const requested = simulate(plan, tools, { outcome }).records.get("b")?.arguments;
  for (let events = 4; events < 12; events += 1) {
    const before = simulate(plan, tools, { outcome, events: [approve(50)], crashAfterEvents: events });
    const after = simulate(plan, tools, {
      outcome,
      records: [...before.records.values()],
      events: [approve(60)],
    });
    for (const { call } of after.calls.filter(({ call: { stepId } }) => stepId === "b")) {
      expect(call.approvable).toEqual(requested);
    }
    expect(after.finish?.status).toBe("COMPLETED");
  }
});

test.each([
  ["a reference to a missing field", { x: "<<a.nothing>>" }, "REFERENCE_MISSING"],
  ["arguments that the tool does not accept", { x: "<<a.of>>", wrong: 1 }, "ARGUMENTS_INVALID"],
])("no approval is asked for %s", (_, args, code) => {
  const schema = { type: "object", properties: { x: { type: "string" } }, additionalProperties: false };
  const plan = planOf([
    { id: "a", tool: "t" },
    { id: "b", tool: "w", arguments: args, approval: true },
  ]);
  const run = simulate(plan, [tool("t"), write("w", {}, { inputSchema: schema })], { outcome });
  expect(run.records.get("b")).toMatchObject({ status: "FAILED" });
  expect(run.records.get("b")?.error?.code).toContain(code.slice(0, 8));
  expect(run.calls).toHaveLength(1);
});

test("an item whose arguments cannot be resolved is not part of the approval, and only that item fails", () => {
  const plan = planOf([
    {
      id: "b",
      approval: true,
      forEach: { items: [{ x: 1 }, {}], do: { tool: "w", arguments: { x: "<<item.x>>" } } },
    },
  ]);
  const tools = [write("w", { idempotency: "key" })];
  expect(simulate(plan, tools).records.get("b")?.arguments).toEqual({ calls: { "b[0]": { x: 1 } } });
  const { records } = simulate(plan, tools, { events: [approve(50)] });
  expect(["b[0]", "b[1]"].map((key) => records.get(key)?.status)).toEqual(["COMPLETED", "FAILED"]);
});

test.each([
  ["is empty", { items: [] }],
  ["lets its condition skip every item", { items: [1, 2], when: { gt: ["<<item>>", 9] } }],
  ["has no item whose arguments can be resolved", { items: [{}, {}] }],
])("a list asks for no approval when it %s, because nothing is called", (_, list) => {
  const forEach = { minSuccess: 0, ...list, do: { tool: "w", arguments: { x: "<<item.x>>" } } };
  const run = simulate(planOf([{ id: "b", approval: true, forEach }]), [write("w", { idempotency: "key" })]);
  expect(run.calls).toEqual([]);
  expect(run.finish).toBeDefined();
  expect(run.records.get("b")?.status).not.toBe("WAITING_APPROVAL");
});

test("when a tool has started to require approval, repeated calls have arguments to approve", () => {
  const records: StepRecord[] = [{ key: "b", stepId: "b", status: "RUNNING", attempts: 1 }];
  const plan = planOf([{ id: "b", tool: "w", arguments: { x: 1 } }]);
  const run = simulate(plan, [write("w", { idempotency: "key", requires_approval: true })], { records });
  expect(run.calls[0]?.call.approvable).toEqual({ x: 1 });
});

test.each([
  ["is called", [], { type: "call", call: { key: "b", arguments: { x: 1 } } }],
  [
    "is cancelled with its plan",
    [{ type: "cancel", at: 2, reason: "no" }],
    { type: "finish", status: "CANCELLED" },
  ],
] as const)(
  "a step of which earlier versions have made each call needs no approval: it %s",
  (_, between, then) => {
    const plan = planOf([{ id: "b", tool: "w", arguments: { x: 1 }, approval: true }]);
    const state = createEngineState({ plan, tools: [write("w")] });
    const [asked] = decide(state, { type: "started", at: 1 });
    expect(asked).toMatchObject({
      records: [{ key: "b", status: "WAITING_APPROVAL" }],
      toApprove: [{ key: "b", arguments: { x: 1 }, effectClass: "U", mayAct: true }],
    });
    for (const event of between) expect(decide(state, event)).toEqual([]);
    expect(decide(state, { type: "approval.unneeded", stepId: "b", at: 3 })).toMatchObject([then]);
    expect(decide(state, { type: "approval.unneeded", stepId: "b", at: 4 })).toEqual([]);
  },
);
const LIST_TOOLS = [tool("t"), write("w", { idempotency: "key", batch: { param: "list", max: 3 } })];
const eachOf = (toolName: string) => ({
  items: "<<a.list>>",
  do: { tool: toolName, arguments: { z: 12345678901234567890n.toString(), x: "<<item>> of <<a.of>>" } },
});

test.each<[string, object]>([
  [
    "a step",
    { tool: "t", arguments: { z: "<<a.exact>>", list: ["<<a.list>>", "é"], text: "from <<a.of>>" } },
  ],
  ["a list of single calls", { forEach: eachOf("t") }],
  ["a list of batches", { forEach: eachOf("w") }],
])("large arguments of %s have the hashes that they have when they are small", (_, step) => {
  const plan = planOf([
    { id: "a", tool: "t" },
    { id: "b", approval: true, ...step },
  ]);
  const output = {
    of: "a",
    list: Array.from({ length: 12 }, (__, index) => index),
    exact: exactNumberOf("1e400"),
  };
  const recordOf = (largeBytes: number) => {
    const options = { outcome: () => completed(output), memoryBytes: Number.POSITIVE_INFINITY, largeBytes };
    return simulate(plan, LIST_TOOLS, options).records.get("b");
  };
  const small = recordOf(1_000_000)?.arguments;
  const large = recordOf(0);
  const calls = Object(small)["calls"];
  const text = stringifyExactJson(small ?? null);
  expect(large).not.toHaveProperty("arguments");
  expect(large?.largeArguments).toEqual({
    digest: canonicalDigest(small),
    argsHash: sha256(JSON.stringify(small)),
    calls: calls && mapValues(calls, canonicalDigest),
    sizeBytes: Buffer.byteLength(text),
    beginning: text.slice(0, 1_024),
  });
});

test("whether arguments are large depends on their bytes, not on their characters", () => {
  const plan = planOf([
    { id: "a", tool: "t" },
    { id: "b", tool: "t", approval: true, arguments: { of: "<<a>>" } },
  ]);
  const options = { outcome: () => completed("\u00e9".repeat(600)), largeBytes: 1_000 };
  const record = simulate(plan, LIST_TOOLS, { ...options, memoryBytes: Number.POSITIVE_INFINITY }).records;
  expect(record.get("b")?.largeArguments?.sizeBytes).toBeGreaterThan(1_200);
});

const mapValues = (record: object, to: (value: unknown) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]));
