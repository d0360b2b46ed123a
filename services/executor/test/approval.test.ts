import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, SOON_DEAD, TENANT, type Workbench } from "./executor-process.ts";

let bench: Workbench;

beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
});

const payment = [
  { id: "read", tool: "read_value", arguments: { value: 7 } },
  { id: "pay", tool: "plain_effect", arguments: { value: "<<read.value>>" }, approval: true },
  { id: "after", tool: "read_value", arguments: { value: "<<pay.value>>" } },
];

/** Submits a plan, waits until it has parked, and returns the step that waits for approval. */
async function submitWaiting(plan: unknown, stepId = "pay") {
  const { _id: planId } = await bench.submit(plan);
  await expect.poll(async () => (await bench.store.getPlan(TENANT, planId))?.status).toBe("WAITING");
  const step = (await bench.steps(planId)).get(stepId)!;
  return { planId, step };
}

function decide(
  planId: string,
  stepId: string,
  approvalHash: string | null,
  approved = true,
  reason: string | null = null,
) {
  const decision = { stepId, approvalHash: approvalHash ?? "", approved, reason, by: "operator" };
  return bench.store.approveStep(TENANT, planId, decision);
}

test("a step that needs approval shows its arguments, holds no executor, and is called after the approval", async () => {
  await bench.startExecutor();
  const { planId, step } = await submitWaiting(payment);
  expect(step).toMatchObject({
    status: "WAITING_APPROVAL",
    arguments: { value: { value: 7 } },
    attempts: [],
  });
  expect(step.approvalHash).toMatch(/^[0-9a-f]{64}$/);
  expect(await bench.store.getPlan(TENANT, planId)).toMatchObject({ lease: null, waitReason: "approval" });
  expect(await bench.tools.ledger()).toEqual([]);
  expect((await decide(planId, "pay", step.approvalHash)).type).toBe("recorded");
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("COMPLETED");
  expect(steps.get("pay")).toMatchObject({ status: "COMPLETED", approved: true });
  expect((await bench.tools.ledger()).map((entry) => entry.arguments)).toEqual([{ value: 7 }]);
});

test("a refused step fails with the reason, and nothing is called", async () => {
  await bench.startExecutor();
  const { planId, step } = await submitWaiting(payment);
  await decide(planId, "pay", step.approvalHash, false, "too dear");
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("FAILED");
  expect(steps.get("pay")).toMatchObject({
    status: "FAILED",
    error: { code: "APPROVAL_REFUSED", message: "too dear" },
    attempts: [],
  });
  expect(await bench.tools.ledger()).toEqual([]);
});

test("a tool that has changed since the approval was requested is not called, even when approved", async () => {
  await bench.startExecutor();
  const { planId, step } = await submitWaiting(payment);
  const tools = (await bench.store.listTools()).map(({ descriptor }) =>
    descriptor.name === "plain_effect" ? { ...descriptor, description: "Pays twice." } : descriptor,
  );
  await bench.store.publishTools(
    "counting",
    tools.map((descriptor) => ({ descriptor, digest: "changed" })),
  );
  expect((await decide(planId, "pay", step.approvalHash)).type).toBe("recorded");
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("FAILED");
  expect(steps.get("pay")).toMatchObject({ status: "FAILED", error: { code: "APPROVAL_STALE" } });
  expect(steps.get("pay")?.error?.message).toContain("Rerun");
  expect(await bench.tools.ledger()).toEqual([]);
});

test("an approval outlives the executor that waited for it", async () => {
  const first = await bench.startProcess();
  const { planId, step } = await submitWaiting(payment);
  await bench.stopExecutor(first, "SIGKILL");
  await decide(planId, "pay", step.approvalHash);
  await bench.startExecutor();
  expect((await bench.end(planId)).plan.status).toBe("COMPLETED");
  expect(await bench.tools.ledger()).toHaveLength(1);
});

test("a list is approved in one decision, and each call has the approved arguments", async () => {
  await bench.startExecutor();
  const { planId, step } = await submitWaiting([
    { id: "read", tool: "read_value", arguments: { value: [1, 2, 3] } },
    {
      id: "pay",
      approval: true,
      forEach: { items: "<<read.value>>", do: { tool: "keyed_effect", arguments: { value: "<<item>>" } } },
    },
  ]);
  const calls = { "pay[0]": { value: 1 }, "pay[1]": { value: 2 }, "pay[2]": { value: 3 } };
  expect(step).toMatchObject({ status: "WAITING_APPROVAL", arguments: { value: { calls } } });
  await decide(planId, "pay", step.approvalHash);
  const { plan } = await bench.end(planId);
  expect(plan.status).toBe("COMPLETED");
  expect(await bench.tools.ledger()).toHaveLength(3);
});

test("a plan whose approval takes longer than the plan's own time continues after it, also over a crash of its executor", async () => {
  const first = await bench.startProcess({ ...SOON_DEAD, PLAN_TIMEOUT_MS: "6000" });
  const { planId, step } = await submitWaiting(payment);
  await bench.stopExecutor(first, "SIGKILL");
  await bench.startExecutor({ PLAN_TIMEOUT_MS: "6000" });
  const askedAt = Date.now();
  await expect.poll(() => Date.now() - askedAt).toBeGreaterThan(7_000);
  expect((await decide(planId, "pay", step.approvalHash)).type).toBe("recorded");
  expect((await bench.end(planId)).plan.status).toBe("COMPLETED");
});

test("an approval that nothing decided in time fails its step, and is refused from then on", async () => {
  await bench.startExecutor();
  const { planId, step } = await submitWaiting({ steps: payment, policy: { approvalTimeoutMs: 2_000 } });
  expect(step.expiresAt).toEqual(expect.any(Date));
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("FAILED");
  expect(steps.get("pay")).toMatchObject({
    status: "FAILED",
    error: { code: "APPROVAL_EXPIRED" },
    attempts: [],
  });
  expect((await decide(planId, "pay", step.approvalHash)).type).not.toBe("recorded");
  expect(await bench.tools.ledger()).toEqual([]);
});
