import type { StepRun } from "@planwright/engine";
import type { PlanStatus } from "@planwright/plan";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, SOON_DEAD, TENANT, type Workbench } from "./executor-process.ts";

let bench: Workbench;

beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
});

async function reaches(planId: string, status: PlanStatus): Promise<void> {
  await expect.poll(async () => (await bench.store.getPlan(TENANT, planId))?.status).toBe(status);
}

async function stepReaches(planId: string, key: string, status: string): Promise<void> {
  await expect.poll(async () => (await bench.steps(planId)).get(key)?.status).toBe(status);
}

const slowThenEffect = [
  { id: "slow", tool: "plain_effect", arguments: { value: 1, latencyMs: 1_500 } },
  { id: "after", tool: "plain_effect", arguments: { value: "<<slow.value>>" } },
];

test("a running plan that is paused ends its running call, starts nothing, holds no executor, and continues when resumed", async () => {
  await bench.startExecutor();
  const { _id: planId } = await bench.submit(slowThenEffect);
  await stepReaches(planId, "slow", "RUNNING");
  await bench.store.requestPause(TENANT, planId, "client");
  await reaches(planId, "PAUSED");
  expect(await bench.store.getPlan(TENANT, planId)).toMatchObject({ lease: null, waitReason: "paused" });
  const paused = await bench.steps(planId);
  expect(paused.get("slow")).toMatchObject({ status: "COMPLETED", attempts: [{ outcome: "completed" }] });
  expect(paused.get("after")).toMatchObject({ status: "PENDING", attempts: [] });
  // Another plan runs meanwhile: the executor is free and could have started the paused plan.
  const other = await bench.submit([{ id: "a", tool: "read_value", arguments: { value: 1 } }]);
  expect((await bench.end(other._id)).plan.status).toBe("COMPLETED");
  expect(await bench.store.getPlan(TENANT, planId)).toMatchObject({ status: "PAUSED", epoch: 1 });
  await bench.store.requestResume(TENANT, planId, "client");
  expect((await bench.end(planId)).plan.status).toBe("COMPLETED");
  expect(await bench.tools.ledger()).toHaveLength(2);
});

test("a plan whose executor dies during a pause stays paused, and its lost call is repeated only after the resume", async () => {
  bench.tools.script({ keyed_effect: [{ type: "hang", effect: true }] });
  const first = await bench.startProcess(SOON_DEAD);
  const { _id: planId } = await bench.submit([
    { id: "effect", tool: "keyed_effect", arguments: { value: 1 } },
    { id: "after", tool: "read_value", arguments: { value: "<<effect.value>>" } },
  ]);
  await expect.poll(async () => (await bench.tools.ledger()).length).toBe(1);
  await bench.store.requestPause(TENANT, planId, "client");
  await bench.stopExecutor(first, "SIGKILL");
  await bench.startExecutor();
  await reaches(planId, "PAUSED");
  expect(await bench.store.getPlan(TENANT, planId)).toMatchObject({ lease: null, epoch: 2 });
  expect(bench.tools.stats()["keyed_effect"]?.calls).toBe(1);
  await bench.store.requestResume(TENANT, planId, "client");
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("COMPLETED");
  expect(steps.get("effect")?.attempts).toHaveLength(2);
  expect(await bench.tools.ledger()).toHaveLength(1);
});

test("a plan that was paused before its first claim waits for resume", async () => {
  const { _id: planId } = await bench.submit([{ id: "a", tool: "plain_effect", arguments: { value: 1 } }]);
  await bench.store.requestPause(TENANT, planId, "client");
  await bench.startExecutor();
  const other = await bench.submit([{ id: "a", tool: "read_value", arguments: { value: 1 } }]);
  await bench.end(other._id);
  expect(await bench.store.getPlan(TENANT, planId)).toMatchObject({ status: "PAUSED", epoch: 0 });
  await bench.store.requestResume(TENANT, planId, "client");
  expect((await bench.end(planId)).plan.status).toBe("COMPLETED");
});

test("a paused plan is cancelled without a call", async () => {
  await bench.startExecutor();
  const { _id: planId } = await bench.submit(slowThenEffect);
  await stepReaches(planId, "slow", "RUNNING");
  await bench.store.requestPause(TENANT, planId, "client");
  await reaches(planId, "PAUSED");
  await bench.store.requestCancel(TENANT, planId, "client");
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("CANCELLED");
  expect([...steps.values()].map(({ status }) => status)).toEqual(["COMPLETED", "CANCELLED"]);
  expect(await bench.tools.ledger()).toHaveLength(1);
});

