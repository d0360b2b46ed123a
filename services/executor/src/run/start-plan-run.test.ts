import { setImmediate as nextTurn } from "node:timers/promises";
import type { JournalEvent, Outcome } from "@planwright/engine";
import {
  groupBy,
  type JsonObject,
  type JsonValue,
  LARGE_JSON_BYTES,
  PlanSchema,
  type ToolDescriptor,
} from "@planwright/plan";
import { createLogger, ThreadEndedError } from "@planwright/runtime";
import type { ExecutionStore, PlanClaim } from "@planwright/store";
import { createMemoryDatabase, createMemoryStore } from "@planwright/store/memory";
import { listSteps } from "@planwright/testing";
import { expect, test } from "vitest";
import { NO_METRICS } from "../metrics.ts";
import { createLargeJson } from "../outputs/large-json.ts";
import { createOutputMemory, type OutputMemory, type PlanOutputs } from "../outputs/output-memory.ts";
import { createSecrets } from "../secrets.ts";
import { freeLoop } from "./calls.ts";
import { createPlanTools } from "./plan-tools.ts";
import { startPlanRun } from "./start-plan-run.ts";

const TENANT = "t1";
const ALIVE = {
  owner: () => "executor",
  validUntil: () => Number.POSITIVE_INFINITY,
  nextAnswer: async () => undefined,
};
const TOOL = { name: "write", server: "test", trusted: true };
const READ: ToolDescriptor = { ...TOOL, name: "read", annotations: { readOnlyHint: true } };

/** A claimed plan, over a store in memory whose clock does not move unless the test moves it. */
async function claimedPlan(steps: object[], planTimeoutMs = 5_000) {
  let nowMs = Math.floor(performance.now());
  const database = createMemoryDatabase(() => nowMs);
  const monotonic = (): number => nowMs;
  const storeOf = (owner: string) => ({
    ...createMemoryStore({ database, owner, planTimeoutMs, monotonic }),
    publishTools: async () => undefined,
    keepOnlyServers: async () => undefined,
    learnOutputs: async () => undefined,
    addToolCalls: async () => undefined,
    publishServer: async () => undefined,
  });
  const store = storeOf("executor");
  const plan = PlanSchema.parse({
    steps: steps.map((step) => ("forEach" in step ? step : { tool: TOOL.name, ...step })),
  });
  const input = { tenant: TENANT, query: null, plan, raw: "", diagnostics: [], autoExecute: true };
  const { plan: accepted } = await store.submitPlan(input);
  const claim = await store.claimPlan(accepted._id, "executor");
  /** The next executor claims the plan of one that is dead. */
  async function takeOver() {
    nowMs += 6_000;
    const next = storeOf("next");
    await next.takeFromDead({ declaresSilent: false });
    const taken = await next.claimPlan(accepted._id, "next");
    return { store: next, claim: taken! };
  }
  const passTime = (ms: number) => (nowMs += ms);
  return { store, claim: claim!, planId: accepted._id, passTime, takeOver, database };
}

