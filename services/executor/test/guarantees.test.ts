/**
 * Guarantees of the executor whose tests need separate processes, clocks and much time; the README numbers
 * them.
 */
import { fileURLToPath } from "node:url";
import { testAndProof } from "@planwright/testing";
import { test } from "vitest";
import { openWorkbench, TENANT } from "./executor-process.ts";
import { healthPort } from "./health-port.ts";

const HOUR_MS = 3_600_000;
const JUMP_CLOCK = fileURLToPath(new URL("jump-clock.mjs", import.meta.url));

test.concurrent("a plan whose tool hangs is EXPIRED at its deadline", async ({ expect }) => {
  const bench = await openWorkbench();
  try {
    await bench.startExecutor({ PLAN_TIMEOUT_MS: "1500" });
    const plan = await bench.submit([
      { id: "hangs", tool: "read_value", arguments: { value: 1, latencyMs: 60_000 } },
      { id: "after", tool: "plain_effect", arguments: { value: "<<hangs.value>>" } },
    ]);
    await expect.poll(async () => (await bench.store.getPlan(TENANT, plan._id))?.status).toBe("EXPIRED");
    const steps = await bench.steps(plan._id);
    expect(steps.get("after")).toMatchObject({ status: "CANCELLED", error: { code: "DEADLINE_EXCEEDED" } });
    expect(await bench.tools.ledger()).toEqual([]);
  } finally {
    await bench.close();
  }
});

test.concurrent("a plan that waits for an operator outlives its own time and the limit of approvals", async ({
  expect,
}) => {
  const bench = await openWorkbench();
  try {
    bench.tools.script({ plain_effect: [{ type: "lose-answer" }] });
    await bench.startExecutor({ PLAN_TIMEOUT_MS: "20000" });
    const plan = await bench.submit({
      steps: [
        { id: "doubt", tool: "plain_effect", arguments: { value: 1 } },
        { id: "after", tool: "plain_effect", arguments: { value: "<<doubt.value>>" } },
      ],
      policy: { approvalTimeoutMs: 3_000 },
    });
    const parked = await bench.until(plan._id, ({ status }) => status === "WAITING");
    expect(parked).toMatchObject({ waitReason: "in doubt", dueAt: null });
    const overAt = (parked.startedAt?.getTime() ?? 0) + 21_000;
    await expect.poll(() => Date.now()).toBeGreaterThan(overAt);
    await bench.store.resolveUnits(TENANT, plan._id, {
      by: "ann",
      decisions: [{ key: "doubt", resolution: { type: "completed", output: { value: 1 } } }],
    });
    const { plan: ended, steps } = await bench.end(plan._id);
    expect(ended.status).toBe("COMPLETED");
    expect(ended.waitedForPeopleMs).toBeGreaterThan(3_000);
    expect(steps.get("after")?.status).toBe("COMPLETED");
    expect(await bench.tools.ledger()).toHaveLength(2);
  } finally {
    await bench.close();
  }
});

test.concurrent("an executor that restarts at the same address after a crash continues at once, long before DEAD_AFTER_MS", async ({
  expect,
}) => {
  const bench = await openWorkbench();
  try {
    const { env } = await healthPort();
    // During this test only the address shows that the first executor is dead.
    const settings = { ...env, DEAD_AFTER_MS: "600000" };
    const { exited } = bench.spawnExecutor({ ...settings, FAILPOINT: "executor.call.after=kill" });
    const plan = await bench.submit([
      { id: "keyed", tool: "keyed_effect", arguments: { value: 1 } },
      { id: "read", tool: "read_value", arguments: { value: "<<keyed.value>>" } },
    ]);
    await exited;
    expect((await bench.store.getPlan(TENANT, plan._id))?.status).toBe("RUNNING");
    await bench.startExecutor(settings);
    const { plan: ended } = await bench.end(plan._id);
    expect(ended).toMatchObject({ status: "COMPLETED", epoch: 2 });
    expect(await bench.tools.ledger()).toHaveLength(1);
  } finally {
    await bench.close();
  }
});

