import { PlanIdSchema, RequestIdSchema } from "@planwright/plan";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import {
  AUTHOR,
  askAs,
  cancelInDoubtAs,
  executeAs,
  failAs,
  failOpenAs,
  failPlanningAs,
  planAs,
  playStep,
} from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

async function submitted(play?: typeof failAs): Promise<{ requestId: string; planId: string }> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId planId } }",
    { plan: BLOG_PLAN },
  );
  const ids = body.data.submitPlan;
  await play?.(running.store, ids.planId);
  running.offered.length = 0;
  return ids;
}

async function rerun(requestId: string, more: object = {}) {
  const { body } = await running.graphql(
    `mutation ($id: ID!, $from: ID, $arguments: [StepArguments!], $acceptRepeat: [ID!], $execute: Boolean! = true) {
       rerun(requestId: $id, from: $from, arguments: $arguments, acceptRepeat: $acceptRepeat, execute: $execute) {
       planId version status executionState plan { id version status steps { id status arguments carriedFrom output warnings attempts { outcome } } }
       plans { id version } } }`,
    { id: requestId, ...more },
  );
  return body;
}

test("rerun creates a new version of a failed plan in the same request, and offers it", async () => {
  const { requestId, planId } = await submitted(failAs);
  const { data } = await rerun(requestId);
  const again = data.rerun;
  expect(again).toMatchObject({ version: 2, status: "EXECUTING", executionState: "in-progress" });
  expect(again.plan).toMatchObject({ id: again.planId, version: 2, status: "QUEUED" });
  expect(again.plan.steps).toMatchObject([{ status: "PENDING" }, { status: "PENDING" }]);
  expect(again.plans).toEqual([
    { id: again.planId, version: 2 },
    { id: planId, version: 1 },
  ]);
  expect(running.offered).toEqual([`execution ${again.planId}`]);
});

test("rerun from a step copies the other steps with outputs and attempts, and execute: false leaves the version READY", async () => {
  const { requestId, planId } = await submitted(executeAs);
  const { errors } = await rerun(requestId, { from: "createBlog", execute: false });
  expect(errors[0].extensions).toMatchObject({
    code: "REPEAT_NOT_ACCEPTED",
    acceptRepeat: ["createBlog"],
  });
  const accepted = { from: "createBlog", execute: false, acceptRepeat: ["createBlog"] };
  const { data } = await rerun(requestId, accepted);
  expect(data.rerun).toMatchObject({ status: "READY", plan: { status: "READY" } });
  expect(data.rerun.plan.steps).toEqual(
    [
      {
        id: "createAuthor",
        status: "COMPLETED",
        carriedFrom: planId,
        output: AUTHOR,
        attempts: [{ outcome: "completed" }],
      },
      { id: "createBlog", status: "PENDING", carriedFrom: null, output: null, attempts: [] },
    ].map((step) => expect.objectContaining(step)),
  );
  expect(running.offered).toEqual([]);
  const started = await running.graphql(
    "mutation ($id: ID!) { executePlan(requestId: $id) { plan { status } } }",
    {
      id: requestId,
    },
  );
  expect(started.body.data.executePlan.plan.status).toBe("QUEUED");
  const claim = (await running.store.claimPlan(data.rerun.planId, "test executor"))!;
  await playStep(running.store, claim, "createBlog", { arguments: {}, output: { _id: "b2" } });
  await running.store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
  expect((await running.store.getRequest("default", requestId))?.status).toBe("COMPLETED");
});

test("a running plan, and a plan without failures, are refused with a remedy", async () => {
  const continuing = await submitted();
  expect((await rerun(continuing.requestId)).errors[0].extensions).toMatchObject({
    code: "STATE_CONFLICT",
    status: "QUEUED",
    remedy: expect.stringContaining("cancel"),
  });
  const done = await submitted(executeAs);
  expect((await rerun(done.requestId)).errors[0].extensions).toMatchObject({
    code: "STATE_CONFLICT",
    remedy: expect.stringContaining("from"),
  });
  const { errors } = await rerun(done.requestId, { from: "unknown" });
  expect(errors[0].extensions).toMatchObject({ code: "NOT_FOUND", stepId: "unknown" });
});

test("steps in doubt are listed until an operator settles them", async () => {
  const { requestId } = await submitted(cancelInDoubtAs);
  expect((await rerun(requestId)).errors[0].extensions).toMatchObject({
    code: "STATE_CONFLICT",
    status: "IN_DOUBT",
    steps: ["createAuthor"],
    remedy: expect.stringContaining("resolveInDoubt"),
  });
  await running.graphql(
    `mutation ($id: ID!) { resolveInDoubt(requestId: $id, stepKey: "createAuthor", resolution: completed, output: {}) { id } }`,
    { id: requestId },
  );
  expect((await rerun(requestId)).data.rerun.plan.steps).toMatchObject([
    { status: "COMPLETED" },
    { status: "PENDING" },
  ]);
});

