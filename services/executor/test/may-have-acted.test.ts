/**
 * Calls whose answer was lost, compared with the ledger of the tool server: no step whose tool acted reports
 * that nothing happened.
 */
import { type BehaviourInput, testAndProof } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, SOON_DEAD, TENANT, type Workbench } from "./executor-process.ts";

let bench: Workbench;

beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
});

/** Waits so long between two attempts that a test can cancel the plan meanwhile. */
const SLOW_RETRY = { maxAttempts: 3, initialMs: 600_000, maxMs: 600_000 };
const LOST: BehaviourInput = { type: "lose-answer" };

async function submit(tool: string, retry: object): Promise<string> {
  const { _id } = await bench.submit([
    { id: "effect", tool, arguments: { value: 1, reference: "order-7" }, retry },
    { id: "after", tool: "read_value", arguments: { value: 2 }, dependsOn: ["effect"] },
  ]);
  return _id;
}

async function untilRetrying(planId: string): Promise<void> {
  await expect
    .poll(async () => (await bench.steps(planId)).get("effect"), { timeout: 30_000 })
    .toMatchObject({ status: "RETRYING", mayHaveActed: true });
}

test("a cancel repeats a call with the same key, and the step shows the effect", async () => {
  bench.tools.script({ keyed_effect: [LOST] });
  await bench.startExecutor();
  const planId = await submit("keyed_effect", SLOW_RETRY);
  await untilRetrying(planId);
  await bench.store.requestCancel(TENANT, planId, "client");
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("CANCELLED");
  expect(steps.get("effect")).toMatchObject({ status: "COMPLETED", output: { tool: "keyed_effect" } });
  expect(steps.get("after")?.status).toBe("CANCELLED");
  expect(await bench.tools.ledger()).toHaveLength(1);
});

test("the same happens at the deadline of the plan", { tags: ["proof"] }, async () => {
  // A wait that the server asks for is not random: there is no retry before the deadline.
  bench.tools.script({ keyed_effect: [{ type: "status", status: 503, retryAfterSeconds: 600 }] });
  await bench.startExecutor({ PLAN_TIMEOUT_MS: "5000" });
  const planId = await submit("keyed_effect", SLOW_RETRY);
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("EXPIRED");
  expect(steps.get("effect")).toMatchObject({ status: "COMPLETED", output: { tool: "keyed_effect" } });
  expect(steps.get("after")?.status).toBe("CANCELLED");
  expect(await bench.tools.ledger()).toHaveLength(1);
});

test("a cancel repeats a look-up that had no answer, and the step shows the effect", async () => {
  const unavailable: BehaviourInput = { type: "status", status: 429, retryAfterSeconds: 30 };
  bench.tools.script({ looked_up_effect: [LOST], find_effect: [unavailable] });
  await bench.startExecutor();
  const planId = await submit("looked_up_effect", SLOW_RETRY);
  await expect.poll(() => bench.tools.stats()["find_effect"]?.calls).toBe(1);
  await untilRetrying(planId);
  await bench.store.requestCancel(TENANT, planId, "client");
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("CANCELLED");
  expect(steps.get("effect")).toMatchObject({ status: "COMPLETED" });
  expect(steps.get("after")?.status).toBe("CANCELLED");
  expect(bench.tools.stats()["find_effect"]?.calls).toBe(2);
  expect(await bench.tools.ledger()).toHaveLength(1);
});

test("the same happens when the executor was killed before the cancel", { tags: ["proof"] }, async () => {
  bench.tools.script({ keyed_effect: [LOST] });
  const executor = await bench.startProcess(SOON_DEAD);
  const planId = await submit("keyed_effect", SLOW_RETRY);
  await untilRetrying(planId);
  await bench.stopExecutor(executor, "SIGKILL");
  await bench.store.requestCancel(TENANT, planId, "client");
  await bench.startExecutor(SOON_DEAD);
  const { steps } = await bench.end(planId);
  expect(steps.get("effect")).toMatchObject({ status: "COMPLETED" });
  expect(await bench.tools.ledger()).toHaveLength(1);
});

test("a server that is down when the plan is cancelled leaves the step in doubt", async () => {
  bench.tools.script({ keyed_effect: [LOST] });
  await bench.startExecutor();
  const planId = await submit("keyed_effect", SLOW_RETRY);
  await untilRetrying(planId);
  await bench.stopTools();
  await bench.store.requestCancel(TENANT, planId, "client");
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("CANCELLED");
  expect(steps.get("effect")).toMatchObject({ status: "IN_DOUBT", error: { code: "ANSWER_LOST" } });
});