test("a run that releases its plan starts nothing more, whatever events arrive before the release is acknowledged", async () => {
  const { store, claim, planId } = await claimedPlan([{ id: "a", approval: true }]);
  const called: string[] = [];
  let answer: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const slow: ExecutionStore = {
    ...store,
    async releasePlan(...release) {
      await store.releasePlan(...release);
      await released;
    },
  };
  const run = startPlanRun({
    claim,
    planTools: createPlanTools(claim, [TOOL]),
    readCatalogueNow: async () => [TOOL],
    store: slow,
    tools: {
      async callTool({ tool }) {
        called.push(tool);
        return { type: "completed", output: null };
      },
    },
    liveness: ALIVE,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  await expect.poll(async () => (await store.getPlan(TENANT, planId))?.status).toBe("WAITING");

  const approvalHash = (await listSteps(store, TENANT, [planId]))[0]!.approvalHash!;
  await store.approveStep(TENANT, planId, {
    stepId: "a",
    approved: true,
    approvalHash,
    reason: null,
    by: "me",
  });
  await store.applyControls([claim]);
  answer();
  await run.done;
  expect(called).toEqual([]);
  expect((await listSteps(store, TENANT, [planId]))[0]).toMatchObject({ status: "WAITING_APPROVAL" });
});

test.each([
  ["while a call is running", "after", { COMPLETED: 1, CANCELLED: 1 }],
  ["while a connection is made", "before", { CANCELLED: 2 }],
] as const)("a process that was frozen past the deadline %s starts nothing more", async (_, when, counts) => {
  const { store, claim, planId, passTime } = await claimedPlan([{ id: "a" }, { id: "b", dependsOn: ["a"] }]);
  const called: string[] = [];
  const run = startPlanRun({
    claim,
    planTools: createPlanTools(claim, [TOOL]),
    readCatalogueNow: async () => [TOOL],
    store,
    tools: {
      async callTool({ tool, beforeSend }) {
        if (when === "before") passTime(6_000);
        const clearance = await beforeSend?.(TOOL);
        if (clearance && clearance.type !== "send") return clearance;
        called.push(tool);
        if (when === "after") passTime(6_000);
        return { type: "completed", output: null };
      },
    },
    liveness: ALIVE,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  await run.done;
  expect(called).toHaveLength(when === "after" ? 1 : 0);
  expect(await store.getPlan(TENANT, planId)).toMatchObject({ status: "EXPIRED", counts });
});

test("no secret is read for a tool that has changed", async () => {
  const { store, claim, planId } = await claimedPlan([{ id: "a", arguments: { token: "secret://key" } }]);
  const read: string[] = [];
  const run = startPlanRun({
    claim,
    planTools: createPlanTools(claim, [TOOL]),
    readCatalogueNow: async () => [TOOL],
    store,
    secrets: createSecrets({
      servers: { test: { secrets: { key: {} } } },
      addSecrets: () => undefined,
      source: {
        async read(name) {
          read.push(name);
          return { value: "hunter2-hunter2" };
        },
      },
    }),
    tools: {
      async callTool({ beforeSend }) {
        const clearance = await beforeSend?.({ ...TOOL, inputSchema: { type: "object" } });
        return clearance && clearance.type !== "send" ? clearance : { type: "completed", output: null };
      },
    },
    liveness: ALIVE,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  await run.done;
  expect(read).toEqual([]);
  expect((await listSteps(store, TENANT, [planId]))[0]).toMatchObject({
    status: "FAILED",
    error: { code: "TOOL_CHANGED" },
  });
});

test("a call that waits for a sign-in is made when a person has signed in, while another call is running", async () => {
  const other = { ...TOOL, name: "other", server: "other" };
  const { store, claim, planId } = await claimedPlan([{ id: "a" }, { id: "b", tool: other.name }]);
  const called: string[] = [];
  let isNeeded = true;
  let signedIn: () => void = () => undefined;
  let answerOther: () => void = () => undefined;
  const run = startPlanRun({
    claim,
    planTools: createPlanTools(claim, [TOOL, other]),
    readCatalogueNow: async () => [TOOL, other],
    store,
    signIns: {
      needsSignIn: (server) => server === TOOL.server && isNeeded,
      onSignedIn(_server, then) {
        signedIn = then;
        return () => undefined;
      },
    },
    tools: {
      async callTool({ tool }) {
        called.push(tool);
        if (tool === other.name) await new Promise<void>((resolve) => void (answerOther = resolve));
        return { type: "completed", output: null };
      },
    },
    liveness: ALIVE,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  await expect.poll(() => called).toEqual([other.name]);
  isNeeded = false;
  signedIn();
  await expect.poll(() => called).toEqual([other.name, TOOL.name]);
  answerOther();
  await run.done;
  expect(await store.getPlan(TENANT, planId)).toMatchObject({ status: "COMPLETED" });
});

/** A call that a crash has made unknown, and the run in which a tool of another server is asked about it. */
async function unknownCall(answer: Outcome) {
  const lookup = { tool: "find", arguments: {} };
  const contract = { "x-orchestration": { side_effects: true, lookup } };
  const tool: ToolDescriptor = { ...TOOL, name: "other", server: "other", _meta: contract };
  const annotations = { readOnlyHint: true };
  const finder: ToolDescriptor = { ...TOOL, name: "find", server: "finder", annotations };
  const { store, claim, planId, takeOver } = await claimedPlan([{ id: "a", tool: tool.name }], 60_000);
  const called: string[] = [];
  const unreachable: (string | undefined)[] = [];
  let crash: () => void = () => undefined;
  const run = (by: { store: ExecutionStore; claim: PlanClaim }, needed?: string) =>
    startPlanRun({
      ...by,
      planTools: createPlanTools(by.claim, [tool, finder]),
      readCatalogueNow: async () => [tool, finder],
      signIns: { needsSignIn: (server) => server === needed, onSignedIn: () => () => undefined },
      tools: {
        async callTool({ tool: name }) {
          called.push(name);
          if (name === tool.name) crash();
          return answer;
        },
      },
      metrics: { ...NO_METRICS, unreachable: (server) => void unreachable.push(server) },
      liveness: { ...ALIVE, owner: () => by.claim.owner },
      logger: createLogger({ service: "test", level: "silent" }),
    });
  const first = run({ store, claim });
  crash = first.lose;
  await first.done;
  called.length = 0;
  const next = await takeOver();
  const status = async () => (await store.getPlan(TENANT, planId))?.status;
  return { called, unreachable, status, next: (needed?: string) => run(next, needed) };
}

test("a call whose secrets cannot be written into its large arguments fails, and its plan ends", async () => {
  const { store, claim, planId } = await claimedPlan([
    { id: "a", tool: "read" },
    { id: "b", arguments: { all: "<<a>>", token: "secret://key" }, dependsOn: ["a"] },
  ]);
  const reason = "Reached heap limit";
  const run = startPlanRun({
    claim,
    planTools: createPlanTools(claim, [TOOL, READ]),
    readCatalogueNow: async () => [TOOL, READ],
    store,
    secrets: createSecrets({
      servers: { test: { secrets: { key: {} } } },
      addSecrets: () => undefined,
      source: { read: async () => ({ value: "hunter2-hunter2" }) },
    }),
    largeJson: {
      ...createLargeJson(),
      fill: () => Promise.reject(new ThreadEndedError(`Its thread ended: ${reason}`, { reason })),
    },
    tools: {
      async callTool({ tool, beforeSend }) {
        const clearance = await beforeSend?.(tool === READ.name ? READ : TOOL);
        if (clearance && clearance.type !== "send") return clearance;
        return { type: "completed", output: { text: "x".repeat(LARGE_JSON_BYTES) } };
      },
    },
    liveness: ALIVE,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  await run.done;
  expect(await store.getPlan(TENANT, planId)).toMatchObject({ counts: { COMPLETED: 1, FAILED: 1 } });
  expect((await listSteps(store, TENANT, [planId]))[1]?.error).toEqual({
    code: "REFERENCES_TOO_LARGE",
    message: `Nothing was called: the secrets could not be written into the arguments: Its thread ended: ${reason}. Refer to fewer or smaller outputs`,
    retryable: false,
  });
});

test.each([
  ["looked up although the server of its tool", "other", ["find"], "COMPLETED"],
  ["not looked up while the server of its lookup tool", "finder", [], "WAITING"],
] as const)("a call is %s needs a sign-in", async (_, needed, asked, status) => {
  const unknown = await unknownCall({ type: "completed", output: { found: true, result: null } });
  await unknown.next(needed).done;
  expect([unknown.called, await unknown.status()]).toEqual([asked, status]);
});

test("a look-up without an answer counts for the server of the lookup tool", async () => {
  const error = { code: "TOOL_UNREACHABLE", message: "away", retryable: true };
  const unknown = await unknownCall({ type: "failed", effect: "none", error });
  const run = unknown.next();
  await expect.poll(() => unknown.unreachable).toEqual(["finder"]);
  run.lose();
  await run.done;
});

/** A run of a plan whose steps are reads. Their answers, in the order of the calls, are given by the test. */
async function runOfReads(steps: object[]) {
  const claimed = await claimedPlan(steps.map((step) => ({ tool: READ.name, ...step })));
  const answers: (() => void)[] = [];
  const { done } = startPlanRun({
    claim: claimed.claim,
    planTools: createPlanTools(claimed.claim, [READ]),
    readCatalogueNow: async () => [READ],
    store: claimed.store,
    tools: {
      callTool: () =>
        new Promise((resolve) => answers.push(() => resolve({ type: "completed", output: answers.length }))),
    },
    liveness: ALIVE,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  const statuses = async () =>
    (await listSteps(claimed.store, TENANT, [claimed.planId])).map(({ status }) => status);
  /** Waits until this call, numbered from 1, is made. */
  async function made(call: number): Promise<void> {
    await expect.poll(() => answers.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(call);
  }
  async function answer(call: number): Promise<void> {
    await made(call);
    answers[call - 1]?.();
  }
  return { ...claimed, done, statuses, made, answer };
}

test("short reads that depend on each other are one entry, with the lease and the end of the plan", async () => {
  const { store, claim, planId, done, answer } = await runOfReads([
    { id: "a" },
    { id: "b", dependsOn: ["a"] },
    { id: "c", dependsOn: ["a"] },
    { id: "d", dependsOn: ["b", "c"] },
  ]);
  for (const call of [1, 2, 3, 4]) await answer(call);
  await done;
  expect(await store.getPlan(TENANT, planId)).toMatchObject({
    status: "COMPLETED",
    counts: { COMPLETED: 4 },
  });
  const steps = await listSteps(store, TENANT, [planId]);
  expect(steps.map(({ seq, attempts }) => [seq, attempts.length])).toEqual(steps.map(() => [1, 1]));
  expect(claim.journal.seq()).toBe(1);
});

test("a read that runs longer than 20 ms is shown as RUNNING, and its result 100 ms after that write at the latest", async () => {
  const { claim, done, statuses, passTime, made, answer } = await runOfReads([
    { id: "a" },
    { id: "b", dependsOn: ["a"] },
  ]);
  await made(1);
  expect(await statuses()).toEqual(["PENDING", "PENDING"]);
  passTime(20);
  await expect.poll(statuses).toEqual(["RUNNING", "PENDING"]);
  await answer(1);
  await made(2);
  passTime(100);
  await expect.poll(statuses).toEqual(["COMPLETED", "RUNNING"]);
  await answer(2);
  await done;
  expect(await statuses()).toEqual(["COMPLETED", "COMPLETED"]);
  expect(claim.journal.seq()).toBe(3);
});

const ITEMS = Array.from({ length: 1_200 }, (_, index) => index);
const BATCH = { batch: { param: "ids", max: 10_000 } };

/** A list whose items are one call of a tool with this contract, and its run by an executor. */
async function batchOf(contract: JsonObject) {
  const tool: ToolDescriptor = { ...TOOL, _meta: { "x-orchestration": { ...BATCH, ...contract } } };
  const lookup: ToolDescriptor = { ...TOOL, name: "find", annotations: { readOnlyHint: true } };
  const list = {
    id: "list",
    forEach: { items: ITEMS, do: { tool: TOOL.name, arguments: { id: "<<item>>" } } },
  };
  const claimed = await claimedPlan([list], 60_000);
  const called: (readonly [tool: string, key: string | undefined, count: number | undefined])[] = [];
  const answer: JsonValue = ITEMS.map((id) => ({ id }));
  function run(by: { store: ExecutionStore; claim: PlanClaim }) {
    return startPlanRun({
      ...by,
      planTools: createPlanTools(by.claim, [tool, lookup]),
      readCatalogueNow: async () => [tool, lookup],
      tools: {
        async callTool({ tool: name, arguments: args, idempotencyKey }): Promise<Outcome> {
          const ids = "ids" in args && Array.isArray(args["ids"]) ? args["ids"].length : undefined;
          called.push([name, idempotencyKey, ids]);
          return { type: "completed", output: name === "find" ? { found: true, result: answer } : answer };
        },
      },
      liveness: { ...ALIVE, owner: () => by.claim.owner },
      logger: createLogger({ service: "test", level: "silent" }),
    });
  }
  return { ...claimed, called, run };
}

test("a part of the work waits for a whole turn of the event loop, however long other work of this turn takes", async () => {
  await nextTurn();
  let hasTurned = false;
  void nextTurn().then(() => {
    hasTurned = true;
  });
  const freed = freeLoop();
  for (const until = performance.now() + 3; performance.now() < until; );
  await freed;
  expect(hasTurned).toBe(true);
});

test("the results of a batch are written in parts, between which the event loop is free", async () => {
  const { store, claim, run } = await batchOf({ idempotency: "key", side_effects: true });
  const parts: [items: number, turn: number][] = [];
  let turn = 0;
  const counting: ExecutionStore = {
    ...store,
    writeRecords(of, records, ends) {
      const items = records.filter(({ status, item }) => status === "COMPLETED" && item !== undefined);
      if (items.length > 0) parts.push([items.length, turn]);
      return store.writeRecords(of, records, ends);
    },
  };
  const { done } = run({ store: counting, claim });
  let hasEnded = false;
  void done.then(() => {
    hasEnded = true;
  });
  for (; !hasEnded; turn += 1) await nextTurn();
  expect(parts.map(([items]) => items)).toEqual([500, 500, 200]);
  expect(new Set(parts.map(([, at]) => at)).size).toBe(parts.length);
});

test.each([
  ["sent again with all items under the same key (class K)", { idempotency: "key" }, "write", ITEMS.length],
  ["looked up (class V)", { lookup: { tool: "find", arguments: {} } }, "find", ITEMS.length],
  ["in doubt (class U)", {}, undefined, 500],
] as const)(
  "after a crash between the parts of a batch's results the call is %s",
  async (_, contract, again, completed) => {
    const { store, claim, planId, takeOver, called, run } = await batchOf({
      side_effects: true,
      ...contract,
    });
    let crash: () => void = () => undefined;
    const crashing: ExecutionStore = {
      ...store,
      async writeRecords(of, records, ends) {
        const sizes = await store.writeRecords(of, records, ends);
        if (records.some(({ status, item }) => status === "COMPLETED" && item !== undefined)) crash();
        return sizes;
      },
    };
    const first = run({ store: crashing, claim });
    crash = first.lose;
    await first.done;
    const next = await takeOver();
    const { done } = run(next);
    const statuses = async () => {
      const items = (await listSteps(store, TENANT, [planId])).filter(({ item }) => item !== null);
      return [...groupBy(items, ({ status }) => status)].map(([status, of]) => [status, of.length] as const);
    };
    await done;
    const inDoubt = ITEMS.length - completed;
    expect(await statuses()).toEqual([
      ["COMPLETED", completed],
      ...(inDoubt > 0 ? [["IN_DOUBT", inDoubt] as const] : []),
    ]);
    const [sent, ...later] = called;
    expect(sent).toEqual(["write", sent?.[1], ITEMS.length]);
    expect(later).toEqual(
      again === "write" ? [sent] : again ? [["find", `${sent?.[1]}/lookup/2`, undefined]] : [],
    );
  },
);

test("the rest of a cancelled list is one event, and is written in one part", async () => {
  const list = {
    id: "list",
    forEach: { items: ITEMS, concurrency: 4, do: { tool: TOOL.name, arguments: { id: "<<item>>" } } },
  };
  const { store, claim, planId, database } = await claimedPlan([list], 60_000);
  let calls = 0;
  const run = startPlanRun({
    claim,
    planTools: createPlanTools(claim, [TOOL]),
    readCatalogueNow: async () => [TOOL],
    store,
    tools: {
      async callTool() {
        calls += 1;
        if (calls === 10) {
          await store.requestCancel(TENANT, planId, "me");
          await store.applyControls([claim]);
        }
        return { type: "completed", output: null };
      },
    },
    liveness: ALIVE,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  await run.done;
  const events = database.find("journal", {}).flatMap((entry) => entry["events"] as JournalEvent[]);
  const closed = events.filter((event) => event.type === "items.closed");
  expect(closed).toMatchObject([{ stepId: "list", to: ITEMS.length - 1, status: "CANCELLED" }]);
  const items = (await listSteps(store, TENANT, [planId])).filter(({ item }) => item !== null);
  const statuses = [...groupBy(items, ({ status }) => status)].map(([status, of]) => [status, of.length]);
  const from = closed[0]?.from ?? 0;
  expect(statuses).toEqual([
    ["COMPLETED", from],
    ["CANCELLED", ITEMS.length - from],
  ]);
});

test.each([
  ["a step", { tool: "write", arguments: { ids: [1], text: "<<text>>" } }],
  [
    "a batch",
    {
      forEach: {
        items: [1, 2, 3, 4],
        do: { tool: "write", arguments: { ids: ["<<item>>"], text: "<<text>>" } },
      },
    },
  ],
])("a call of %s that waits for memory is made as soon as there is some", async (_, step) => {
  const large = { id: "text", tool: "find", arguments: {} };
  const { store, claim, planId } = await claimedPlan([large, { id: "next", ...step }], 60_000);
  const memory = createOutputMemory({ maxBytes: 2_000_000 });
  const others = memory.join({ heldBytes: () => 0, drop: () => undefined });
  let release: (() => void) | undefined;
  let waiting = 0;
  const outputMemory: OutputMemory = {
    ...memory,
    join(holder) {
      const outputs = memory.join(holder);
      const reserve: PlanOutputs["reserve"] = (key, bytes) => {
        release ??= others.reserve("all", 2_000_000);
        const reserved = outputs.reserve(key, bytes);
        if (!reserved) waiting += 1;
        return reserved;
      };
      return { ...outputs, reserve };
    },
  };
  const tools: ToolDescriptor[] = [
    { ...TOOL, _meta: { "x-orchestration": BATCH } },
    { ...TOOL, name: "find", annotations: { readOnlyHint: true } },
  ];
  const called: string[] = [];
  const { done } = startPlanRun({
    store,
    claim,
    planTools: createPlanTools(claim, tools),
    readCatalogueNow: async () => tools,
    outputMemory,
    tools: {
      async callTool({ tool }): Promise<Outcome> {
        called.push(tool);
        return { type: "completed", output: tool === "write" ? [1, 2, 3, 4] : "x".repeat(400_000) };
      },
    },
    liveness: ALIVE,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  await expect.poll(() => waiting).toBe(1);
  await nextTurn();
  expect(called).toEqual(["find"]);
  release?.();
  await done;
  expect(called).toEqual(["find", "write"]);
  expect((await store.getPlan(TENANT, planId))?.status).toBe("COMPLETED");
});
