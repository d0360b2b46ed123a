import { type ClientStore, LeaseLostError, type Store } from "@planwright/store";
import { eventually } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createReads } from "../src/operation/reads.ts";
import { answerBytes } from "./answer-bytes.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { AUTHOR, askAs, CREATE_AUTHOR, executeAs, failAs, planAs, playStep } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
  await running.store.addWorker({ _id: "executor one", kind: "executor", deadAfterMs: 3_600_000 });
});
afterAll(() => running.close());

async function submitted(execute = false): Promise<{ requestId: string; planId: string }> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!, $execute: Boolean!) { submitPlan(plan: $plan, execute: $execute) { requestId planId } }",
    { plan: BLOG_PLAN, execute },
  );
  return body.data.submitPlan;
}

const STEPS = `query ($id: ID!) { plan(id: $id) { status waitReason executor durationMs outputs error { code message }
  counts { total completed failed skipped cancelled inDoubt running pending }
  steps { id key item status waitReason resolvedArguments output error { code message retryable data } warnings effectClass
    attempts { attempt attemptId executor startedAt endedAt durationMs outcome error { code } }
    nextAttemptAt startedAt finishedAt durationMs } } }`;

test("createPlan returns at once, the request is offered to planners, and can be followed by its requestId", async () => {
  const created = await running.graphql(
    `mutation { createPlan(query: "  follow me  ") { requestId planId status query autoExecute waitReason plan { id } plans { id } } }`,
  );
  const request = created.body.data.createPlan;
  expect(request).toMatchObject({
    status: "PLANNING",
    query: "follow me",
    autoExecute: true,
    waitReason: "no worker",
    plan: null,
    plans: [],
  });
  expect(running.offered).toContain(`planning ${request.requestId}`);
  await planAs(running.store, request.requestId);
  const followed = await running.graphql(
    `query ($id: ID!) { request(requestId: $id) { id status executionState planningStartedAt planningFinishedAt
       plan { id status origin { kind model } request { requestId } } plans { id version }
       modelCalls { id purpose model messages { role content } answer latencyMs inputTokens error { code } createdAt } } }`,
    { id: request.requestId },
  );
  expect(followed.body.data.request).toMatchObject({
    id: request.requestId,
    status: "EXECUTING",
    executionState: "in-progress",
    planningFinishedAt: expect.any(String),
    plan: {
      id: request.planId,
      status: "QUEUED",
      origin: { kind: "offline" },
      request: { requestId: request.requestId },
    },
    plans: [{ id: request.planId, version: 1 }],
    modelCalls: [{ purpose: "draft", model: "offline", messages: [{ role: "user", content: "follow me" }] }],
  });
});

test("a running step has attempts with times, and other steps have a wait reason", async () => {
  const { planId } = await submitted(true);
  const claim = (await running.store.claimPlan(planId, "executor one"))!;
  await running.store.writeIntents(claim, [{ call: CREATE_AUTHOR, attemptId: "attempt-1", argsHash: "h" }]);
  const { body } = await running.graphql(STEPS, { id: planId });
  expect(body.data.plan).toMatchObject({
    status: "RUNNING",
    waitReason: null,
    executor: "executor one",
    counts: { total: 2, running: 1, pending: 1 },
  });
  expect(body.data.plan.steps).toMatchObject([
    {
      status: "RUNNING",
      waitReason: null,
      resolvedArguments: { name: "Alice" },
      effectClass: "U",
      attempts: [
        { attempt: 1, attemptId: "attempt-1", executor: expect.any(String), endedAt: null, outcome: null },
      ],
    },
    { status: "PENDING", waitReason: "dependency", resolvedArguments: null, attempts: [] },
  ]);
});

test("an ended plan has outputs, durations and no wait reason", async () => {
  const { planId } = await submitted(true);
  await executeAs(running.store, planId);
  const { body } = await running.graphql(STEPS, { id: planId });
  expect(body.data.plan).toMatchObject({
    status: "COMPLETED",
    waitReason: null,
    durationMs: expect.any(Number),
    outputs: { createAuthor: AUTHOR },
    counts: { total: 2, completed: 2, pending: 0 },
  });
  expect(body.data.plan.steps[1]).toMatchObject({
    status: "COMPLETED",
    waitReason: null,
    resolvedArguments: { authorId: "a1" },
    output: { _id: "b1", authorId: "a1" },
    attempts: [{ outcome: "completed", endedAt: expect.any(String), durationMs: 5 }],
    startedAt: expect.any(String),
    finishedAt: expect.any(String),
  });
});

