/** What the watch on the ends of requests tells of, and what it does not. */
import { type PlanId, parsePlan } from "@planwright/plan";
import { type ChangeWatch, createStore, type PlanClaim, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { playRecords } from "./play-records.ts";

let store: Store;
let watch: ChangeWatch;
let told: string[];
beforeEach(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
  told = [];
  watch = store.watchRests({
    onChange: (id) => void told.push(id),
    onGap: () => told.push("gap"),
    onError: (error) => told.push(String(error)),
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
  const what = { tenant: "t1", query: null, raw: "", diagnostics: [], autoExecute: true };
  return store.submitPlan({ ...what, ...options, plan: parsed.plan });
}

async function claimed(planId: PlanId): Promise<PlanClaim> {
  const claim = await store.claimPlan(planId, "e1");
  if (!claim) throw new TypeError("nothing to claim");
  return claim;
}

/** What was told before this request, which is at rest as soon as it is cancelled. */
async function toldSoFar(): Promise<string[]> {
  const last = await store.createRequest({ tenant: "t1", query: "last", autoExecute: true });
  await store.cancelPlanning("t1", last._id);
  await expect.poll(() => told).toContain(last._id);
  return told.slice(0, told.indexOf(last._id));
}

test("of a plan that runs to its end the end of its request alone is told", async () => {
  const { request, plan } = await submitted();
  const claim = await claimed(plan._id);
  await playRecords(store, claim, [{ key: "a", stepId: "a", status: "COMPLETED", attempts: 1, output: 1 }]);
  await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: { a: 1 } });
  expect(await toldSoFar()).toEqual([request._id]);
});

test("a plan that waits is told, whatever for; one that continues is not", async () => {
  const { plan } = await submitted();
  await store.releasePlan(await claimed(plan._id), { status: "WAITING", reason: "approval", dueAtMs: 0 });
  await store.releasePlan(await claimed(plan._id), { status: "QUEUED" });
  await store.requestPause("t1", plan._id, "client");
  await store.requestResume("t1", plan._id, "client");
  expect(await toldSoFar()).toEqual([plan._id, plan._id]);
});

test("questions, and an answer in words behind the end, are told", async () => {
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
  expect(await toldSoFar()).toEqual([asked._id, request._id, request._id]);
});
