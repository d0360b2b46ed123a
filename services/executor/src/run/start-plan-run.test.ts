import { PlanSchema } from "@planwright/plan";
import { createLogger } from "@planwright/runtime";
import type { ExecutionStore } from "@planwright/store";
import { createMemoryDatabase, createMemoryStore } from "@planwright/store/memory";
import { expect, test } from "vitest";
import { createSecrets } from "../secrets/secrets.ts";
import { createPlanTools } from "../tools/plan-tools.ts";
import { startPlanRun } from "./start-plan-run.ts";

const TENANT = "t1";
const ALIVE = {
  owner: () => "executor",
  validUntil: () => Number.POSITIVE_INFINITY,
  nextAnswer: async () => undefined,
};
const TOOL = { name: "write", server: "test", trusted: true };

/** A claimed plan, over a store in memory whose clock does not move unless the test moves it. */
async function claimedPlan(steps: object[]) {
  let nowMs = Math.floor(performance.now());
  const database = createMemoryDatabase(() => nowMs);
  const monotonic = (): number => nowMs;
  const memoryStore = createMemoryStore({
    database,
    owner: "executor",
    planTimeoutMs: 5_000,
    monotonic,
  });
  const store = {
    ...memoryStore,
    publishTools: async () => undefined,
    keepOnlyServers: async () => undefined,
    learnOutputs: async () => undefined,
    addToolCalls: async () => undefined,
    publishServer: async () => undefined,
  };
  const plan = PlanSchema.parse({ steps: steps.map((step) => ({ tool: TOOL.name, ...step })) });
  const input = { tenant: TENANT, query: null, plan, raw: "", diagnostics: [], autoExecute: true };
  const { plan: accepted } = await store.submitPlan(input);
  const claim = await store.claimPlan(accepted._id, "executor");
  return { store, claim: claim!, planId: accepted._id, passTime: (ms: number) => (nowMs += ms) };
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

  const approvalHash = (await store.listSteps(TENANT, [planId]))[0]!.approvalHash!;
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
  expect((await store.listSteps(TENANT, [planId]))[0]).toMatchObject({ status: "WAITING_APPROVAL" });
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
  expect((await store.listSteps(TENANT, [planId]))[0]).toMatchObject({
    status: "FAILED",
    error: { code: "TOOL_CHANGED" },
  });
});
