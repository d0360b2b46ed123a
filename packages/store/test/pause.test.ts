import { type Plan, parsePlan } from "@planwright/plan";
import { createStore, type PlanClaim, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

let store: Store;
let url: string;

beforeAll(async () => {
  url = testServers().mongodbUrl;
  store = await createStore({ url });
});
afterAll(async () => {
  await store.close();
});

async function submitted(autoExecute = true): Promise<string> {
  const { plan } = await store.submitPlan({
    tenant: "t1",
    query: null,
    plan: onePlan(),
    raw: "",
    diagnostics: [],
    autoExecute,
  });
  return plan._id;
}

function onePlan(): Plan {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

async function claimed(planId: string): Promise<PlanClaim> {
  const claim = await store.claimPlan(planId, "e1");
  if (!claim) throw new TypeError("nothing to claim");
  return claim;
}

const waiting = { status: "WAITING", reason: "backoff", dueAtMs: null } as const;
const paused = { status: "PAUSED", reason: "paused", dueAtMs: null } as const;

describe("a plan that no executor holds", () => {
  test("is paused at once, is claimed by no executor, and is due again when resumed", async () => {
    const planId = await submitted();
    expect(await store.requestPause("t1", planId, "client")).toMatchObject({
      status: "PAUSED",
      dueAt: null,
      waitReason: "paused",
      controlSeq: 1,
    });
    expect(await store.claimPlan(planId, "e1")).toBeNull();
    expect(await store.requestResume("t1", planId, "client")).toMatchObject({
      status: "QUEUED",
      pauseRequestedAt: null,
      waitReason: null,
      controlSeq: 2,
    });
    expect((await claimed(planId)).plan.status).toBe("RUNNING");
  });

  test("is QUEUED by the next control when the process that resumed it died before it wrote the plan's document", async () => {
    const planId = await submitted();
    await store.requestPause("t1", planId, "client");
    const client = await MongoClient.connect(url);
    onTestFinished(() => client.close());
    const plans = client.db().collection<{ _id: string }>("plans");
    const before = await plans.findOne({ _id: planId });
    if (!before) throw new TypeError("no plan");
    await store.requestResume("t1", planId, "client");
    await plans.replaceOne({ _id: planId }, before);
    expect(await store.requestResume("t1", planId, "client")).toMatchObject({ status: "PAUSED" });
    const completed = { status: "QUEUED", waitReason: null, pauseRequestedAt: null, controlSeq: 2 };
    expect(await store.getPlan("t1", planId)).toMatchObject(completed);
    expect((await claimed(planId)).plan.status).toBe("RUNNING");
  });

  test("keeps its deadline while it is paused", async () => {
    const planId = await submitted();
    const claim = await claimed(planId);
    await store.releasePlan(claim, waiting);
    const plan = await store.requestPause("t1", planId, "client");
    expect(plan).toMatchObject({ status: "PAUSED", dueAt: claim.plan.deadlineAt });
  });

  test("can be cancelled while it is paused", async () => {
    const planId = await submitted();
    await store.requestPause("t1", planId, "client");
    await store.requestCancel("t1", planId, "client");
    const claim = await claimed(planId);
    expect(claim.plan).toMatchObject({ status: "PAUSED", cancelRequestedAt: expect.any(Date) });
  });
});

describe("a plan that an executor holds", () => {
  test("shows the control to the executor, and is PAUSED when it is released", async () => {
    const planId = await submitted();
    const claim = await claimed(planId);
    expect(await store.requestPause("t1", planId, "client")).toMatchObject({ status: "RUNNING" });
    await store.applyControls([claim]);
    expect(claim.journal.plan()?.pauseAskedAt).toEqual(expect.any(Date));
    claim.plan.controlSeq = claim.journal.seq();
    await store.releasePlan(claim, paused);
    expect(await store.getPlan("t1", planId)).toMatchObject({
      status: "PAUSED",
      dueAt: claim.plan.deadlineAt,
    });
  });

  test("is not PAUSED when it was resumed before it is released", async () => {
    const planId = await submitted();
    const claim = await claimed(planId);
    await store.requestPause("t1", planId, "client");
    claim.plan.controlSeq = 1;
    await store.requestResume("t1", planId, "client");
    await store.releasePlan(claim, paused);
    expect(await store.getPlan("t1", planId)).toMatchObject({ status: "QUEUED" });
    expect(await store.claimPlan(planId, "e2")).not.toBeNull();
  });

  test("is paused by the next executor when it is released before the control was read", async () => {
    const planId = await submitted();
    const claim = await claimed(planId);
    await store.requestPause("t1", planId, "client");
    await store.releasePlan(claim, waiting);
    expect((await claimed(planId)).plan.pauseRequestedAt).toEqual(expect.any(Date));
  });
});

test("a second pause, a resume of a plan that is not paused, and a pause of an ended plan change nothing", async () => {
  const planId = await submitted();
  expect(await store.requestResume("t1", planId, "client")).toMatchObject({
    status: "QUEUED",
    controlSeq: 0,
  });
  const once = await store.requestPause("t1", planId, "client");
  expect(await store.requestPause("t1", planId, "client")).toEqual(once);
  const ready = await submitted(false);
  expect(await store.requestPause("t1", ready, "client")).toMatchObject({
    status: "READY",
    pauseRequestedAt: null,
  });
  await store.requestCancel("t1", ready, "client");
  expect(await store.requestPause("t1", ready, "client")).toMatchObject({
    status: "CANCELLED",
    pauseRequestedAt: null,
  });
  expect(await store.requestPause("t2", planId, "client")).toBeNull();
  expect(await store.requestResume("t2", planId, "client")).toBeNull();
});

test("a plan with a cancel request is not paused", async () => {
  const planId = await submitted();
  await claimed(planId);
  await store.requestCancel("t1", planId, "client");
  expect(await store.requestPause("t1", planId, "client")).toMatchObject({ pauseRequestedAt: null });
});
