import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, SOON_DEAD, TENANT, type Workbench } from "./executor-process.ts";

let bench: Workbench;

beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
});

const diamond = {
  steps: [
    { id: "a", tool: "read_value", arguments: { value: { n: 7, list: [1, 2] } } },
    { id: "b", tool: "read_value", arguments: { value: "<<a.value.n>>" } },
    { id: "c", tool: "read_value", arguments: { value: "n is {{a.value.n}}" } },
    { id: "d", tool: "read_value", arguments: { value: "$ref:a.value.list" } },
    { id: "e", tool: "read_value", arguments: { value: ["<<b.value>>", "<<c.value>>", "<<d.value[1]>>"] } },
  ],
};

test("a plan is executed, with references filled in and every step recorded", async () => {
  await bench.startExecutor();
  const { _id: planId } = await bench.submit(diamond);
  const { plan, steps } = await bench.end(planId);
  expect(plan).toMatchObject({ status: "COMPLETED", counts: { COMPLETED: 5 }, lease: null, error: null });
  expect(plan.plan?.steps[1]).toMatchObject({ arguments: { value: "<<a.value.n>>" } });
  expect(steps.get("e")).toMatchObject({
    status: "COMPLETED",
    arguments: { value: { value: [7, "n is 7", 2] } },
    effectClass: "R",
    waitReason: null,
  });
  for (const step of steps.values()) {
    expect(step.attempts).toMatchObject([{ attempt: 1, outcome: "completed", error: null }]);
    expect(step.finishedAt!.getTime()).toBeGreaterThanOrEqual(step.startedAt!.getTime());
  }
  // The end is recorded on the request as soon as it is durable in the plan, long before the reconciliation
  // searches for such requests.
  await expect
    .poll(() => bench.store.getRequest(TENANT, plan.requestId), { timeout: 10_000 })
    .toMatchObject({ status: "COMPLETED" });
});

test("a tool that fails ends the plan with its message, and dependent steps are skipped with the reason", async () => {
  bench.tools.script({ plain_effect: [{ type: "tool-error", message: "the disk is full" }] });
  await bench.startExecutor();
  const { _id: planId } = await bench.submit([
    { id: "write", tool: "plain_effect", arguments: {} },
    { id: "after", tool: "read_value", arguments: { value: "<<write.value>>" } },
  ]);
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("FAILED");
  expect(steps.get("write")).toMatchObject({
    status: "FAILED",
    error: { message: expect.stringContaining("the disk is full") },
  });
  expect(steps.get("after")).toMatchObject({
    status: "SKIPPED",
    error: { message: expect.stringContaining("write") },
  });
});

test("an executor that is killed during a plan is replaced; keyed effects happen once, unknown ones are in doubt", async () => {
  bench.tools.script({
    keyed_effect: [{ type: "hang", effect: true }],
    plain_effect: [{ type: "hang", effect: true }],
  });
  const first = await bench.startProcess(SOON_DEAD);
  const { _id: keyed } = await bench.submit([
    { id: "before", tool: "read_value", arguments: { value: 1 } },
    { id: "effect", tool: "keyed_effect", arguments: { value: "<<before.value>>" } },
    { id: "after", tool: "read_value", arguments: { value: "<<effect.value>>" } },
  ]);
  const { _id: unknown } = await bench.submit([
    { id: "effect", tool: "plain_effect", arguments: { value: 1 } },
  ]);
  await expect.poll(async () => (await bench.tools.ledger()).length).toBe(2);
  await bench.stopExecutor(first, "SIGKILL");

  await bench.startExecutor();
  const { plan, steps } = await bench.end(keyed);
  expect(plan.status).toBe("COMPLETED");
  expect(plan.epoch).toBe(2);
  expect(steps.get("before")!.attempts).toHaveLength(1);
  expect(steps.get("effect")!.attempts).toHaveLength(2);
  await expect.poll(async () => (await bench.steps(unknown)).get("effect")?.status).toBe("IN_DOUBT");
  const ledger = await bench.tools.ledger();
  expect(ledger.map((entry) => entry.tool).toSorted()).toEqual(["keyed_effect", "plain_effect"]);
});

test.each([
  { behaviour: { type: "hang" as const, effect: true }, effectsBefore: 1 },
  { behaviour: { type: "hang" as const, effect: false }, effectsBefore: 0 },
])(
  "a call with a lookup tool is looked up after a crash, and made once ($effectsBefore effect before)",
  async (row) => {
    bench.tools.script({ looked_up_effect: [row.behaviour] });
    const first = await bench.startProcess(SOON_DEAD);
    const { _id: planId } = await bench.submit([
      { id: "effect", tool: "looked_up_effect", arguments: { reference: "order-7", value: 1 } },
    ]);
    await expect.poll(() => bench.tools.stats()["looked_up_effect"]?.calls).toBe(1);
    await expect.poll(async () => (await bench.tools.ledger()).length).toBe(row.effectsBefore);
    await bench.stopExecutor(first, "SIGKILL");
    await bench.startExecutor();
    const { plan, steps } = await bench.end(planId);
    expect(plan.status).toBe("COMPLETED");
    expect(steps.get("effect")?.output).toMatchObject({ tool: "looked_up_effect" });
    expect(await bench.tools.ledger()).toHaveLength(1);
  },
);

test("SIGTERM hands plans over: running calls finish, and nothing is called twice", async () => {
  const first = await bench.startProcess();
  const { _id: planId } = await bench.submit([
    { id: "slow", tool: "plain_effect", arguments: { value: 1, latencyMs: 600 } },
    { id: "after", tool: "plain_effect", arguments: { value: "<<slow.value>>" } },
  ]);
  await expect.poll(async () => (await bench.steps(planId)).get("slow")?.status).toBe("RUNNING");
  expect(await bench.stopExecutor(first, "SIGTERM")).toEqual([0, null]);
  expect((await bench.steps(planId)).get("slow")!.status).toBe("COMPLETED");
  expect(await bench.store.getPlan(TENANT, planId)).toMatchObject({ status: "QUEUED", lease: null });

  await bench.startExecutor();
  expect((await bench.end(planId)).plan.status).toBe("COMPLETED");
  expect((await bench.tools.ledger()).map((entry) => entry.arguments)).toEqual([
    { value: 1, latencyMs: 600 },
    { value: 1 },
  ]);
});

test("a plan is cancelled: nothing new starts, every step ends", async () => {
  await bench.startExecutor();
  const { _id: planId } = await bench.submit([
    { id: "slow", tool: "read_value", arguments: { value: 1, latencyMs: 600_000 } },
    { id: "after", tool: "plain_effect", arguments: { value: "<<slow.value>>" } },
  ]);
  await expect.poll(async () => (await bench.steps(planId)).get("slow")?.status).toBe("RUNNING");
  await bench.store.requestCancel(TENANT, planId, "client");
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("CANCELLED");
  expect([...steps.values()].map(({ status }) => status)).toEqual(["CANCELLED", "CANCELLED"]);
  // The call was aborted; the cancel did not wait for its timeout.
  expect(steps.get("slow")?.attempts).toMatchObject([{ error: { code: "CANCELLED" } }]);
  expect(await bench.tools.ledger()).toEqual([]);
});

test("an executor without Redis still finds plans", async () => {
  await bench.startExecutor({ REDIS_URL: "redis://127.0.0.1:1" });
  const { _id: planId } = await bench.submit(diamond);
  expect((await bench.end(planId)).plan.status).toBe("COMPLETED");
});