test("a paused plan outlives its own time and the limit of approvals, whose time goes on, and continues when resumed", async () => {
  await bench.startExecutor({ PLAN_TIMEOUT_MS: "6000" });
  const { _id: planId } = await bench.submit({
    steps: [...slowThenEffect, { id: "ask", tool: "plain_effect", arguments: { value: 2 }, approval: true }],
    policy: { approvalTimeoutMs: 8_000, onStepFailure: "run-dependents" },
  });
  await stepReaches(planId, "slow", "RUNNING");
  await bench.store.requestPause(TENANT, planId, "client");
  await reaches(planId, "PAUSED");
  await stepReaches(planId, "ask", "FAILED");
  const paused = await bench.until(planId, ({ lease }) => lease === null);
  expect(paused).toMatchObject({ status: "PAUSED", dueAt: null });
  await bench.store.requestResume(TENANT, planId, "client");
  const { steps } = await bench.end(planId);
  expect(steps.get("after")).toMatchObject({ status: "COMPLETED" });
  expect(steps.get("ask")).toMatchObject({ error: { code: "APPROVAL_EXPIRED" }, attempts: [] });
});

/** Promised is 1 s; a busy machine suspends processes for longer. `npm run bench -- controls` measures it. */
const STOPS_WITHIN_MS = 5_000;

/** Lists whose calls end as fast as they are made, and each is in the ledger. */
const busyLists = (itemsOfEach: number) =>
  Array.from({ length: 4 }, (_, index) => ({
    id: `list${index}`,
    forEach: {
      items: Array.from({ length: itemsOfEach }, (__, item) => item),
      concurrency: 32,
      do: { tool: "set_value", arguments: { value: "<<item>>" } },
    },
  }));

/** Waits until the busy plan makes calls; then asks, and returns when it was answered. */
async function askBesideCalls(ask: () => Promise<unknown>, moreCalls = 50): Promise<number> {
  const effects = (): number => bench.tools.stats()["set_value"]?.effects ?? 0;
  const before = effects();
  await expect.poll(effects, { timeout: 60_000 }).toBeGreaterThan(before + moreCalls);
  await ask();
  return Date.now();
}

/**
 * Steps and items whose first call began too late after a control, and before another one allowed it. Later
 * calls find out what the first one did.
 */
function begunBetween(steps: Iterable<StepRun>, from: number, to: number): string[] {
  return [...steps]
    .filter(({ attempts: [first] }) => {
      const at = first?.startedAt.getTime() ?? 0;
      return at > from + STOPS_WITHIN_MS && at < to;
    })
    .map(({ key }) => key);
}

for (const { itemsOfEach, options } of [
  { itemsOfEach: 500, options: {} },
  { itemsOfEach: 2_000, options: { tags: ["proof"] } },
])
  test(
    `controls win over a plan that makes ${4 * itemsOfEach} calls as fast as it can, also when its executor is killed`,
    options,
    async () => {
      const first = await bench.startProcess(SOON_DEAD);
      const { _id: planId, requestId } = await bench.submit({
        steps: busyLists(itemsOfEach),
        policy: { maxParallel: 64 },
      });
      const pausedAt = await askBesideCalls(() => bench.store.requestPause(TENANT, planId, "Olga"));
      await reaches(planId, "PAUSED");
      const resumedAt = Date.now();
      await bench.store.requestResume(TENANT, planId, "Olga");
      const cancelledAt = await askBesideCalls(() => bench.store.requestCancel(TENANT, planId, "Otto"));
      await bench.stopExecutor(first, "SIGKILL");
      await bench.startExecutor();
      const { plan, steps } = await bench.end(planId);
      expect(plan).toMatchObject({ status: "CANCELLED", controls: [] });
      expect([...steps.values()].filter(({ status }) => status === "COMPLETED").length).toBeLessThan(
        4 * itemsOfEach,
      );
      expect(begunBetween(steps.values(), pausedAt, resumedAt)).toEqual([]);
      expect(begunBetween(steps.values(), cancelledAt, Number.POSITIVE_INFINITY)).toEqual([]);
      const asked = [];
      let after: string | undefined;
      do {
        const page = (
          await bench.store.listEventPages(TENANT, [requestId], { first: 100, ...(after && { after }) })
        ).get(requestId);
        for (const { event } of page?.items ?? [])
          if ("asked" in event) asked.push([event.type, event.asked?.by]);
        after = page?.cursor ?? undefined;
      } while (after !== undefined);
      expect(asked).toEqual([
        ["pause.asked", "Olga"],
        ["resume.asked", "Olga"],
        ["cancel.asked", "Otto"],
      ]);
    },
  );