test("a failed plan has the tool's message, and the dependent step has its reason", async () => {
  const { planId } = await submitted(true);
  await failAs(running.store, planId);
  const { body } = await running.graphql(STEPS, { id: planId });
  expect(body.data.plan).toMatchObject({ status: "FAILED", error: { code: "TOOL_FAILED" } });
  expect(body.data.plan.steps).toMatchObject([
    { status: "FAILED", error: { message: "email alice@test.com is taken", retryable: false } },
    { status: "SKIPPED", error: { message: "Skipped because dependency 'createAuthor' failed" } },
  ]);
});

test.each(["planId", "requestId"] as const)(
  "executePlan starts a plan by its %s, may be repeated while the plan runs, and is refused after its end",
  async (name) => {
    const ids = await submitted();
    const execute = () =>
      running.graphql(`mutation ($id: ID!) { executePlan(${name}: $id) { status plan { status } } }`, {
        id: ids[name],
      });
    for (const _ of ["first", "repeated"]) {
      expect((await execute()).body.data.executePlan).toEqual({
        status: "EXECUTING",
        plan: { status: "QUEUED" },
      });
    }
    await executeAs(running.store, ids.planId);
    expect((await execute()).body.errors[0]).toMatchObject({
      message: expect.stringContaining("nothing was executed now"),
      extensions: { code: "STATE_CONFLICT", status: "COMPLETED", remedy: expect.stringContaining("rerun") },
    });
    expect((await running.store.getPlan("default", ids.planId))!.epoch).toBe(1);
  },
);

test("executePlan of an older version executes nothing, and the error names the current version", async () => {
  const { requestId, planId } = await submitted(true);
  await failAs(running.store, planId);
  await running.graphql("mutation ($id: ID!) { rerun(requestId: $id, execute: false) { id } }", {
    id: requestId,
  });
  const current = (await running.store.getRequest("default", requestId))!.planId;
  const execute = "mutation ($id: ID!) { executePlan(planId: $id) { status } }";
  const { body } = await running.graphql(execute, { id: planId });
  expect(body.errors[0]).toMatchObject({
    message: expect.stringContaining("Version 1 of the plan has ended, it is FAILED"),
    extensions: { code: "STATE_CONFLICT", status: "FAILED", remedy: expect.stringContaining(current) },
  });
  expect((await running.store.getPlan("default", current))!.status).toBe("READY");
});

test("executePlan of a paused or cancelled plan is refused with how to continue it", async () => {
  const { requestId } = await submitted(true);
  const ask = async (field: string) =>
    (await running.graphql(`mutation ($id: ID!) { ${field}(requestId: $id) { id } }`, { id: requestId }))
      .body;
  await ask("pause");
  expect((await ask("executePlan")).errors[0].extensions).toMatchObject({
    code: "STATE_CONFLICT",
    status: "PAUSED",
    remedy: expect.stringContaining("resume"),
  });
  await ask("cancel");
  expect((await ask("executePlan")).errors[0].message).toContain("The plan is being cancelled");
});

test("executePlan during planning starts the plan when it is ready", async () => {
  const created = await running.graphql(
    `mutation { createPlan(query: "start later", execute: false) { requestId } }`,
  );
  const { requestId } = created.body.data.createPlan;
  const { body } = await running.graphql(
    "mutation ($id: ID!) { executePlan(requestId: $id) { status autoExecute } }",
    {
      id: requestId,
    },
  );
  expect(body.data.executePlan).toEqual({ status: "PLANNING", autoExecute: true });
});

const CANCEL = "mutation ($id: ID!) { cancel(requestId: $id) { status plan { status cancelRequestedAt } } }";

test("cancel ends a plan that was not started, also when it is repeated", async () => {
  const ready = await submitted();
  for (const _ of ["first", "repeated"]) {
    const { body } = await running.graphql(CANCEL, { id: ready.requestId });
    expect(body.data.cancel).toMatchObject({ status: "CANCELLED", plan: { status: "CANCELLED" } });
  }
});

test.each([
  ["COMPLETED", executeAs, "plan { outputs }"],
  ["FAILED", failAs, "rerun"],
] as const)("cancel of a plan that is %s says that nothing was cancelled", async (status, play, remedy) => {
  const ended = await submitted(true);
  await play(running.store, ended.planId);
  const { body } = await running.graphql(CANCEL, { id: ended.requestId });
  expect(body.errors[0]).toMatchObject({
    message: `The plan has ended, it is ${status}: nothing was cancelled`,
    extensions: { code: "STATE_CONFLICT", status, remedy: expect.stringContaining(remedy) },
  });
});

