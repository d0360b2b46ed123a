import { resolvePolicy } from "@planwright/plan";
import { expect, test } from "vitest";
import { policyOf } from "./policy-of.ts";

const own = resolvePolicy({ replannedEffects: "run", maxParallel: 9, stepTimeoutMs: 5_000 });

test("a request that asks for nothing gets the planner's own policy", () => {
  expect(policyOf({}, own)).toEqual(own);
  expect(policyOf({})).toEqual(resolvePolicy());
});

test("a profile wins over the planner's own policy, and an option over the profile", () => {
  const policy = policyOf({ policy: { profile: "orchestrator", onCycle: "error" } }, own);
  expect(policy).toMatchObject({
    profile: "orchestrator",
    mergeDependencyOutputs: true,
    stepTimeoutMs: 30_000,
    onCycle: "error",
    replannedEffects: "run",
    maxParallel: 9,
  });
});

test("the planner's own word on side effects of a replan is a limit: callers may tighten it, not loosen it", () => {
  const careful = resolvePolicy({ replannedEffects: "approve" });
  expect(policyOf({ policy: { replannedEffects: "run" } }, careful).replannedEffects).toBe("approve");
  expect(policyOf({ policy: { replannedEffects: "run" } }).replannedEffects).toBe("approve");
  expect(policyOf({ policy: { replannedEffects: "approve" } }, own).replannedEffects).toBe("approve");
  expect(policyOf({ policy: { replannedEffects: "run" } }, own).replannedEffects).toBe("run");
});
