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
  [
    {},
    {
      onStepFailure: "auto",
      onMissingField: "error",
      maxParallel: 16,
      stepTimeoutMs: 60_000,
      unreachableMs: 600_000,
      approvalTimeoutMs: 604_800_000,
    },
  ],
  [
    { profile: "tool-chaining" },
    { onStepFailure: "fail-fast", onMissingField: "keep", onUnresolvedStep: "keep", maxParallel: 1 },
  ],
  [
    { profile: "tool-planning" },
    { onStepFailure: "fail-forward", onMissingField: "null", unannotated: "parallel" },
  ],
  [{ profile: "ordered-calls" }, { onCycle: "run-together", unannotated: "parallel" }],
  [
    { profile: "orchestrator" },
    {
      stepTimeoutMs: 30_000,
      mergeDependencyOutputs: true,
      navigation: "first",
      onCycle: "break-fewest",
      unannotated: "parallel",
    },
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

test("the host's policy, including its profile, overrides the document's", () => {
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

test("a plan stores the limits with which it was accepted, and printing and reading with them returns the plan", () => {
  const steps = Array.from({ length: 1_200 }, (_, index) => ({ id: `s${index}`, tool: "t" }));
  const parsed = parsePlan({ steps }, { limits: { maxSteps: 2_000 } });
  if (!parsed.ok) expect.fail("refused");
  expect(parsed.plan.limits.maxSteps).toBe(2_000);
  expect(parsePlan(printPlan(parsed.plan), { limits: parsed.plan.limits })).toEqual(parsed);
  expect(validatePlan(parsed.plan, [{ name: "t" }])).toEqual([]);
  expect(parsePlan(printPlan(parsed.plan)).ok).toBe(false);
});

test("invalid options of the caller are diagnostics, not exceptions", () => {
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
    "literals",
    "policy",
    "limits",
  ]);
});

test("a dependency on a tool with too many steps is an error", () => {
  const calls = [...Array.from({ length: 1_001 }, () => ({ tool: "t" })), { tool: "last", dependsOn: "t" }];
  const parsed = parsePlan(calls, { limits: { maxSteps: 2_000 } });
  expect(parsed.diagnostics.map(({ code, stepId }) => [code, stepId])).toEqual([["FIELD_INVALID", "last"]]);
});

test("insert also inserts the dependencies of inserted tools, in order, once", () => {
  const needs = (tool: string) => ({ "x-orchestration": { depends_on: [{ tool }] } });
  const tools = [
    { name: "login" },
    { name: "open", trusted: true, _meta: needs("login") },
    { name: "read", trusted: true, _meta: needs("open") },
  ];
  const parsed = parsePlan(
    [
      { id: "one", tool: "read" },
      { id: "two", tool: "read" },
    ],
    {
      tools,
      policy: { onAbsentDependency: "insert" },
    },
  );
  if (!parsed.ok) expect.fail(JSON.stringify(parsed.diagnostics));
  expect(parsed.plan.steps.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
    ["login", []],
    ["open", ["login"]],
    ["one", ["open"]],
    ["two", ["open"]],
  ]);
  const again = parsePlan(printPlan(parsed.plan), { tools, policy: { onAbsentDependency: "insert" } });
  expect(again).toMatchObject({ ok: true, plan: parsed.plan, diagnostics: [] });
});

test("a plan with more than 1,000 errors reports 1,000", () => {
  const steps = Array.from({ length: 900 }, (_, index) => ({
    id: `s${index}`,
    tool: "t",
    dependsOn: ["x", "y", "z"],
  }));
  expect(parsePlan({ steps }).diagnostics).toHaveLength(1_000);
  const warned = parsePlan({ steps: [...steps, { tool: 5 }] }, { policy: { onAbsentDependency: "ignore" } });
  expect(warned.ok).toBe(false);
});
