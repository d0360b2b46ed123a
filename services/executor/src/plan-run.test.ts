import { PlanSchema } from "@planwright/plan";
import { createLogger } from "@planwright/runtime";
import type { ExecutionStore } from "@planwright/store";
import { createMemoryDatabase, createMemoryStore } from "@planwright/store/memory";
import { expect, test } from "vitest";
import { startPlanRun } from "./plan-run.ts";

const TENANT = "t1";
const LEASE_MS = 10_000;
const TOOL = { name: "write", server: "test", trusted: true };

/** A claimed plan of one step, over a store in memory. */
async function claimedPlan(step: object) {
  const nowMs = Math.floor(performance.now());
  const database = createMemoryDatabase(() => nowMs);
  const own = createMemoryStore({ database, owner: "executor", leaseMs: LEASE_MS, monotonic: () => nowMs });
  const store = { ...own, publishTools: async () => undefined, keepOnlyServers: async () => undefined };
  const plan = PlanSchema.parse({ steps: [{ id: "a", tool: TOOL.name, arguments: {}, ...step }] });
  const input = { tenant: TENANT, query: null, plan, raw: "", diagnostics: [], autoExecute: true };
  const { plan: accepted } = await store.submitPlan(input);
  const claim = await store.claimPlan(accepted._id, "executor");
  return { store, claim: claim!, planId: accepted._id };
}

test("a run that gives its plan back begins nothing more, whatever it hears until the answer is there", async () => {
  const { store, claim, planId } = await claimedPlan({ approval: true });
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
    catalogue: [TOOL],
    readCatalogueNow: async () => [TOOL],
    store: slow,
    tools: {
      async callTool({ tool }) {
        called.push(tool);
        return { type: "completed", output: null };
      },
    },
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
  for (const wishes of await store.findWishes([planId])) run.heed(wishes);
  answer();
  await run.done;
  expect(called).toEqual([]);
  expect((await store.listSteps(TENANT, [planId]))[0]).toMatchObject({ status: "WAITING_APPROVAL" });
});
