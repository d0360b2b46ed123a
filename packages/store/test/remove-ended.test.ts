import { type PlanId, parsePlan, type RequestId } from "@planwright/plan";
import { createStore, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { type Db, MongoClient } from "mongodb";
import { afterEach, beforeEach, expect, test } from "vitest";
import { playRecords } from "./play-records.ts";

let store: Store;
let client: MongoClient;
let db: Db;
beforeEach(async () => {
  const url = testServers().mongodbUrl;
  store = await createStore({ url });
  client = await MongoClient.connect(url);
  db = client.db();
});
afterEach(async () => {
  await store.close();
  await client.close();
});

const collection = (name: string) => db.collection<{ _id: string }>(name);
const DAY_MS = 86_400_000;

/** A request with a plan that wrote a large output and ended so many days ago. */
async function endedDaysAgo(days: number, tenant = "t1"): Promise<{ requestId: RequestId; planId: PlanId }> {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const what = { tenant, query: null, raw: "", diagnostics: [], autoExecute: true };
  const { request, plan } = await store.submitPlan({ ...what, plan: parsed.plan });
  const claim = await store.claimPlan(plan._id, "e1");
  if (!claim) throw new TypeError("nothing to claim");
  const output = "x".repeat(50_000);
  await playRecords(store, claim, [{ key: "a", stepId: "a", status: "COMPLETED", attempts: 1, output }]);
  await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });
  await collection("modelCalls").insertOne({
    _id: `call of ${request._id}`,
    requestId: request._id,
    tenant,
  } as never);
  await age(request._id, days);
  return { requestId: request._id, planId: plan._id };
}

async function age(requestId: string, days: number): Promise<void> {
  const updatedAt = new Date(Date.now() - days * DAY_MS);
  await collection("requests").updateOne({ _id: requestId }, { $set: { updatedAt } });
}

/** How many documents of each collection belong to a request. */
async function documentsOf({ requestId, planId }: { requestId: string; planId: string }) {
  const count = (name: string, filter: object) => collection(name).countDocuments(filter);
  return {
    requests: await count("requests", { _id: requestId }),
    plans: await count("plans", { requestId }),
    journal: (await count("journal", { requestId })) > 0,
    outputs: await count("outputs", { planId }),
    modelCalls: await count("modelCalls", { requestId }),
  };
}

const WHOLE = { requests: 1, plans: 1, journal: true, outputs: 1, modelCalls: 1 };
const GONE = { requests: 0, plans: 0, journal: false, outputs: 0, modelCalls: 0 };
const before = (days: number, limit = 100) => ({ endedBefore: new Date(Date.now() - days * DAY_MS), limit });

test("what ended long ago goes with all that was recorded for it, and nothing else does", async () => {
  const old = await endedDaysAgo(31);
  const others = [await endedDaysAgo(29), await endedDaysAgo(0), await endedDaysAgo(29, "t2")];
  const yours = await endedDaysAgo(40, "t2");
  expect(await store.removeEnded(before(30))).toBe(2);
  expect(await documentsOf(old)).toEqual(GONE);
  expect(await documentsOf(yours)).toEqual(GONE);
  for (const other of others) expect(await documentsOf(other)).toEqual(WHOLE);
  expect(await store.getRequest("t1", old.requestId)).toBeNull();
  expect(await collection("removals").countDocuments()).toBe(0);
  expect(await store.removeEnded(before(30))).toBe(0);
});

test("what waits, runs or is planned stays, however old it is", async () => {
  const asked = await store.createRequest({ tenant: "t1", query: "x", autoExecute: true });
  const { requestId, planId } = await endedDaysAgo(0);
  await store.rerunPlan("t1", requestId, { from: "a", autoExecute: true });
  await age(asked._id, 90);
  await age(requestId, 90);
  expect(await store.removeEnded(before(30))).toBe(0);
  expect(await documentsOf({ requestId, planId })).toMatchObject({ requests: 1, plans: 2 });
});

test("the oldest go first, as many as are asked for", async () => {
  const [younger, older] = [await endedDaysAgo(40), await endedDaysAgo(50)];
  expect(await store.removeEnded(before(30, 1))).toBe(1);
  expect([await documentsOf(younger), await documentsOf(older)]).toEqual([WHOLE, GONE]);
  expect(await store.removeEnded(before(30, 1))).toBe(1);
  expect(await documentsOf(younger)).toEqual(GONE);
});

test("a removal that was cut off after the request was gone is ended by the next one", async () => {
  const cut = await endedDaysAgo(31);
  await collection("removals").insertOne({ _id: cut.requestId, tenant: "t1" } as never);
  await collection("requests").deleteOne({ _id: cut.requestId });
  expect(await documentsOf(cut)).toEqual({ ...WHOLE, requests: 0 });
  expect(await store.removeEnded(before(30))).toBe(1);
  expect(await documentsOf(cut)).toEqual(GONE);
  expect(await collection("removals").countDocuments()).toBe(0);
});

test("a request that was run again meanwhile stays whole", async () => {
  const { requestId, planId } = await endedDaysAgo(31);
  await collection("removals").insertOne({ _id: requestId, tenant: "t1" } as never);
  await store.rerunPlan("t1", requestId, { from: "a", autoExecute: true });
  expect(await store.removeEnded(before(30))).toBe(0);
  expect(await documentsOf({ requestId, planId })).toMatchObject({ requests: 1, plans: 2, outputs: 1 });
  expect(await collection("removals").countDocuments()).toBe(0);
});

test("many processes at once remove each request once and stumble over none", async () => {
  const ended = await Promise.all(Array.from({ length: 6 }, () => endedDaysAgo(31)));
  await Promise.all(Array.from({ length: 4 }, () => store.removeEnded(before(30, 3))));
  await store.removeEnded(before(30));
  for (const one of ended) expect(await documentsOf(one)).toEqual(GONE);
});