test.concurrent("a plan that kills its executors ends POISONED and affects no other plan", async ({
  expect,
}) => {
  const bench = await openWorkbench();
  try {
    const poison = await bench.submit([{ id: "bad", tool: "keyed_effect", arguments: { value: 1 } }]);
    for (let death = 0; death < 5; death += 1) {
      const { exited } = bench.spawnExecutor({
        FAILPOINT: "executor.call.before=kill",
        DEAD_AFTER_MS: "1000",
      });
      await exited;
    }
    const other = await bench.submit([{ id: "good", tool: "read_value", arguments: { value: 1 } }]);
    await bench.startExecutor();
    expect((await bench.end(other._id)).plan.status).toBe("COMPLETED");
    const { plan, steps } = await bench.end(poison._id);
    expect(plan).toMatchObject({ status: "FAILED", error: { code: "POISONED" } });
    // There are more claims only if a claim was lost before work began, which is not caused by the plan.
    expect(plan.epoch).toBeGreaterThanOrEqual(6);
    // It may have acted; a rerun calls it again under the same key.
    expect(steps.get("bad")).toMatchObject({ status: "IN_DOUBT", error: { code: "POISONED" } });
  } finally {
    await bench.close();
  }
});

test.concurrent("a plan is not POISONED when its executors lose the lease repeatedly and stay alive", async ({
  expect,
}) => {
  const bench = await openWorkbench();
  try {
    const executors = await Promise.all(
      [1, 2].map(() => bench.startProcess({ DEAD_AFTER_MS: "1000", SWEEP_EVERY_MS: "200" })),
    );
    const slow = await bench.submit([
      { id: "slow", tool: "read_value", arguments: { value: 1, latencyMs: 8_000 } },
    ]);
    for (let claims = 1; claims <= 6; claims += 1) {
      const held = await bench.until(slow._id, (plan) => plan.epoch >= claims && plan.lease !== null);
      const holder = executors.find(({ pid }) => held.lease?.owner.split(":")[1] === String(pid));
      holder?.kill("SIGSTOP");
      await bench.until(slow._id, ({ epoch }) => epoch > held.epoch);
      holder?.kill("SIGCONT");
    }
    const { plan } = await bench.end(slow._id);
    expect(plan.status).toBe("COMPLETED");
    expect(plan.epoch).toBeGreaterThan(6);
  } finally {
    await bench.close();
  }
});

const CLOCKS = [
  { name: "an hour fast, then right", CLOCK_OFFSET_MS: HOUR_MS, CLOCK_JUMP_MS: -HOUR_MS },
  { name: "an hour slow, then right", CLOCK_OFFSET_MS: -HOUR_MS, CLOCK_JUMP_MS: HOUR_MS },
  { name: "right, then an hour fast", CLOCK_OFFSET_MS: 0, CLOCK_JUMP_MS: HOUR_MS },
];

for (const { cases, options } of testAndProof(CLOCKS, ({ name }) => name, ["an hour fast, then right"]))
  test.concurrent.for(cases)(
    "an executor whose clock is $name makes each call once and in time",
    options,
    async ({ CLOCK_OFFSET_MS, CLOCK_JUMP_MS }, { expect }) => {
      const bench = await openWorkbench();
      try {
        bench.tools.script({ read_value: [{ type: "status", status: 429, retryAfterSeconds: 1 }] });
        await bench.startProcess({
          NODE_OPTIONS: `--import ${JUMP_CLOCK}`,
          CLOCK_OFFSET_MS: String(CLOCK_OFFSET_MS),
          CLOCK_JUMP_MS: String(CLOCK_JUMP_MS),
          CLOCK_JUMP_AFTER_MS: "1500",
        });
        const plan = await bench.submit([
          { id: "retried", tool: "read_value", arguments: { value: 1 } },
          { id: "slow", tool: "plain_effect", arguments: { value: "<<retried.value>>", latencyMs: 2_500 } },
          { id: "last", tool: "keyed_effect", arguments: { value: "<<slow.value>>" } },
        ]);
        const { plan: ended, steps } = await bench.end(plan._id);
        expect(ended).toMatchObject({ status: "COMPLETED", epoch: 1 });
        expect(steps.get("retried")?.attempts).toHaveLength(2);
        expect(await bench.tools.ledger()).toHaveLength(2);
        const finishedAt = ended.finishedAt?.getTime() ?? 0;
        for (const step of steps.values()) {
          expect(step.startedAt?.getTime()).toBeLessThanOrEqual(finishedAt);
          expect(finishedAt - (step.finishedAt?.getTime() ?? 0)).toBeLessThan(60_000);
        }
      } finally {
        await bench.close();
      }
    },
  );
