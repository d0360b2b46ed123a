import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningApi, startTestApi } from "./running-api.ts";
import { askAs, cancelInDoubtAs, executeAs, failAs, planAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

/** A request whose plan was made, and was ended by `play`. */
async function planned(play?: typeof failAs, options = ""): Promise<string> {
  const { body } = await running.graphql(
    `mutation { createPlan(query: "Alice writes" ${options}) { requestId planId } }`,
  );
  const { requestId, planId } = body.data.createPlan;
  await planAs(running.store, requestId);
  await play?.(running.store, planId);
  running.offered.length = 0;
  return requestId;
}

async function replan(requestId: string, more: object = {}) {
  const { body } = await running.graphql(
    `mutation ($id: ID!, $note: String, $execute: Boolean! = true) { replan(requestId: $id, note: $note, execute: $execute) {
       status executionState version replans waitReason plan { status } } }`,
    { id: requestId, ...more },
  );
  return body;
}

test("replan offers a failed plan to a planner, with the user's instruction", async () => {
  const requestId = await planned(failAs);
  const { data } = await replan(requestId, { note: "  take another email  ", execute: false });
  expect(data.replan).toEqual({
    status: "PLANNING",
    executionState: "pending",
    version: 1,
    replans: 1,
    waitReason: "no worker",
    plan: { status: "FAILED" },
  });
  expect(running.offered).toEqual([`planning ${requestId}`]);
  const stored = await running.store.getRequest("default", requestId);
  expect(stored?.replan).toEqual({ note: "take another email", execute: false });
});

test("of concurrent replans and reruns one is accepted, and nothing is cancelled", async () => {
  const requestId = await planned(failAs);
  const ask = (field: string) =>
    running.graphql(`mutation ($id: ID!) { ${field}(requestId: $id) { id } }`, { id: requestId });
  const answers = await Promise.all(["replan", "rerun", "replan", "replan"].map(ask));
  expect(answers.filter(({ body }) => body.errors === undefined)).toHaveLength(1);
});

test("during a replan the request cannot be rerun or replanned, but cancelled", async () => {
  const requestId = await planned(failAs);
  await replan(requestId);
  const ask = async (field: string) => {
    const query = `mutation ($id: ID!) { ${field}(requestId: $id) { status } }`;
    return (await running.graphql(query, { id: requestId })).body;
  };
  for (const field of ["replan", "rerun"])
    expect((await ask(field)).errors[0].extensions.code).toBe("NOT_READY");
  expect((await ask("cancel")).data.cancel.status).toBe("CANCELLED");
  expect(await running.store.claimRequest(requestId, "test planner")).toBeNull();
  expect((await ask("rerun")).data.rerun.status).toBe("EXECUTING");
});

test("a replan that is not possible is refused with a remedy", async () => {
  expect((await replan(await planned())).errors[0].extensions).toMatchObject({
    code: "STATE_CONFLICT",
    status: "QUEUED",
    remedy: expect.stringContaining("cancel"),
  });
  expect((await replan(await planned(executeAs))).errors[0].extensions).toMatchObject({
    code: "STATE_CONFLICT",
    status: "COMPLETED",
    remedy: expect.stringContaining("createPlan"),
  });
  expect((await replan(await planned(cancelInDoubtAs))).errors[0].extensions).toMatchObject({
    code: "STATE_CONFLICT",
    steps: ["createAuthor"],
    remedy: expect.stringContaining("resolveInDoubt"),
  });
  expect((await replan("req_1700000000_unknownunknownunkn")).errors[0].extensions.code).toBe("NOT_FOUND");
  const note = await replan(await planned(failAs), { note: "x".repeat(1_001) });
  expect(note.errors[0].extensions).toMatchObject({ code: "BAD_USER_INPUT", argument: "note" });
  const created = await running.graphql(`mutation { createPlan(query: "not yet") { requestId } }`);
  const { requestId } = created.body.data.createPlan;
  expect((await replan(requestId)).errors[0].extensions.code).toBe("NOT_READY");
  await askAs(running.store, requestId, ["Which one?"]);
  expect((await replan(requestId)).errors[0].extensions.code).toBe("NEEDS_INPUT");
});

test("a replan is refused while no planner has a model, and nothing is changed", async () => {
  const requestId = await planned(failAs);
  await running.store.addWorker({ _id: "offline planner", kind: "planner", hasModel: false });
  const { errors } = await replan(requestId);
  expect(errors[0]).toMatchObject({
    message: expect.stringContaining("nothing was changed"),
    extensions: { code: "STATE_CONFLICT", status: "FAILED", remedy: expect.stringContaining("MODEL") },
  });
  expect(await running.store.getRequest("default", requestId)).toMatchObject({ status: "FAILED" });
  await running.store.addWorker({ _id: "planner with a model", kind: "planner", hasModel: true });
  expect((await replan(requestId)).data.replan.status).toBe("PLANNING");
  for (const id of ["offline planner", "planner with a model"]) await running.store.removeWorker(id);
});

test("a request shows the follow-up of its plan and its state", async () => {
  const requestId = await planned(failAs, "maxReplans: 2, answer: true");
  const read = `query ($id: ID!) { request(requestId: $id) { status maxReplans replans answerRequested answer answerError { code } error { code } } }`;
  const requestOf = async () => (await running.graphql(read, { id: requestId })).body.data.request;
  expect(await requestOf()).toEqual({
    status: "PLANNING",
    maxReplans: 2,
    replans: 1,
    answerRequested: true,
    answer: null,
    answerError: null,
    error: null,
  });
  const claim = (await running.store.claimRequest(requestId, "test planner"))!;
  const error = { code: "REPLAN_UNCHANGED", message: "m" };
  await running.store.failReplan(claim, { error, diagnostics: [] });
  expect(await requestOf()).toMatchObject({
    status: "FAILED",
    error: { code: "REPLAN_UNCHANGED" },
    answerError: { code: "PLAN_NOT_COMPLETED" },
  });
});

test("no remedy says that nothing was executed, or to send it again, after steps were executed", async () => {
  const away = { code: "MODEL_UNREACHABLE", message: "HTTP 500" };
  const read = `query ($id: ID!) { request(requestId: $id) {
    error { remedy } answerError { remedy } events(first: 100) { nodes { type error { remedy } } } } }`;
  const requestOf = async (id: string) => (await running.graphql(read, { id })).body.data.request;
  const failed = await planned(failAs, "maxReplans: 1");
  const replanning = (await running.store.claimRequest(failed, "test planner"))!;
  await running.store.failReplan(replanning, { error: away, diagnostics: [] });
  const answered = await planned(executeAs, "answer: true");
  const answering = (await running.store.claimRequest(answered, "test planner"))!;
  await running.store.failAnswer(answering, away);
  const [one, other] = [await requestOf(failed), await requestOf(answered)];
  expect(one.error.remedy).toContain("The steps that completed are kept: do not send the request again");
  expect(other.answerError.remedy).toContain(
    "read the outputs of the plan, and do not send the request again",
  );
  const ofEvent = ({ events }: { events: { nodes: { type: string; error: { remedy: string } | null }[] } }) =>
    events.nodes.findLast(({ type }) => /^(planning.failed|answer.written)$/.test(type))?.error?.remedy;
  for (const remedy of [ofEvent(one), ofEvent(other)])
    expect(remedy).toBe(
      "The model's provider could not be reached, or failed. The request shows what followed from it.",
    );
});

test("a wait for a model tells that it ends by itself", async () => {
  const created = await running.graphql(`mutation { createPlan(query: "later") { requestId } }`);
  const { requestId } = created.body.data.createPlan;
  const claim = (await running.store.claimRequest(requestId, "test planner"))!;
  await running.store.postponePlanning(claim, {
    error: { code: "MODEL_UNREACHABLE", message: "HTTP 500" },
    pauseMs: () => 60_000,
    requestedMs: 0,
    unreachableMs: 600_000,
  });
  const { body } = await running.graphql(
    "query ($id: ID!) { request(requestId: $id) { modelWait { error { remedy } } } }",
    { id: requestId },
  );
  expect(body.data.request.modelWait.error.remedy).toMatch(
    /It continues by itself: do not send the request again\.$/,
  );
});

test("an answer is returned with the results", async () => {
  const requestId = await planned(executeAs, "answer: true");
  const claim = (await running.store.claimRequest(requestId, "test planner"))!;
  await running.store.completeAnswer(claim, "Alice has a blog.");
  const { body } = await running.graphql(
    "query ($id: ID!) { request(requestId: $id) { status executionState answer plan { outputs } } }",
    { id: requestId },
  );
  expect(body.data.request).toMatchObject({
    status: "COMPLETED",
    executionState: "completed",
    answer: "Alice has a blog.",
    plan: { outputs: expect.anything() },
  });
});

test("a request that was replanned too often is continued, and not sent again", async () => {
  const requestId = await planned(failAs);
  await replan(requestId);
  for (let made = 1; made < 20; made += 1) {
    await planAs(running.store, requestId);
    await replan(requestId);
  }
  await planAs(running.store, requestId);
  const { errors } = await replan(requestId);
  expect(errors[0]).toMatchObject({
    message: expect.stringContaining("20 times"),
    extensions: {
      code: "STATE_CONFLICT",
      remedy:
        "Change the plan yourself with amendPlan, or run what did not complete with rerun: completed steps are kept.",
    },
  });
});

test("more than five replans are refused, and one key belongs to one replan", async () => {
  const { body } = await running.graphql(`mutation { createPlan(query: "q", maxReplans: 6) { id } }`);
  expect(body.errors[0].extensions).toMatchObject({ code: "BAD_USER_INPUT", argument: "maxReplans" });
  const keyed = (more: string) =>
    running.graphql(`mutation { createPlan(query: "q", idempotencyKey: "k" ${more}) { requestId } }`);
  const first = await keyed("");
  expect((await keyed("")).body).toEqual(first.body);
  expect((await keyed(", answer: true")).body.errors[0].extensions.code).toBe("IDEMPOTENCY_KEY_REUSED");
});
