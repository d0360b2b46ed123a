import type { PlanId, RequestId } from "@planwright/plan";
import { eventually } from "@planwright/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createKnownTools } from "../src/operation/context.ts";
import { createPlanWithRequestId, executeByRequestId } from "../src/resolvers/older-api.ts";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, NO_OFFERS, type RunningApi, startTestApi } from "./running-api.ts";
import { AUTHOR, acceptedRequest, askAs, executeAs, failAs, failPlanningAs, planAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const CREATE = `mutation ($query: String!) {
  createPlanWithRequestId(query: $query) {
    id requestId planId query plan toolOrder executionState executionResults validationResult createdAt updatedAt
    selectedTools { toolName name parameters dependsOn }
  }
}`;
const EXECUTE = `mutation ($requestId: ID!) {
  executeByRequestId(requestId: $requestId) {
    id requestId planId executionState status totalExecutions successful failed skipped results outputs errors
    createdAt updatedAt
  }
}`;

async function planned(query: string) {
  const answer = running.graphql(CREATE, { query });
  await planAs(running.store, await acceptedRequest(running.store, query));
  return (await answer).body.data.createPlanWithRequestId;
}

test("createPlanWithRequestId waits for the plan and returns it with the old field names, with JSON as text", async () => {
  const plan = await planned("old client one");
  expect(plan).toMatchObject({
    id: plan.planId,
    query: "old client one",
    toolOrder: ["createAuthor", "createBlog"],
    executionState: "pending",
    executionResults: null,
    validationResult: "[]",
  });
  expect(plan.requestId).toMatch(/^req_[0-9]{10}_[a-z0-9]{16,}$/);
  expect(plan.planId).toMatch(/^plan_[0-9]{10}_[a-z0-9]{16,}$/);
  expect(JSON.parse(plan.plan).steps).toHaveLength(2);
  expect(plan.selectedTools).toEqual([
    {
      toolName: "createAuthor",
      name: "createAuthor",
      parameters: JSON.stringify(BLOG_PLAN.steps[0]!.arguments),
      dependsOn: null,
    },
    {
      toolName: "createBlog",
      name: "createBlog",
      parameters: JSON.stringify(BLOG_PLAN.steps[1]!.arguments),
      dependsOn: "createAuthor",
    },
  ]);
  expect(running.offered).toEqual([`planning ${plan.requestId}`]);
});

test("executeByRequestId waits for the end and returns counts, results, outputs and errors", async () => {
  const { requestId, planId } = await planned("old client two");
  const answer = running.graphql(EXECUTE, { requestId });
  await eventually(async () => (await running.store.getPlan("default", planId))?.queuedAt);
  await executeAs(running.store, planId);
  const execution = (await answer).body.data.executeByRequestId;
  expect(execution).toMatchObject({
    id: planId,
    executionState: "completed",
    status: "COMPLETED",
    totalExecutions: 2,
    successful: 2,
    failed: 0,
    skipped: 0,
    errors: [],
  });
  expect(JSON.parse(execution.outputs)).toEqual({
    createAuthor: AUTHOR,
    createBlog: { _id: "b1", authorId: "a1" },
  });
  expect(JSON.parse(execution.results)).toMatchObject([
    {
      stepId: "createAuthor",
      toolName: "createAuthor",
      status: "COMPLETED",
      success: true,
      output: AUTHOR,
      error: null,
    },
    { stepId: "createBlog", parameters: { authorId: "a1" }, success: true },
  ]);
});

test("executeByRequestId called twice executes once", async () => {
  const { requestId, planId } = await planned("old client three");
  const first = running.graphql(EXECUTE, { requestId });
  const second = running.graphql(EXECUTE, { requestId });
  await eventually(async () => (await running.store.getPlan("default", planId))?.queuedAt);
  await executeAs(running.store, planId);
  const answers = await Promise.all([first, second, running.graphql(EXECUTE, { requestId })]);
  for (const { body } of answers) expect(body.data.executeByRequestId.successful).toBe(2);
  expect((await running.store.getPlan("default", planId))!.epoch).toBe(1);
});

test("a failed step is counted and named, its dependents are skipped", async () => {
  const { requestId, planId } = await planned("old client four");
  const answer = running.graphql(EXECUTE, { requestId });
  await eventually(async () => (await running.store.getPlan("default", planId))?.queuedAt);
  await failAs(running.store, planId);
  expect((await answer).body.data.executeByRequestId).toMatchObject({
    executionState: "failed",
    successful: 0,
    failed: 1,
    skipped: 1,
    outputs: "{}",
    errors: ["createAuthor: email alice@test.com is taken"],
  });
});

test("a plan of which a part failed reads as failed, and its executionResults have results and errors", async () => {
  const { requestId, planId } = await planned("old client of a part");
  const answer = running.graphql(EXECUTE, { requestId });
  await eventually(async () => (await running.store.getPlan("default", planId))?.queuedAt);
  await failAs(running.store, planId, "PARTIAL");
  expect((await answer).body.data.executeByRequestId).toMatchObject({
    executionState: "failed",
    status: "PARTIAL",
  });
  const { body } = await running.graphql(
    `query ($id: ID!) {
      plansByRequestId(requestId: $id) { executionState executionResults }
      request(requestId: $id) { executionState }
    }`,
    { id: requestId },
  );
  const [plan] = body.data.plansByRequestId;
  expect([plan.executionState, body.data.request.executionState]).toEqual(["failed", "failed"]);
  expect(JSON.parse(plan.executionResults)).toMatchObject({
    results: [{ stepId: "createAuthor", success: false }, { stepId: "createBlog" }],
    errors: ["createAuthor: email alice@test.com is taken"],
  });
});

test("executeByRequestId during planning starts the plan when it is ready", async () => {
  const created = await running.graphql(
    `mutation { createPlan(query: "old client five", execute: false) { requestId planId } }`,
  );
  const { requestId, planId } = created.body.data.createPlan;
  const answer = running.graphql(EXECUTE, { requestId });
  await eventually(async () => (await running.store.getRequest("default", requestId))?.autoExecute);
  await planAs(running.store, requestId);
  await eventually(async () => (await running.store.getPlan("default", planId))?.queuedAt);
  await executeAs(running.store, planId);
  expect((await answer).body.data.executeByRequestId.executionState).toBe("completed");
});

test.each([
  ["NOT_UNDERSTOOD", "NOT_UNDERSTOOD", false],
  ["MODEL_UNREACHABLE", "MODEL_UNREACHABLE", true],
  ["SOMETHING_NEW", "PLANNING_FAILED", false],
])("planning that fails with %s is an error with code %s", async (plannerCode, code, retryable) => {
  const query = `fails with ${plannerCode}`;
  const answer = running.graphql(CREATE, { query });
  const requestId = await acceptedRequest(running.store, query);
  await failPlanningAs(running.store, requestId, { code: plannerCode, message: "say it in other words" });
  const [error] = (await answer).body.errors;
  expect(error.message).toBe("say it in other words");
  expect(error.path).toEqual(["createPlanWithRequestId"]);
  expect(error.extensions).toMatchObject({ code, plannerCode, requestId, retryable });
  expect(error.extensions.remedy).toEqual(expect.any(String));
  const executed = await running.graphql(EXECUTE, { requestId });
  expect(executed.body.errors[0].extensions.code).toBe(code);
});

test("a plan that stayed invalid is an error with its diagnostics", async () => {
  const answer = running.graphql(CREATE, { query: "stays invalid" });
  const requestId = await acceptedRequest(running.store, "stays invalid");
  const diagnostic = {
    code: "TOOL_UNKNOWN" as const,
    severity: "error" as const,
    message: "no tool createAuthr",
  };
  await failPlanningAs(running.store, requestId, { code: "PLAN_INVALID", message: "not valid" }, [
    diagnostic,
  ]);
  const [error] = (await answer).body.errors;
  expect(error.extensions).toMatchObject({ code: "PLAN_INVALID", requestId, diagnostics: [diagnostic] });
});

test("a planner with open questions is an error with the questions", async () => {
  const answer = running.graphql(CREATE, { query: "asks back" });
  const requestId = await acceptedRequest(running.store, "asks back");
  await askAs(running.store, requestId, ["Which email has Alice?"]);
  const [error] = (await answer).body.errors;
  expect(error.extensions).toMatchObject({ code: "NEEDS_INPUT", questions: ["Which email has Alice?"] });

  const ANSWER = `mutation($id: ID!, $answers: [String!]!) {
    answerQuestions(requestId: $id, answers: $answers) { status questions answers { question answer } } }`;
  const tooMany = await running.graphql(ANSWER, { id: requestId, answers: ["alice@test.com", "and more"] });
  expect(tooMany.body.errors[0].extensions).toMatchObject({
    code: "BAD_USER_INPUT",
    remedy: expect.stringContaining("Which email has Alice?"),
  });
  const { body } = await running.graphql(ANSWER, { id: requestId, answers: ["alice@test.com"] });
  const given = { question: "Which email has Alice?", answer: "alice@test.com" };
  expect(body.data.answerQuestions).toEqual({ status: "PLANNING", questions: [], answers: [given] });
  expect(running.offered.at(-1)).toBe(`planning ${requestId}`);
  const again = await running.graphql(ANSWER, { id: requestId, answers: ["bob@test.com"] });
  expect(again.body.errors[0].extensions).toMatchObject({ code: "STATE_CONFLICT", status: "PLANNING" });
  expect((await running.store.getRequest("default", requestId as RequestId))?.answers).toMatchObject([given]);
});

test("a plan that takes longer than the wait is returned in its current state, and planning that takes longer is an error", async () => {
  const parts = {
    store: running.store,
    knownTools: createKnownTools(running.store),
    tenant: "default",
    by: "test",
    offers: NO_OFFERS,
  };
  const timeout = expect.objectContaining({ code: "TIMEOUT", retryable: true });
  await expect(createPlanWithRequestId(parts, { query: "never planned" }, 30)).rejects.toEqual(timeout);
  const requestId = await acceptedRequest(running.store, "never planned");
  await expect(executeByRequestId(parts, requestId, 30)).rejects.toEqual(timeout);
  await planAs(running.store, requestId);
  expect((await executeByRequestId(parts, requestId, 30)).status).toBe("QUEUED");
});

test("createPlanWithWorkflow plans, and returns plan and diagnostics as JSON text", async () => {
  const query = "old client with a workflow";
  const answer = running.graphql(
    "mutation CreatePlan($query: String!) { createPlanWithWorkflow(query: $query) { id query plan selectedTools { name } validationResult } }",
    { query },
  );
  await planAs(running.store, await acceptedRequest(running.store, query));
  const plan = (await answer).body.data.createPlanWithWorkflow;
  expect(plan).toMatchObject({
    query,
    selectedTools: [{ name: "createAuthor" }, { name: "createBlog" }],
    validationResult: "[]",
  });
  expect(JSON.parse(plan.plan).steps).toHaveLength(2);
});

test("getPlans lists the newest plans of one tenant, and getExecutions the started ones", async () => {
  const other = await startTestApi();
  onTestFinished(() => other.close());
  const submit =
    "mutation ($plan: JSON!, $execute: Boolean!) { submitPlan(plan: $plan, execute: $execute) { planId } }";
  const ids: string[] = [];
  for (const execute of [true, false]) {
    const { body } = await other.graphql(submit, { plan: BLOG_PLAN, execute });
    ids.push(body.data.submitPlan.planId);
  }
  const [started = ""] = ids;
  await executeAs(other.store, started as PlanId);
  const stranger = await bearer(other.store, ["execute"], { tenant: "elsewhere" });
  const foreign = await other.graphql(submit, { plan: BLOG_PLAN, execute: true }, stranger);
  expect(await other.store.getPlan("elsewhere", foreign.body.data.submitPlan.planId)).not.toBeNull();
  const { body } = await other.graphql(`{
    getPlans { id query plan selectedTools { toolName parameters dependsOn } toolOrder executionState validationResult }
    getExecutions { id requestId planId executionState totalExecutions successful failed results outputs errors }
  }`);
  expect(body.errors).toBeUndefined();
  const { getPlans, getExecutions } = body.data;
  expect(new Set(getPlans.map(({ id }: { id: string }) => id))).toEqual(new Set(ids));
  expect(getExecutions).toMatchObject([
    { id: started, executionState: "completed", totalExecutions: 2, successful: 2, failed: 0 },
  ]);
  expect(JSON.parse(getExecutions[0].outputs)).toMatchObject({ createAuthor: AUTHOR });
  const tooMany = await other.graphql("{ getPlans(first: 101) { id } }");
  expect(tooMany.body.errors[0].extensions).toMatchObject({ code: "BAD_USER_INPUT", argument: "first" });
});

test.each(["req_1700000000_abcdefghijklmnopqrst", "nope", ""])(
  "the error for the unknown request %j has the text that older clients expect",
  async (id) => {
    const answers = [
      await running.graphql(EXECUTE, { requestId: id }),
      await running.graphql("query ($id: ID!) { plansByRequestId(requestId: $id) { id } }", { id }),
      await running.graphql("query ($id: ID!) { plan(id: $id) { id } }", { id }),
    ];
    for (const { body } of answers) {
      expect(body.errors[0].message).toBe(`Plan not found for requestId: ${id}`);
      expect(body.errors[0].extensions.code).toBe("NOT_FOUND");
    }
  },
);

test.each(["k3j9x0abc", "req_1700000000123_k3j9x0abc", "req_1700000000_k3j9x0abc"])(
  "newer operations do not know the id %j of an older system, which is not malformed",
  async (id) => {
    const answers = [
      await running.graphql("query ($id: ID!) { request(requestId: $id) { id } }", { id }),
      await running.graphql("mutation ($id: ID!) { cancel(requestId: $id) { id } }", { id }),
      await running.graphql("mutation ($id: ID!) { rerun(requestId: $id) { id } }", { id }),
    ];
    for (const { body } of answers) {
      expect(body.errors[0].message).toBe(`Plan not found for requestId: ${id}`);
      expect(body.errors[0].extensions.code).toBe("NOT_FOUND");
    }
  },
);

test("newer operations distinguish a malformed id from an unknown one", async () => {
  const { body } = await running.graphql('{ request(requestId: "nope") { id } }');
  expect(body.errors[0]).toMatchObject({
    message: 'Not a request id: "nope"',
    extensions: { code: "BAD_USER_INPUT" },
  });
});

test("getAvailableTools returns name, description and category", async () => {
  const { body } = await running.graphql(
    "{ getAvailableTools { name description category server title inputSchema parameters outputSchema contract } }",
  );
  expect(body.data.getAvailableTools).toMatchObject([
    {
      name: "createAuthor",
      description: "Does createAuthor",
      category: "blog",
      server: "blog",
      outputSchema: null,
    },
    { name: "createBlog", contract: { sideEffects: true } },
  ]);
});
