/** Changes that `watchRequestsAtRest` reports, and changes that it does not. */
import { type PlanId, parsePlan } from "@planwright/plan";
import { type ChangeWatch, createStore, type PlanClaim, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { playRecords } from "./play-records.ts";

let store: Store;
let watch: ChangeWatch;
let reported: string[];
beforeEach(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
  reported = [];
  watch = store.watchRequestsAtRest({
    onChange: (id) => void reported.push(id),
    onGap: () => reported.push("gap"),
    onError: (error) => reported.push(String(error)),
  });
  await watch.ready;
});
afterEach(async () => {
  await watch.close();
  await store.close();
});

async function submitted(options: { wantsAnswer?: boolean } = {}) {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const input = { tenant: "t1", query: null, raw: "", diagnostics: [], autoExecute: true };
  return store.submitPlan({ ...input, ...options, plan: parsed.plan });
}

async function claimed(planId: PlanId): Promise<PlanClaim> {
  const claim = await store.claimPlan(planId, "e1");
  if (!claim) throw new TypeError("nothing to claim");
  return claim;
}

/** The ids that were reported before this request, which is idle as soon as it is cancelled. */
async function reportedSoFar(): Promise<string[]> {
  const last = await store.createRequest({ tenant: "t1", query: "last", autoExecute: true });
  await store.cancelPlanning("t1", last._id);
  await expect.poll(() => reported).toContain(last._id);
  return reported.slice(0, reported.indexOf(last._id));
}

test("a plan that runs to its end: only the end of its request is reported", async () => {
  const { request, plan } = await submitted();
  const claim = await claimed(plan._id);
  await playRecords(store, claim, [{ key: "a", stepId: "a", status: "COMPLETED", attempts: 1, output: 1 }]);
  await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: { a: 1 } });
  expect(await reportedSoFar()).toEqual([request._id]);
});

test("a plan that waits for any reason is reported; a running one is not", async () => {
  const { plan } = await submitted();
  await store.releasePlan(await claimed(plan._id), { status: "WAITING", reason: "approval", dueAtMs: 0 });
  await store.releasePlan(await claimed(plan._id), { status: "QUEUED" });
  await store.requestPause("t1", plan._id, "client");
  await store.requestResume("t1", plan._id, "client");
  expect(await reportedSoFar()).toEqual([plan._id, plan._id]);
});

test("questions, and an answer in words after the end, are reported", async () => {
  const asked = await store.createRequest({
    tenant: "t1",
    query: "who?",
    autoExecute: true,
    wantsAnswer: true,
  });
  const planner = await store.claimRequest(asked._id, "p1");
  if (!planner) throw new TypeError("nothing to claim");
  const question = { id: "q1", question: "Which email?", about: null };
  await store.askQuestions(planner, { questions: [question], draft: null });
  const { request, plan } = await submitted({ wantsAnswer: true });
  await store.finishPlan(await claimed(plan._id), { type: "finish", status: "COMPLETED", outputs: {} });
  const answering = await store.claimRequest(request._id, "p1");
  if (!answering) throw new TypeError("nothing to claim");
  await store.completeAnswer(answering, "It is done.");
  expect(await reportedSoFar()).toEqual([asked._id, request._id, request._id]);
});