test("of concurrent reruns one creates a version", async () => {
  const { requestId } = await submitted(failAs);
  const answers = await Promise.all(Array.from({ length: 8 }, () => rerun(requestId)));
  expect(answers.filter(({ errors }) => errors === undefined)).toHaveLength(1);
  expect(await running.store.listPlanHeadsOf("default", [requestId])).toHaveLength(2);
});

test("a request that never had a valid plan is refused as by executePlan", async () => {
  const created = await running.graphql(`mutation { createPlan(query: "not yet") { requestId } }`);
  const { requestId } = created.body.data.createPlan;
  expect((await rerun(requestId)).errors[0].extensions.code).toBe("NOT_READY");
  await askAs(running.store, requestId, ["Which one?"]);
  expect((await rerun(requestId)).errors[0].extensions.code).toBe("NEEDS_INPUT");
  const refused = await running.graphql("mutation { submitPlan(plan: {steps: []}) { id } }");
  const { requestId: invalidId } = refused.body.errors[0].extensions;
  expect((await rerun(invalidId)).errors[0].extensions.code).toBe("PLAN_INVALID");
});

test("a sentence whose planning failed is planned again under its id, and a planner gets the hint", async () => {
  const created = await running.graphql(`mutation { createPlan(query: "in vain") { requestId } }`);
  const { requestId } = created.body.data.createPlan;
  await failPlanningAs(running.store, requestId, { code: "MODEL_UNREACHABLE", message: "HTTP 500" });
  running.offered.length = 0;
  const step = await rerun(requestId, { from: "createBlog" });
  expect(step.errors[0].extensions).toMatchObject({ plannerCode: "MODEL_UNREACHABLE" });
  const { data } = await rerun(requestId);
  expect(data.rerun).toMatchObject({ version: 1, status: "PLANNING", plan: null });
  expect(running.offered).toEqual([`planning ${requestId}`]);
});

test("a sentence that is planned again without execution is not executed, although that was asked for before it failed", async () => {
  const created = await running.graphql(
    `mutation { createPlan(query: "look at it first", execute: false) { requestId } }`,
  );
  const { requestId } = created.body.data.createPlan;
  const ask = (field: string) =>
    running.graphql(`mutation ($id: ID!) { ${field} { status } }`, { id: requestId });
  await ask("executePlan(requestId: $id)");
  await failPlanningAs(running.store, requestId, { code: "MODEL_UNREACHABLE", message: "HTTP 500" });
  await ask("rerun(requestId: $id, execute: false)");
  await planAs(running.store, RequestIdSchema.parse(requestId));
  const { body } = await running.graphql(
    "query ($id: ID!) { request(requestId: $id) { status plan { status } } }",
    { id: requestId },
  );
  expect(body.data.request).toEqual({ status: "READY", plan: { status: "READY" } });
});

const titled = (title: unknown) => ({ arguments: [{ stepId: "createBlog", set: { title } }] });

/** The first step has completed, the second one has failed. */
async function failBlogAs(store: RunningApi["store"], planId: string): Promise<void> {
  const claim = (await store.claimPlan(PlanIdSchema.parse(planId), "test executor"))!;
  await playStep(store, claim, "createAuthor", { arguments: {}, output: AUTHOR });
  const error = { code: "TOOL_FAILED", message: "The title is taken", retryable: false };
  await playStep(store, claim, "createBlog", { arguments: { title: "Hello" }, error });
  await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });
}

test("rerun with other arguments for a failed step copies the other steps and keeps the other arguments", async () => {
  const { requestId, planId } = await submitted(failBlogAs);
  const { data } = await rerun(requestId, titled("Hello again, {{createAuthor.name}}"));
  expect(data.rerun).toMatchObject({ version: 2, status: "EXECUTING" });
  expect(data.rerun.plan.steps).toMatchObject([
    {
      id: "createAuthor",
      status: "COMPLETED",
      carriedFrom: planId,
      arguments: BLOG_PLAN.steps[0]?.arguments,
    },
    {
      id: "createBlog",
      status: "PENDING",
      carriedFrom: null,
      arguments: { ...BLOG_PLAN.steps[1]?.arguments, title: "Hello again, <<createAuthor.name>>" },
    },
  ]);
  const before = await running.store.getPlan("default", PlanIdSchema.parse(planId));
  expect(before?.plan?.steps[1]).toMatchObject({ arguments: { title: "Hello" } });
});