test("cancel, pause and resume of a request without a plan are refused", async () => {
  const created = await running.graphql(`mutation { createPlan(query: "asked back") { requestId } }`);
  const { requestId } = created.body.data.createPlan;
  await askAs(running.store, requestId, ["Which one?"]);
  for (const field of ["cancel", "pause", "resume"]) {
    const { body } = await running.graphql(`mutation ($id: ID!) { ${field}(requestId: $id) { id } }`, {
      id: requestId,
    });
    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining("has no plan: nothing was"),
      extensions: {
        code: "STATE_CONFLICT",
        status: "NEEDS_INPUT",
        remedy: expect.stringContaining("answerQuestions"),
      },
    });
  }
});

test("cancel of a running plan is recorded, and the plan is offered to the executors", async () => {
  const { requestId, planId } = await submitted(true);
  await running.store.claimPlan(planId, "executor");
  running.offered.length = 0;
  const { body } = await running.graphql(CANCEL, { id: requestId });
  expect(body.data.cancel.plan.cancelRequestedAt).toEqual(expect.any(String));
  expect(running.offered).toEqual([`execution ${planId}`]);
  const repeated = await running.graphql(CANCEL, { id: requestId });
  expect(repeated.body.data.cancel.plan).toEqual(body.data.cancel.plan);
});

test("cancel during the first planning ends the request, also when it is repeated, and nothing is executed", async () => {
  const created = await running.graphql(`mutation { createPlan(query: "cancel early") { requestId } }`);
  const id = created.body.data.createPlan.requestId;
  const claim = await eventually(() => running.store.claimRequest(id, "planner"));
  for (const _ of ["first", "repeated"]) {
    const { body } = await running.graphql(CANCEL, { id });
    expect(body.data.cancel).toEqual({ status: "CANCELLED", plan: null });
  }
  const origin = { kind: "offline", model: null } as const;
  const late = { plan: null, raw: null, origin, diagnostics: [] };
  const failed = running.store.failPlanning(claim, { ...late, error: { code: "X", message: "late" } });
  await expect(failed).rejects.toThrow(LeaseLostError);
  const execute = "mutation ($id: ID!) { executePlan(requestId: $id) { status } }";
  const { body } = await running.graphql(execute, { id });
  expect(body.errors[0]).toMatchObject({
    message: "The request was cancelled before it had a plan: nothing was executed",
    extensions: { code: "STATE_CONFLICT", status: "CANCELLED" },
  });
});

