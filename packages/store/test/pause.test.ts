import { type JournalEvent, waitedForPeopleMs } from "@planwright/engine";
import { type Plan, parsePlan } from "@planwright/plan";
import { createStore, type PlanClaim, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

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

  test("has no end of its pause, and its deadline moves by the time of the pause", async () => {
    const planId = await submitted();
    const claim = await claimed(planId);
    await store.releasePlan(claim, waiting);
    const askedAt = Date.now();
    const pausedPlan = await store.requestPause("t1", planId, "client");
    expect(pausedPlan).toMatchObject({ status: "PAUSED", dueAt: null });
    await expect.poll(() => Date.now()).toBeGreaterThan(askedAt + 20);
    await store.requestResume("t1", planId, "client");
    const next = await claimed(planId);
    const pausedMs = waitedForPeopleMs(next.journal.plan() ?? { waits: [] }, new Date());
    expect(pausedMs).toBeGreaterThan(0);
    expect(next.plan.deadlineAt?.getTime()).toBe((claim.plan.deadlineAt?.getTime() ?? 0) + pausedMs);
    expect((await store.getPlan("t1", planId))?.deadlineAt).toEqual(next.plan.deadlineAt);
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
    await claim.journal.append([]);
    expect(claim.journal.plan()?.pauseAskedAt).toEqual(expect.any(Date));
    await store.releasePlan(claim, paused);
    expect(await store.getPlan("t1", planId)).toMatchObject({ status: "PAUSED", dueAt: null });
  });

  test("is not PAUSED when it was resumed before it is released", async () => {
    const planId = await submitted();
    const claim = await claimed(planId);
    await store.requestPause("t1", planId, "client");
    await store.applyControls([claim]);
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

/** The seqs and events of a journal. */
async function eventsOf({ plan }: PlanClaim): Promise<[number, JournalEvent][]> {
  const pages = await store.listEventPages("t1", [plan.requestId], { first: 20 });
  return pages.get(plan.requestId)?.items.map(({ seq, event }) => [seq, event]) ?? [];
}

const started = { key: "a", stepId: "a", status: "RUNNING", attempts: 0 } as const;

test("controls are the first events of the owner's next entry, with their authors and times", async () => {
  const planId = await submitted();
  const claim = await claimed(planId);
  await store.writeRecords(claim, [], []);
  await store.requestPause("t1", planId, "Olga");
  await store.requestCancel("t1", planId, "Otto");
  await store.applyControls([claim]);
  await store.writeRecords(claim, [started], []);
  expect(await eventsOf(claim)).toMatchObject([
    [1, { type: "lease.taken" }],
    [2, { type: "pause.asked", asked: { id: 1, by: "Olga", at: expect.any(Date) } }],
    [2, { type: "cancel.asked", asked: { id: 2, by: "Otto", at: expect.any(Date) } }],
    [2, { type: "step.changed" }],
  ]);
});

test("controls that an owner wrote before it died are not written again by the next owner", async () => {
  const planId = await submitted();
  const claim = await claimed(planId);
  await store.requestPause("t1", planId, "Olga");
  await store.applyControls([claim]);
  await store.writeRecords(claim, [started], []);
  expect((await store.getPlan("t1", planId))?.controls).toHaveLength(1);
  await store.planLeases.releaseUnheld([{ id: claim.plan._id, epoch: claim.epoch }]);
  await claimed(planId);
  const pauses = (await eventsOf(claim)).filter(([, { type }]) => type === "pause.asked");
  expect(pauses).toHaveLength(1);
});

test("controls that come during the last entry follow the end in the journal, once", async () => {
  const planId = await submitted();
  const claim = await claimed(planId);
  await store.requestCancel("t1", planId, "Otto");
  await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
  expect(await store.getPlan("t1", planId)).toMatchObject({
    status: "COMPLETED",
    controls: [{ id: 1 }],
    dueAt: expect.any(Date),
  });
  expect(await store.claimPlan(claim.plan._id, "e2")).toBeNull();
  expect(await store.claimPlan(claim.plan._id, "e2")).toBeNull();
  expect(await store.getPlan("t1", planId)).toMatchObject({ controls: [], dueAt: null });
  expect((await eventsOf(claim)).map(([, event]) => event)).toMatchObject([
    { type: "lease.taken" },
    { type: "plan.ended", status: "COMPLETED" },
    { type: "cancel.asked", asked: { by: "Otto" } },
  ]);
});
