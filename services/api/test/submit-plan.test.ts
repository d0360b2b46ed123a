import { afterAll, beforeAll, expect, test } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const SUBMIT = `mutation ($plan: JSON!, $execute: Boolean! = true) {
  submitPlan(plan: $plan, execute: $execute, query: "blog by Alice") {
    requestId planId status executionState source query version autoExecute
    plan {
      status executionState query toolOrder document
      selectedTools { toolName name parameters dependsOn stepId }
      steps { id key tool status dependsOn arguments resolvedArguments waitReason attempts { attempt } }
      counts { total pending }
      origin { kind model } waitReason epoch durationMs
    }
  }
}`;

test("submitPlan stores a plan, queues it, and returns at once", async () => {
  const { body } = await running.graphql(SUBMIT, { plan: BLOG_PLAN });
  expect(body.errors).toBeUndefined();
  const request = body.data.submitPlan;
  expect(request).toMatchObject({
    status: "EXECUTING",
    executionState: "in-progress",
    source: "plan",
    version: 1,
  });
  expect(request.plan).toMatchObject({
    status: "QUEUED",
    query: "blog by Alice",
    toolOrder: ["createAuthor", "createBlog"],
    counts: { total: 2, pending: 2 },
    origin: { kind: "submitted", model: null },
    waitReason: "no worker",
    epoch: 0,
    durationMs: null,
  });
  expect(request.plan.steps).toEqual([
    {
      id: "createAuthor",
      key: "createAuthor",
      tool: "createAuthor",
      status: "PENDING",
      dependsOn: [],
      arguments: BLOG_PLAN.steps[0]!.arguments,
      resolvedArguments: null,
      waitReason: "no worker",
      attempts: [],
    },
    expect.objectContaining({
      id: "createBlog",
      dependsOn: ["createAuthor"],
      arguments: BLOG_PLAN.steps[1]!.arguments,
    }),
  ]);
  expect(request.plan.selectedTools[1]).toMatchObject({
    toolName: "createBlog",
    name: "createBlog",
    parameters: JSON.stringify(BLOG_PLAN.steps[1]!.arguments),
    dependsOn: "createAuthor",
  });
  expect(running.offered).toContain(`execution ${request.planId}`);
});

test("submitPlan with execute: false stores a plan without offering it to executors", async () => {
  const { body } = await running.graphql(SUBMIT, { plan: BLOG_PLAN, execute: false });
  const request = body.data.submitPlan;
  expect(request).toMatchObject({ status: "READY", executionState: "pending", autoExecute: false });
  expect(request.plan.waitReason).toBe("paused");
  expect(running.offered).not.toContain(`execution ${request.planId}`);
});

test("a plan with a value that looks like a credential is accepted unchanged, with a warning that does not repeat the value", async () => {
  const [author] = BLOG_PLAN.steps;
  const steps = [{ ...author, arguments: { name: "ghp_0123456789abcdefghij", email: "alice@test.com" } }];
  const warning = {
    code: "SECRET_EXPOSED",
    severity: "warning",
    stepId: "createAuthor",
    path: "steps[0].arguments.name",
    message: expect.stringMatching(/^(?!.*ghp_).*secret:\/\//),
    suggestion: "secret://name",
  };
  const fields = "diagnostics { code severity stepId path message suggestion }";
  const checked = await running.graphql(
    `query ($plan: JSON!) { validatePlan(plan: $plan) { valid ${fields} } }`,
    { plan: { steps } },
  );
  expect(checked.body.data.validatePlan).toEqual({ valid: true, diagnostics: [warning] });
  const submitted = await running.graphql(
    `mutation ($plan: JSON!) { submitPlan(plan: $plan) { status ${fields} plan { ${fields} steps { arguments } } } }`,
    { plan: { steps } },
  );
  expect(submitted.body.data.submitPlan).toEqual({
    status: "EXECUTING",
    diagnostics: [warning],
    plan: { diagnostics: [warning], steps: [{ arguments: steps[0]?.arguments }] },
  });
});