test("requests are listed in pages, newest first, each once", async () => {
  const other = await startTestApi();
  const expected: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    const { body } = await other.graphql(`mutation { createPlan(query: "page ${index}") { requestId } }`);
    expected.push(body.data.createPlan.requestId);
  }
  const found: string[] = [];
  let after: string | null = null;
  let hasNextPage = true;
  while (hasNextPage) {
    const answer = await other.graphql(
      `query ($after: String) { requests(first: 2, after: $after, status: [PLANNING]) {
         edges { cursor node { requestId } } nodes { requestId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
      { after },
    );
    const page = answer.body.data.requests;
    found.push(...page.nodes.map((node: { requestId: string }) => node.requestId));
    expect(page.edges.at(-1).cursor).toBe(page.pageInfo.endCursor);
    ({ endCursor: after, hasNextPage } = page.pageInfo);
  }
  expect(found).toHaveLength(5);
  expect(found.toSorted()).toEqual(expected.toSorted());
  const none = await other.graphql(
    "{ requests(status: [FAILED]) { nodes { id } pageInfo { endCursor hasNextPage } } }",
  );
  expect(none.body.data.requests).toEqual({ nodes: [], pageInfo: { endCursor: null, hasNextPage: false } });
  await other.close();
});

test("plansByRequestId returns the versions, and an empty list during the first planning", async () => {
  const { requestId, planId } = await submitted();
  const query =
    "query ($id: ID!) { plansByRequestId(requestId: $id) { id planId requestId version query executionState } }";
  expect((await running.graphql(query, { id: requestId })).body.data.plansByRequestId).toEqual([
    { id: planId, planId, requestId, version: 1, query: "", executionState: "pending" },
  ]);
  const created = await running.graphql(`mutation { createPlan(query: "no plan yet") { requestId } }`);
  const { body } = await running.graphql(query, { id: created.body.data.createPlan.requestId });
  expect(body.data.plansByRequestId).toEqual([]);
});

test("validatePlan reports the same diagnostics as submitPlan, and stores nothing", async () => {
  const countOf = async () => (await running.store.listRequests("default", { first: 100 })).items.length;
  const before = await countOf();
  const query =
    "query ($plan: JSON!) { validatePlan(plan: $plan) { valid plan diagnostics { code severity message } } }";
  const good = await running.graphql(query, { plan: BLOG_PLAN });
  expect(good.body.data.validatePlan).toMatchObject({ valid: true, plan: { formatVersion: 1 } });
  const bad = await running.graphql(query, {
    plan: { steps: [{ id: "s", tool: "createAuthr", arguments: {} }] },
  });
  expect(bad.body.data.validatePlan.valid).toBe(false);
  expect(bad.body.data.validatePlan.diagnostics[0].message).toContain("createAuthr");
  expect(await countOf()).toBe(before);
});

test("a list of requests with plans and steps needs the same number of reads for any length", async () => {
  const counted = await startTestApi();
  const readsOf = async (first: number) => {
    const reads: string[] = [];
    const store = counting(counted.store, reads);
    const loaders = createReads(store, "default", answerBytes());
    const page = await store.listRequests("default", { first });
    loaders.prime(page.items);
    await Promise.all(
      page.items.map(async (request) => {
        await loaders.request(request._id);
        const plans = await loaders.plansOf(request);
        await Promise.all(plans.map((plan) => loaders.steps(plan._id)));
      }),
    );
    return reads;
  };
  const submit = "mutation ($plan: JSON!) { submitPlan(plan: $plan) { id } }";
  for (let index = 0; index < 6; index += 1) await counted.graphql(submit, { plan: BLOG_PLAN });
  const few = await readsOf(1);
  expect(await readsOf(6)).toEqual(few);
  expect(few).toEqual(["listRequests", "getPlanHeads", "listStepHeads"]);
  await counted.close();
});

/** The store; the name of every read is recorded. */
function counting(store: Store, reads: string[]): ClientStore {
  return new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== "function") return value;
      return (...parameters: unknown[]) => {
        reads.push(String(name));
        return Reflect.apply(value, target, parameters);
      };
    },
  });
}

test("a step in a plan whose executor has died waits for a worker", async () => {
  await running.store.removeWorker("executor one");
  const { planId } = await submitted(true);
  const claim = (await running.store.claimPlan(planId, "executor"))!;
  await playStep(running.store, claim, "createAuthor", { arguments: {}, output: AUTHOR });
  await running.store.releasePlan(claim, { status: "QUEUED" });
  // The list of live workers is cached for a second.
  const planNow = async () => (await running.graphql(STEPS, { id: planId })).body.data.plan;
  await expect.poll(async () => (await planNow()).waitReason).toBe("no worker");
  const plan = await planNow();
  expect(plan).toMatchObject({ status: "QUEUED", executor: null });
  expect(plan.steps.map((step: { waitReason: string }) => step.waitReason)).toEqual([null, "no worker"]);
});

test("the remedy of an attempt follows from what became of its step", async () => {
  const { store } = running;
  const { planId } = await submitted(true);
  const claim = (await store.claimPlan(planId as never, "executor one"))!;
  const unit = { key: "createAuthor", stepId: "createAuthor" };
  const error = { code: "TOOL_UNREACHABLE", message: "refused", retryable: true };
  const end = { key: "createAuthor", endedAtMs: store.now(), durationMs: 5 };
  const failed = { ...end, attemptId: "t1", outcome: "failed" as const, error, effect: "none" as const };
  await store.writeIntents(claim, [{ call: CREATE_AUTHOR, attemptId: "t1", argsHash: "h" }]);
  await store.writeRecords(claim, [{ ...unit, status: "RETRYING", attempts: 1, error }], [failed]);
  const remedies = async (): Promise<string[][]> => {
    const { body } = await running.graphql(
      "query ($id: ID!) { plan(id: $id) { steps { attempts { error { remedy } } } } }",
      { id: planId },
    );
    const steps: { attempts: { error: { remedy: string } | null }[] }[] = body.data.plan.steps;
    return steps.map(({ attempts }) => attempts.flatMap((attempt) => attempt.error?.remedy ?? []));
  };
  const why = "The tool's server could not be reached: nothing was called.";
  expect(await remedies()).toEqual([[`${why} Bring its server back; it is retried automatically.`], []]);
  const second = { ...CREATE_AUTHOR, attempt: 2 };
  await store.writeIntents(claim, [{ call: second, attemptId: "t2", argsHash: "h" }]);
  await store.writeRecords(
    claim,
    [{ ...unit, status: "COMPLETED", attempts: 2, output: AUTHOR }],
    [{ ...end, attemptId: "t2", outcome: "completed", error: null }],
  );
  const lost = { code: "TOOL_TIMEOUT", message: "no answer", retryable: false };
  await playStep(store, claim, "createBlog", { arguments: {}, error: lost, effect: "possible" });
  expect(await remedies()).toEqual([
    [`${why} The step has completed: nothing is to be done.`],
    [
      expect.stringMatching(
        /Check in its server whether the call acted; .* accept that this step is called once more\.$/,
      ),
    ],
  ]);
});
