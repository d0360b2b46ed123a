import { resolvePolicy } from "@planwright/plan";
import { expect, test } from "vitest";
import { policyOf } from "./check-draft.ts";

const defaults = resolvePolicy({ replannedEffects: "run", maxParallel: 9, stepTimeoutMs: 5_000 });

test("a request without a policy gets the policy of the planner", () => {
  expect(policyOf({}, defaults)).toEqual(defaults);
  expect(policyOf({})).toEqual(resolvePolicy());
});

test("a profile overrides the policy of the planner, and an option overrides the profile", () => {
  const policy = policyOf({ policy: { profile: "orchestrator", onCycle: "error" } }, defaults);
  expect(policy).toMatchObject({
    profile: "orchestrator",
    mergeDependencyOutputs: true,
    stepTimeoutMs: 30_000,
    onCycle: "error",
    replannedEffects: "run",
    maxParallel: 9,
  });
});

test("the planner's replannedEffects is a limit: callers may tighten it, not loosen it", () => {
  const careful = resolvePolicy({ replannedEffects: "approve" });
  expect(policyOf({ policy: { replannedEffects: "run" } }, careful).replannedEffects).toBe("approve");
  expect(policyOf({ policy: { replannedEffects: "run" } }).replannedEffects).toBe("approve");
  expect(policyOf({ policy: { replannedEffects: "approve" } }, defaults).replannedEffects).toBe("approve");
  expect(policyOf({ policy: { replannedEffects: "run" } }, defaults).replannedEffects).toBe("run");
});
