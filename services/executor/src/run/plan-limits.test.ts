import { setTimeout as delay, setImmediate } from "node:timers/promises";
import type { Call } from "@planwright/engine";
import type { JsonObject } from "@planwright/plan";
import { createLocalQueues } from "@planwright/queue";
import { expect, onTestFinished, test } from "vitest";
import { createPlanLimits, sharedLimitOf } from "./plan-limits.ts";

function limitOf(contract: JsonObject) {
  const descriptor = { name: "t", server: "s", trusted: true, _meta: { "x-orchestration": contract } };
  return sharedLimitOf(descriptor, { tenant: "acme", unannotated: "sequential" });
}

test.each([
  ["a bound inside the plan", { mode: "fan-out-bounded", max_concurrency: 5 }, null],
  ["nothing to bound", { mode: "parallel-safe", scope: "global" }, null],
  [
    "a bound for all tenants together",
    { mode: "fan-out-bounded", max_concurrency: 5, scope: "global" },
    { name: "s/t", maxConcurrency: 5 },
  ],
  [
    "a bound for each tenant",
    { mode: "fan-out-bounded", max_concurrency: 5, scope: "tenant" },
    { name: "s/t of acme", maxConcurrency: 5 },
  ],
  ["a sequential tool", { mode: "sequential-only", scope: "global" }, { name: "s/t", maxConcurrency: 1 }],
  ["a barrier", { barrier: true, scope: "global" }, { name: "s/t", maxConcurrency: 1 }],
  [
    "a rate, which all tenants share",
    { mode: "parallel-safe", rate_limit: { max: 20, per_ms: 1_000 } },
    { name: "s/t", rate: { max: 20, perMs: 1_000 } },
  ],
  [
    "a rate for each tenant",
    { mode: "parallel-safe", scope: "tenant", rate_limit: { max: 20, per_ms: 1_000 } },
    { name: "s/t of acme", rate: { max: 20, perMs: 1_000 } },
  ],
] as const)("the limit beyond the plan of a tool with %s", (_, contract, expected) => {
  expect(limitOf(contract)).toEqual(expected);
});

test("the limit of a tool is the same whether or not another server offers the same name", () => {
  const contract = { mode: "sequential-only", scope: "global" };
  const tool = { server: "s", trusted: true, _meta: { "x-orchestration": contract } };
  const options = { tenant: "acme", unannotated: "sequential" as const };
  expect(sharedLimitOf({ ...tool, name: "s/t" }, options)).toEqual(
    sharedLimitOf({ ...tool, name: "t" }, options),
  );
});

test("a slot that is free before the call is told to wait is offered after that, and not lost", async () => {
  const limits = createLocalQueues().openToolLimits({ leaseMs: 1, onError: () => undefined });
  onTestFinished(() => limits.close());
  const contract = { mode: "sequential-only", scope: "global" };
  const descriptor = { name: "t", server: "s", trusted: true, _meta: { "x-orchestration": contract } };
  const events: string[] = [];
  const plans = createPlanLimits({
    limits,
    planId: "p",
    tenant: "acme",
    unannotated: "sequential",
    planTools: { find: () => descriptor },
    now: () => 0,
    random: () => 0,
    onCleared: () => void events.push("cleared"),
  });
  const enter = async (key: string) => {
    const entry = await plans.enter({ key, tool: "t" } as Call);
    events.push(entry?.type ?? "free");
    return entry;
  };
  // A process that starts waits for one lease.
  await delay(20);
  const first = await enter("a");
  const entering = enter("b");
  if (first?.type === "granted") first.slot.release();
  await entering;
  await setImmediate();
  await setImmediate();
  expect(events).toEqual(["granted", "deferred", "cleared"]);
});
