/** One call in, result out: `waitMs` of createPlan and submitPlan. */
import { StoreUnavailableError } from "@planwright/store";
import { eventually } from "@planwright/testing";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { askApprovalAs, failAs, planAs, writeCalled } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const SUBMIT = `mutation ($plan: JSON!, $waitMs: Int!, $execute: Boolean! = true, $key: String) {
  submitPlan(plan: $plan, waitMs: $waitMs, execute: $execute, idempotencyKey: $key) {
    requestId planId status plan { status outputs steps { id status output } }
  }
}`;
const submit = (variables: object, api = running) => api.graphql(SUBMIT, { plan: BLOG_PLAN, ...variables });

/** Claims the plan that was offered last, as an executor does. */
async function claimOffered() {
  const offers = () => running.offered.filter((offer) => offer.startsWith("execution"));
  const known = offers().length;
  await expect.poll(() => offers().length, { interval: 5 }).toBeGreaterThan(known);
  const planId = offers().at(-1)?.replace("execution ", "");
  const claim = await running.store.claimPlan(planId as never, "e1");
  if (!claim) throw new TypeError("the plan is not due");
  return claim;
}

async function complete(): Promise<void> {
  const claim = await claimOffered();
  for (const key of ["createAuthor", "createBlog"]) {
    const record = { key, stepId: key, status: "COMPLETED" as const, attempts: 1, output: { _id: key } };
    await writeCalled(running.store, claim, [record]);
  }
  const outputs = { createBlog: { _id: "createBlog" } };
  await running.store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs });
}

test("the answer comes at the end, with the outputs of the plan", async () => {
  const [{ body }] = await Promise.all([submit({ waitMs: 30_000 }), complete()]);
  expect(body.errors).toBeUndefined();
  expect(body.data.submitPlan).toMatchObject({
    status: "COMPLETED",
    plan: {
      status: "COMPLETED",
      outputs: { createBlog: { _id: "createBlog" } },
      steps: [
        { id: "createAuthor", status: "COMPLETED", output: { _id: "createAuthor" } },
        { id: "createBlog", status: "COMPLETED", output: { _id: "createBlog" } },
      ],
    },
  });
});

test("after the timeout the current state is returned, and the plan continues", async () => {
  const { body } = await submit({ waitMs: 20 });
  expect(body.data.submitPlan).toMatchObject({ status: "EXECUTING", plan: { status: "QUEUED" } });
});

test("a request that waits for a client or operator is returned at once", async () => {
  const { body } = await submit({ waitMs: 30_000, execute: false });
  expect(body.data.submitPlan).toMatchObject({ status: "READY", plan: { status: "READY" } });
  const waited = submit({ waitMs: 30_000 });
  const claim = await claimOffered();
  const waitingStep = {
    key: "createAuthor",
    stepId: "createAuthor",
    status: "WAITING_APPROVAL" as const,
    attempts: 0,
  };
  await running.store.writeRecords(claim, [{ ...waitingStep, arguments: {}, waitReason: "approval" }], []);
  await running.store.releasePlan(claim, { status: "WAITING", reason: "approval", dueAtMs: null });
  expect((await waited).body.data.submitPlan).toMatchObject({
    status: "EXECUTING",
    plan: { status: "WAITING" },
  });
});

test("a request with open questions is returned with its questions", async () => {
  const create = running.graphql(
    'mutation { createPlan(query: "Create author Zed", waitMs: 30000) { requestId status questions } }',
  );
  const offers = () => running.offered.filter((offer) => offer.startsWith("planning"));
  await expect.poll(() => offers().length, { interval: 5 }).toBeGreaterThan(0);
  const requestId = offers().at(-1)?.replace("planning ", "");
  const claim = await running.store.claimRequest(requestId as never, "p1");
  if (!claim) throw new TypeError("the request is not due");
  const question = { id: "q1", question: "Which email?", about: null };
  await running.store.askQuestions(claim, { questions: [question], draft: null });
  const { body } = await create;
  expect(body.data.createPlan).toEqual({ requestId, status: "NEEDS_INPUT", questions: ["Which email?"] });
});

test("a retry with the same key waits for the same request, each call with its waitMs", async () => {
  const first = await submit({ waitMs: 0, key: "again" });
  const [second] = await Promise.all([
    submit({ waitMs: 30_000, key: "again" }),
    running.store.requestCancel("default", first.body.data.submitPlan.planId, "client"),
    claimOffered().then((claim) =>
      running.store.finishPlan(claim, { type: "finish", status: "CANCELLED", outputs: {} }),
    ),
  ]);
  expect(second.body.data.submitPlan).toMatchObject({
    requestId: first.body.data.submitPlan.requestId,
    status: "CANCELLED",
  });
});

test("at the limit of waiting calls a plan is accepted and answered at once", async () => {
  const full = await startTestApi({ maxSubscriptions: 1 });
  const slow = submit({ waitMs: 1_000 }, full);
  await expect.poll(() => full.offered.length, { interval: 5 }).toBe(1);
  const { body } = await submit({ waitMs: 30_000 }, full);
  expect(body.data.submitPlan.status).toBe("EXECUTING");
  await slow;
  await full.close();
});

test("a plan that was accepted is answered also when the database fails during the wait", async () => {
  const spy = vi
    .spyOn(running.store, "getRequestWithPlan")
    .mockRejectedValue(new StoreUnavailableError({ operation: "planned" }));
  onTestFinished(() => spy.mockRestore());
  const { body } = await submit({ waitMs: 50 });
  expect(body.errors).toBeUndefined();
  expect(body.data.submitPlan).toMatchObject({ requestId: expect.any(String), status: "EXECUTING" });
  expect(spy).toHaveBeenCalled();
});

test("the answer comes as soon as another version of the plan waits for a person", async () => {
  const { store } = running;
  const startedAt = performance.now();
  const answer = running.graphql(
    `mutation { createPlan(query: "twice", execute: true, maxReplans: 1, waitMs: 20000) {
      status plan { version status waitReason } } }`,
  );
  const { _id: requestId } = await eventually(
    async () => (await store.listRequests("default", { first: 1, filter: { text: "twice" } })).items[0],
  );
  await planAs(store, requestId);
  const first = (await store.getRequest("default", requestId))!;
  await failAs(store, first.planId);
  const claim = (await store.claimRequest(requestId, "test planner"))!;
  const plan = (await store.getPlan("default", first.planId))!.plan!;
  const origin = { kind: "model", model: "openai:x" } as const;
  const next = await store.completeReplan(claim, { plan, raw: null, origin, diagnostics: [] });
  await askApprovalAs(store, next._id);
  const { body } = await answer;
  expect(body.data.createPlan).toEqual({
    status: "EXECUTING",
    plan: { version: 2, status: "WAITING", waitReason: "approval" },
  });
  expect(performance.now() - startedAt).toBeLessThan(15_000);
});
