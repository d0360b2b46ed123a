import { expect, test } from "vitest";
import { parsePolicy } from "./parse-options.ts";

test("without a profile and options there is no policy", () => {
  expect(parsePolicy({})).toBeUndefined();
  expect(parsePolicy({ profile: null, policy: null })).toBeUndefined();
  expect(parsePolicy({ policy: {} })).toBeUndefined();
});

test("profile and options are kept together, unchanged", () => {
  expect(parsePolicy({ profile: "orchestrator" })).toEqual({ profile: "orchestrator" });
  const policy = { maxParallel: 4, onStepFailure: "fail-forward" };
  expect(parsePolicy({ profile: "tool-planning", policy })).toEqual({ ...policy, profile: "tool-planning" });
  expect(parsePolicy({ profile: "contract", policy: { profile: "contract" } })).toEqual({
    profile: "contract",
  });
});

test.each([
  ["an unknown profile", { profile: "fastest" }, { option: "profile", value: "fastest" }],
  ["an unknown option", { policy: { speed: 9 } }, { option: "policy.speed", value: 9 }],
  [
    "a value outside of the range",
    { policy: { maxParallel: 0 } },
    { option: "policy.maxParallel", value: 0 },
  ],
  ["an unknown value", { policy: { onCycle: "go" } }, { option: "policy.onCycle", value: "go" }],
  ["a null", { policy: { navigation: null } }, { option: "policy.navigation", value: null }],
  ["a list", { policy: ["maxParallel"] }, { option: "policy", value: ["maxParallel"] }],
  ["an inherited name", { policy: JSON.parse('{"__proto__": 1}') }, { option: "policy.__proto__", value: 1 }],
  [
    "two profiles",
    { profile: "contract", policy: { profile: "orchestrator" } },
    { option: "policy.profile", value: "orchestrator" },
  ],
])("%s is refused with the option and its value", (_, given, facts) => {
  expect(() => parsePolicy(given)).toThrow(
    expect.objectContaining({ code: "POLICY_INVALID", facts, remedy: expect.stringMatching(/\w/) }),
  );
});

test("a long value is quoted partly", () => {
  const given = { policy: { onCycle: "x".repeat(5_000) } };
  expect(() => parsePolicy(given)).toThrow(/^policy\.onCycle cannot be "x{99}…$/);
});
