/**
 * The process dies, freezes until it is declared dead, or fails, at every point where a write, a call or an
 * acknowledgement begins or ends. In each case every step ends, nothing is lost, and no effect happens twice.
 * `npm test` kills at the points where a call's effect and its record can differ; `npm run proof` does the rest.
 */
import type { PlanDocument } from "@planwright/store";
import { testAndProof } from "@planwright/testing";
import { test } from "vitest";
import { openWorkbench } from "./executor-process.ts";

/**
 * Long enough for heartbeats on a busy machine: an executor that was declared dead by accident would not
 * reach the points of the table.
 */
const DEAD_AFTER_MS = 3_000;
/** The first step takes longer than the interval of the check of held plans. */
const READ_MS = 1_200;

/** One call of each effect class, one after the other: R, K, V, U, R. */
const PLAN = [
  { id: "read", tool: "read_value", arguments: { value: 1, latencyMs: READ_MS } },
  { id: "keyed", tool: "keyed_effect", arguments: { value: "<<read.value>>" } },
  { id: "looked", tool: "looked_up_effect", arguments: { reference: "r1", value: "<<keyed.value>>" } },
  { id: "plain", tool: "plain_effect", arguments: { value: "<<looked.value>>" } },
  { id: "last", tool: "read_value", arguments: { value: "<<plain.value>>" } },
];
const EFFECTS = { keyed: "keyed_effect", looked: "looked_up_effect", plain: "plain_effect" };

/** Failpoints, and at which pass they act: the first one, or the one of each effect class. */
const POINTS: [point: string, times: number[]][] = [
  ["executor.sweep", [1]],
  ["executor.job", [1]],
  ["executor.claim", [1]],
  ["executor.beat", [1, 3]],
  ["executor.take", [1, 3]],
  ["executor.held", [1]],
  ["executor.controls", [2]],
  ["executor.note", [1]],
  ["executor.intent", [1, 2, 3]],
  ["executor.call", [1, 2, 3, 4]],
  ["executor.result", [1, 2, 3]],
  ["executor.note-result", [1]],
  ["executor.noted", [1, 2]],
  ["executor.finish", [1]],
];
const ACTIONS = ["kill", `pause:${DEAD_AFTER_MS + 1_000}`, "error"];
const ENV = { DEAD_AFTER_MS: String(DEAD_AFTER_MS) };
const CASES = POINTS.flatMap(([point, times]) =>
  ["before", "after"].flatMap((side) =>
    times.flatMap((nth) =>
      ACTIONS.map((action) => ({ setting: `${point}.${side}=${action}@${nth}`, action })),
    ),
  ),
);

/** Around the call, its intent and its result, once for each effect class; and around claim and end. */
const IN_TEST = [
  "executor.claim.after=kill@1",
  "executor.intent.after=kill@1",
  "executor.call.before=kill@2",
  "executor.call.after=kill@3",
  "executor.call.after=kill@4",
  "executor.result.before=kill@1",
  "executor.finish.before=kill@1",
  "executor.result.before=error@1",
];

for (const { cases, options } of testAndProof(CASES, ({ setting }) => setting, IN_TEST))
  test.concurrent.for(cases)(
    "$setting loses nothing and repeats nothing",
    options,
    async ({ setting, action }, { expect, onTestFinished }) => {
      const bench = await openWorkbench();
      onTestFinished(() => bench.close());
      const plan = await bench.submit(PLAN);
      bench.offer(plan);
      const env = { ...ENV, FAILPOINT: setting };
      if (action === "error") {
        // It continues without another one, and needs no process.
        const { output } = await bench.startExecutor(env);
        await expect.poll(output).toContain(`failpoint ${setting}`);
      } else {
        const { child, said, exited } = bench.spawnExecutor(env);
        await said(`failpoint ${setting}`);
        if (action === "kill") {
          await exited;
          expect(child.signalCode).toBe("SIGKILL");
        }
        // Another executor runs while the victim is dead or frozen.
        await bench.startExecutor(ENV);
      }

      await bench.until(plan._id, isAtRest);
      const steps = await bench.steps(plan._id);
      const inDoubt = [...steps.values()].filter(({ status }) => status === "IN_DOUBT");
      expect(inDoubt.map(({ key }) => key).filter((key) => key !== "plain")).toEqual([]);
      const ledger = await bench.tools.ledger();
      for (const [key, tool] of Object.entries(EFFECTS)) {
        const effects = ledger.filter((entry) => entry.tool === tool).length;
        expect({ key, effects, status: steps.get(key)?.status }).toSatisfy(isHonest);
      }
    },
  );

/** The plan is COMPLETED, or waits for an operator who knows the result of its call of class U. */
function isAtRest(plan: PlanDocument): boolean {
  return plan.status === "COMPLETED" || (plan.status === "WAITING" && plan.waitReason === "in doubt");
}

/** A completed step had its effect once; a step in doubt, or after one in doubt, at most once. */
function isHonest({ effects, status }: { effects: number; status: string | undefined }): boolean {
  return status === "COMPLETED" ? effects === 1 : effects <= 1;
}
