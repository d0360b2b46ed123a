import {
  FailureModeSchema,
  type PolicyInput,
  PolicySchema,
  parsePlan,
  planJsonSchema,
  printPlan,
  resolvePolicy,
  validatePlan,
} from "@planwright/plan";
import { expect, test } from "vitest";

test.each<[PolicyInput, object]>([
  [{}, { onStepFailure: "auto", onMissingField: "error", maxParallel: 16, stepTimeoutMs: 60_000 }],
  [
    { profile: "tool-chaining" },
    { onStepFailure: "fail-fast", onMissingField: "keep", onUnresolvedStep: "keep", maxParallel: 1 },
  ],
  [{ profile: "tool-planning" }, { onStepFailure: "fail-forward", onMissingField: "null" }],
  [{ profile: "ordered-calls" }, { onCycle: "break-fewest", unannotated: "parallel" }],
  [
    { profile: "orchestrator" },
    { stepTimeoutMs: 30_000, mergeDependencyOutputs: true, navigation: "first", onCycle: "run-together" },
  ],
  [{ profile: "contract" }, { onStepFailure: "auto", unannotated: "sequential" }],
  [
    { profile: "orchestrator", stepTimeoutMs: 5 },
    { stepTimeoutMs: 5, navigation: "first" },
  ],
  [{ profile: "tool-chaining", onMissingField: undefined }, { onMissingField: "keep" }],
])("resolvePolicy completes %j", (given, expected) => {
  const policy = resolvePolicy(given);
  expect(policy).toMatchObject(expected);
  expect(PolicySchema.parse(policy)).toEqual(policy);
  expect(resolvePolicy(policy)).toEqual(policy);
});

test.each([{ speed: 1 }, { maxParallel: 257 }, { profile: "x" }, { onCycle: null }])(
  "resolvePolicy refuses %j with a typed error",
  (given) => {
    expect(() => resolvePolicy(given as PolicyInput)).toThrow(
      expect.objectContaining({ code: "POLICY_INVALID" }),
    );
  },
);

test("the host's policy wins over the document's, profile included", () => {
  const document = { steps: [{ tool: "t" }], policy: { onMissingField: "keep", maxParallel: 3 } };
  const own = parsePlan(document);
  expect(own.ok && own.plan.policy).toMatchObject({ onMissingField: "keep", maxParallel: 3 });
  const hosted = parsePlan(document, { policy: { profile: "tool-planning" } });
  expect(hosted.ok && hosted.plan.policy).toMatchObject({
    profile: "tool-planning",
    onMissingField: "null",
    maxParallel: 3,
    onStepFailure: FailureModeSchema.enum["fail-forward"],
  });
});

test("a plan stores the limits it was accepted under, and printing and reading under them gives it back", () => {
  const steps = Array.from({ length: 1_200 }, (_, index) => ({ id: `s${index}`, tool: "t" }));
  const parsed = parsePlan({ steps }, { limits: { maxSteps: 2_000 } });
  if (!parsed.ok) expect.fail("refused");
  expect(parsed.plan.limits.maxSteps).toBe(2_000);
  expect(parsePlan(printPlan(parsed.plan), { limits: parsed.plan.limits })).toEqual(parsed);
  expect(validatePlan(parsed.plan, [{ name: "t" }])).toEqual([]);
  expect(parsePlan(printPlan(parsed.plan)).ok).toBe(false);
});

test("invalid options of the caller are findings, not exceptions", () => {
  const parsed = parsePlan([{ tool: "t" }], {
    policy: { maxParallel: 0 },
    limits: { maxSteps: 0 },
  });
  expect(parsed.diagnostics.map(({ code }) => code)).toEqual(["LIMITS_INVALID", "POLICY_INVALID"]);
});

test("planJsonSchema is JSON Schema 2020-12 of the plan document", () => {
  const schema = planJsonSchema();
  expect(schema["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema");
  expect(Object.keys(schema["properties"] as object)).toEqual([
    "formatVersion",
    "steps",
    "outputs",
    "policy",
    "limits",
  ]);
});