test("a plan that ends POISONED reports that a call that waited for a retry may have acted", async () => {
  bench.tools.script({ keyed_effect: [LOST, LOST, LOST, LOST] });
  const executor = await bench.startProcess(SOON_DEAD);
  // Short enough that the executor keeps the plan meanwhile. A wait is random: one that is too short to be
  // observed on a busy machine is followed by others.
  const planId = await submit("keyed_effect", { maxAttempts: 5, initialMs: 4_900, maxMs: 4_900 });
  await untilRetrying(planId);
  await bench.stopExecutor(executor, "SIGKILL");
  const attempts = (await bench.steps(planId)).get("effect")?.attempts.map(({ attempt }) => ({ attempt }));
  for (let death = 0; death < 5; death += 1) {
    const { exited } = bench.spawnExecutor({ FAILPOINT: "executor.claim.after=kill", DEAD_AFTER_MS: "1000" });
    await exited;
  }
  await bench.startExecutor();
  const { plan, steps } = await bench.end(planId);
  expect(plan).toMatchObject({ status: "FAILED", error: { code: "POISONED" } });
  // None was added after the executor was killed.
  expect(steps.get("effect")).toMatchObject({ status: "IN_DOUBT", attempts });
  expect(steps.get("after")?.status).toBe("SKIPPED");
  expect(await bench.tools.ledger()).toHaveLength(1);
});

const QUICK = { maxAttempts: 2, initialMs: 50, maxMs: 50 };

const REFUSALS: [name: string, then: BehaviourInput][] = [
  ["HTTP 404", { type: "status", status: 404 }],
  ["HTTP 429", { type: "status", status: 429, retryAfterSeconds: 0 }],
  ["HTTP 401", { type: "status", status: 401 }],
];

for (const { cases, options } of testAndProof(REFUSALS, ([name]) => name, ["HTTP 429"]))
  test.each(cases)("a lost answer and then %s is no failure without an effect", options, async (_, then) => {
    bench.tools.script({ keyed_effect: [LOST, ...Array.from({ length: 20 }, () => then)] });
    await bench.startExecutor();
    const { _id: planId } = await bench.submit({
      steps: [{ id: "effect", tool: "keyed_effect", arguments: { value: 1 }, retry: QUICK }],
      policy: { unreachableMs: 500 },
    });
    await bench.until(planId, ({ waitReason }) => waitReason === "in doubt");
    expect((await bench.steps(planId)).get("effect")).toMatchObject({
      status: "IN_DOUBT",
      error: { code: "ANSWER_LOST" },
    });
    expect(await bench.tools.ledger()).toHaveLength(1);
    // After its restart the server follows no script.
    await bench.stopTools();
    await bench.startTools();
    await bench.store.resolveUnits(TENANT, planId, {
      by: "operator",
      decisions: [{ key: "effect", resolution: { type: "retry" } }],
    });
    expect((await bench.end(planId)).plan.status).toBe("COMPLETED");
    expect(await bench.tools.ledger()).toHaveLength(1);
  });

test("a look-up that a restarting server does not answer is repeated until it is answered", async () => {
  const unavailable: BehaviourInput[] = [
    { type: "status", status: 503 },
    { type: "reset" },
    { type: "status", status: 429, retryAfterSeconds: 1 },
  ];
  bench.tools.script({ looked_up_effect: [LOST], find_effect: unavailable });
  await bench.startExecutor();
  const planId = await submit("looked_up_effect", { initialMs: 50, maxMs: 200 });
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("COMPLETED");
  const attempts = steps.get("effect")?.attempts ?? [];
  // The call, the look-ups without an answer as one attempt, and the look-up with an answer.
  expect(attempts.map(({ outcome, unsent }) => [outcome, unsent?.tries])).toEqual([
    ["unknown", undefined],
    ["unknown", 3],
    ["completed", undefined],
  ]);
  expect(await bench.tools.ledger()).toHaveLength(1);
});

test("a rerun of a plan that ended with a call in doubt uses the same key, and has no second effect", async () => {
  bench.tools.script({ keyed_effect: [LOST] });
  await bench.startExecutor();
  const planId = await submit("keyed_effect", SLOW_RETRY);
  await untilRetrying(planId);
  await bench.stopTools();
  await bench.store.requestCancel(TENANT, planId, "client");
  const { plan } = await bench.end(planId);
  await bench.startTools();
  const answer = await bench.store.rerunPlan(TENANT, plan.requestId, { from: null, autoExecute: true });
  if (answer.type !== "rerun") throw new TypeError(`The rerun was answered with ${answer.type}`);
  expect((await bench.end(answer.plan._id)).plan.status).toBe("COMPLETED");
  expect(await bench.tools.ledger()).toHaveLength(1);
});
