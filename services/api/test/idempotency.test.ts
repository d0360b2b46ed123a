import { afterAll, beforeAll, expect, test } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { cancelInDoubtAs, planAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const CREATE = `mutation ($query: String!, $execute: Boolean! = true, $context: ContextInput, $profile: String, $policy: JSON, $key: String) {
  createPlan(query: $query, execute: $execute, context: $context, profile: $profile, policy: $policy, idempotencyKey: $key) { requestId planId status }
}`;
const SUBMIT = `mutation ($plan: JSON!, $query: String, $key: String) {
  submitPlan(plan: $plan, query: $query, idempotencyKey: $key) { requestId planId status }
}`;
const codeOf = (answer: { body: { errors?: { extensions: { code: string } }[] } }) =>
  answer.body.errors?.[0]?.extensions.code;

test("createPlan with a used key returns the first request in its current state", async () => {
  const input = { query: "once only", key: "c1" };
  const first = await running.graphql(CREATE, input);
  await planAs(running.store, first.body.data.createPlan.requestId);
  const { requestId, planId } = first.body.data.createPlan;
  const second = await running.graphql(CREATE, { ...input, query: "  once only " });
  expect(second.body.data.createPlan).toEqual({ requestId, planId, status: "EXECUTING" });
});

test.each([
  ["another sentence", CREATE, { query: "other" }],
  ["another value of execute", CREATE, { query: "first", execute: false }],
  ["another zone", CREATE, { query: "first", context: { timezone: "Europe/Berlin" } }],
  ["other facts", CREATE, { query: "first", context: { facts: { userId: "u_2" } } }],
  ["a profile", CREATE, { query: "first", profile: "orchestrator" }],
  ["a policy", CREATE, { query: "first", policy: { maxParallel: 2 } }],
  ["a plan", SUBMIT, { plan: BLOG_PLAN }],
])("a key with %s is refused, with the request that it belongs to", async (_, query, variables) => {
  const first = await running.graphql(CREATE, { query: "first", key: "c2" });
  const again = await running.graphql(query, { ...variables, key: "c2" });
  expect(again.body.errors[0].extensions).toMatchObject({
    code: "IDEMPOTENCY_KEY_REUSED",
    retryable: false,
    requestId: first.body.data.createPlan.requestId,
    remedy: expect.any(String),
  });
});

test("createPlan with a key compares contexts by content", async () => {
  const context = { now: "2026-11-25T09:00:00+01:00", facts: { a: 1, b: { c: 2, d: 3 } } };
  const first = await running.graphql(CREATE, { query: "here", key: "c3", context });
  const same = { now: "2026-11-25T08:00:00Z", facts: { b: { d: 3, c: 2 }, a: 1 } };
  const second = await running.graphql(CREATE, { query: "here", key: "c3", context: same });
  expect(second.body.data.createPlan).toEqual(first.body.data.createPlan);
});

test("submitPlan with a key compares plans by content, and stores one", async () => {
  const [author, blog] = BLOG_PLAN.steps;
  const reordered = { steps: [{ tool: author!.tool, arguments: author!.arguments, id: author!.id }, blog] };
  const first = await running.graphql(SUBMIT, { plan: BLOG_PLAN, key: "s1" });
  const same = await running.graphql(SUBMIT, { plan: JSON.stringify(reordered), key: "s1" });
  expect(same.body.data.submitPlan).toEqual(first.body.data.submitPlan);
  const other = { steps: [{ ...author, arguments: { ...author!.arguments, name: "Bob" } }, blog] };
  expect(codeOf(await running.graphql(SUBMIT, { plan: other, key: "s1" }))).toBe("IDEMPOTENCY_KEY_REUSED");
  const named = { plan: BLOG_PLAN, query: "blog by Alice", key: "s1" };
  expect(codeOf(await running.graphql(SUBMIT, named))).toBe("IDEMPOTENCY_KEY_REUSED");
});

test("submitPlan with the key of a plan that ended with a call in doubt creates nothing, and reports the doubt", async () => {
  const submit = `mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true, idempotencyKey: "doubt") {
    requestId planId status plan { counts { inDoubt } steps { id status error { code } } } } }`;
  const first = await running.graphql(submit, { plan: BLOG_PLAN });
  const { requestId, planId } = first.body.data.submitPlan;
  await cancelInDoubtAs(running.store, planId);
  const again = await running.graphql(submit, { plan: BLOG_PLAN });
  expect(again.body.data.submitPlan).toEqual({
    requestId,
    planId,
    status: "CANCELLED",
    plan: {
      counts: { inDoubt: 1 },
      steps: [
        { id: "createAuthor", status: "IN_DOUBT", error: { code: "TOOL_CONNECTION_LOST" } },
        { id: "createBlog", status: "CANCELLED", error: { code: "CANCELLED" } },
      ],
    },
  });
});

test("an invalid plan with a used key is refused again with the ids and diagnostics of the first call", async () => {
  const plan = { steps: [{ id: "a", tool: "unknown", arguments: {} }] };
  const first = await running.graphql(SUBMIT, { plan, key: "s2" });
  const second = await running.graphql(SUBMIT, { plan, key: "s2" });
  expect(codeOf(first)).toBe("PLAN_INVALID");
  expect(second.body.errors).toEqual(first.body.errors);
});

test.each(["createPlanWithRequestId", "createPlanWithWorkflow"])(
  "%s with a used key does not plan again",
  async (operation) => {
    const query = `${operation} once`;
    const ask = () =>
      running.graphql(
        `mutation ($query: String!, $key: String) { made: ${operation}(query: $query, idempotencyKey: $key) { requestId planId } }`,
        { query, key: operation },
      );
    const storedRequests = async () =>
      (await running.store.listRequests("default", { first: 100 })).items.filter(
        (one) => one.query === query,
      );
    const first = ask();
    await expect.poll(storedRequests).toHaveLength(1);
    const [request] = await storedRequests();
    await planAs(running.store, request!._id);
    const { made } = (await first).body.data;
    expect((await ask()).body.data.made).toEqual(made);
    expect(made.requestId).toBe(request!._id);
    expect(await storedRequests()).toHaveLength(1);
  },
);

test("fifty concurrent calls with one key get one request", async () => {
  const calls = Array.from({ length: 50 }, () => running.graphql(CREATE, { query: "race", key: "r" }));
  const answers = await Promise.all(calls);
  expect(new Set(answers.map(({ body }) => body.data.createPlan.requestId)).size).toBe(1);
});