test.each([
  [{ title: "<title>" }, "ARGUMENT_PLACEHOLDER"],
  [{ titel: "Hello" }, "ARGUMENT_UNKNOWN"],
  [{ title: "<<createAuthr.name>>" }, "REFERENCE_UNKNOWN"],
])("rerun with arguments that are not valid (%o) names them and stores nothing", async (set, code) => {
  const { requestId } = await submitted(failBlogAs);
  const { errors } = await rerun(requestId, { arguments: [{ stepId: "createBlog", set }] });
  expect(errors[0].extensions).toMatchObject({
    code: "PLAN_INVALID",
    requestId,
    stored: false,
    remedy: expect.stringContaining("nothing was stored"),
  });
  expect(errors[0].extensions.diagnostics).toContainEqual(
    expect.objectContaining({ code, stepId: "createBlog" }),
  );
  expect(await running.store.getRequest("default", RequestIdSchema.parse(requestId))).toMatchObject({
    version: 1,
    status: "FAILED",
  });
  expect(running.offered).toEqual([]);
});

test("the arguments of a completed step cannot change, also when it is run again", async () => {
  const { requestId } = await submitted(failBlogAs);
  const change = { arguments: [{ stepId: "createAuthor", set: { name: "Bob" } }] };
  for (const more of [{}, { from: "createAuthor" }]) {
    expect((await rerun(requestId, { ...change, ...more })).errors[0].extensions).toMatchObject({
      code: "STATE_CONFLICT",
      status: "COMPLETED",
      stepId: "createAuthor",
      remedy: expect.stringContaining("submitPlan"),
    });
  }
  expect(await running.store.listPlanHeadsOf("default", [RequestIdSchema.parse(requestId)])).toHaveLength(1);
});

test("the arguments of a step in doubt cannot change, and an unknown step is not found", async () => {
  const { requestId } = await submitted(cancelInDoubtAs);
  const doubt = await rerun(requestId, { arguments: [{ stepId: "createAuthor", set: { name: "Bob" } }] });
  expect(doubt.errors[0].extensions).toMatchObject({
    code: "STATE_CONFLICT",
    status: "IN_DOUBT",
    steps: ["createAuthor"],
  });
  const absent = await rerun(requestId, { arguments: [{ stepId: "gone", set: { name: "Bob" } }] });
  expect(absent.errors[0].extensions).toMatchObject({ code: "NOT_FOUND", stepId: "gone" });
});

test("a failed call that may have acted says so, and is called again only when its step is named", async () => {
  const { requestId, planId } = await submitted(failOpenAs);
  const { body } = await running.graphql(
    `query ($id: ID!) { request(requestId: $id) {
       plan { steps { id effect error { remedy } attempts { outcome effect } } }
       diagnosis { next { description operation arguments command } } } }`,
    { id: requestId },
  );
  const { plan, diagnosis } = body.data.request;
  expect(plan.steps).toMatchObject([
    {
      id: "createAuthor",
      effect: "possible",
      error: { remedy: expect.stringContaining("accept that this step is called once more") },
      attempts: [{ outcome: "failed", effect: "possible" }],
    },
    { id: "createBlog", effect: null },
  ]);
  expect(diagnosis.next[0]).toMatchObject({
    description: expect.stringContaining("createAuthor may have acted"),
    operation: "rerun",
    arguments: { requestId, acceptRepeat: ["createAuthor"] },
    command: ["retry", requestId, "--repeat", "createAuthor"],
  });
  const refused = await rerun(requestId);
  expect(refused.errors).toMatchObject([
    {
      message: expect.stringContaining("Nothing was changed"),
      extensions: { code: "REPEAT_NOT_ACCEPTED", requestId, steps: ["createAuthor"] },
    },
  ]);
  expect((await rerun(requestId, { acceptRepeat: ["createBlog"] })).errors).toMatchObject([
    { extensions: { code: "REPEAT_NOT_ACCEPTED" } },
  ]);
  expect((await rerun(requestId, { acceptRepeat: ["nothing"] })).errors).toMatchObject([
    { extensions: { code: "NOT_FOUND" } },
  ]);
  expect(await running.store.listPlanHeadsOf("default", [requestId as never])).toHaveLength(1);
  const { data } = await rerun(requestId, { acceptRepeat: ["createAuthor"] });
  expect(data.rerun.plan.steps).toMatchObject([
    { id: "createAuthor", status: "PENDING", warnings: [expect.stringContaining(planId)] },
    { id: "createBlog", status: "PENDING", warnings: [] },
  ]);
});

test("with other arguments a call that may have acted is another effect: it is allowed, and the step says so", async () => {
  const { requestId } = await submitted(failOpenAs);
  const { data } = await rerun(requestId, {
    arguments: [{ stepId: "createAuthor", set: { email: "a2@test.com" } }],
  });
  expect(data.rerun.plan.steps[0]).toMatchObject({
    status: "PENDING",
    warnings: [expect.stringMatching(/may have acted: it is called again with other arguments$/)],
  });
});
