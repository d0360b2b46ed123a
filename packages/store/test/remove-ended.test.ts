import { type PlanId, parsePlan, type RequestId } from "@planwright/plan";
import { createStore, inspectStorage, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { type Db, MongoClient } from "mongodb";
import { afterEach, beforeEach, expect, test } from "vitest";
import { playRecords } from "./play-records.ts";

let store: Store;
let client: MongoClient;
let db: Db;
let url: string;
beforeEach(async () => {
  url = testServers().mongodbUrl;
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

/** A request with a plan that wrote a large output and ended this number of days ago. */
async function endedDaysAgo(days: number, tenant = "t1"): Promise<{ requestId: RequestId; planId: PlanId }> {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const input = { tenant, query: null, raw: "", diagnostics: [], autoExecute: true };
  const { request, plan } = await store.submitPlan({ ...input, plan: parsed.plan });
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

/** Number of documents of a request in each collection. */
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

const KEPT = { requests: 1, plans: 1, journal: true, outputs: 1, modelCalls: 1 };
const REMOVED = { requests: 0, plans: 0, journal: false, outputs: 0, modelCalls: 0 };
const before = (days: number, limit = 100) => ({ endedBefore: new Date(Date.now() - days * DAY_MS), limit });

test.each(["in doubt", "paused"] as const)(
  "a plan that was parked 100 days ago (%s) is kept, and continues",
  async (reason) => {
    const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
    if (!parsed.ok) throw new TypeError("the plan is not valid");
    const input = { tenant: "t1", query: null, raw: "", diagnostics: [], autoExecute: true };
    const { request, plan } = await store.submitPlan({ ...input, plan: parsed.plan });
    const claim = await store.claimPlan(plan._id, "e1");
    if (!claim) throw new TypeError("nothing to claim");
    if (reason === "paused") await store.requestPause("t1", plan._id, "ann");
    await store.applyControls([claim]);
    await claim.journal.append([]);
    const status = reason === "paused" ? "PAUSED" : "WAITING";
    await store.releasePlan(claim, { status, reason, dueAtMs: null });
    await age(request._id, 100);
    await store.removeEnded(before(30));
    expect(await store.claimPlan(plan._id, "e1")).toBeNull();
    await store.requestPause("t1", plan._id, "ann");
    await store.requestResume("t1", plan._id, "ann");
    expect((await store.claimPlan(plan._id, "e1"))?.plan.status).toBe("RUNNING");
  },
);

test("only requests that ended long ago are removed, with all their records", async () => {
  const old = await endedDaysAgo(31);
  const others = [await endedDaysAgo(29), await endedDaysAgo(0), await endedDaysAgo(29, "t2")];
  const yours = await endedDaysAgo(40, "t2");
  expect(await store.removeEnded(before(30))).toBe(2);
  expect(await documentsOf(old)).toEqual(REMOVED);
  expect(await documentsOf(yours)).toEqual(REMOVED);
  for (const other of others) expect(await documentsOf(other)).toEqual(KEPT);
  expect(await store.getRequest("t1", old.requestId)).toBeNull();
  expect(await collection("removals").countDocuments()).toBe(0);
  expect(await store.removeEnded(before(30))).toBe(0);
});

test("an old request that waits, runs or is planned is kept", async () => {
  const asked = await store.createRequest({ tenant: "t1", query: "x", autoExecute: true });
  const { requestId, planId } = await endedDaysAgo(0);
  await store.rerunPlan("t1", requestId, { from: "a", autoExecute: true });
  await age(asked._id, 90);
  await age(requestId, 90);
  expect(await store.removeEnded(before(30))).toBe(0);
  expect(await documentsOf({ requestId, planId })).toMatchObject({ requests: 1, plans: 2 });
});

test("the oldest requests are removed first, up to the limit", async () => {
  const [younger, older] = [await endedDaysAgo(40), await endedDaysAgo(50)];
  expect(await store.removeEnded(before(30, 1))).toBe(1);
  expect([await documentsOf(younger), await documentsOf(older)]).toEqual([KEPT, REMOVED]);
  expect(await store.removeEnded(before(30, 1))).toBe(1);
  expect(await documentsOf(younger)).toEqual(REMOVED);
});

test("a removal that was interrupted after the request was removed is completed by the next one", async () => {
  const cut = await endedDaysAgo(31);
  await collection("removals").insertOne({ _id: cut.requestId, tenant: "t1" } as never);
  await collection("requests").deleteOne({ _id: cut.requestId });
  expect(await documentsOf(cut)).toEqual({ ...KEPT, requests: 0 });
  expect(await store.removeEnded(before(30))).toBe(1);
  expect(await documentsOf(cut)).toEqual(REMOVED);
  expect(await collection("removals").countDocuments()).toBe(0);
});

test("a request that was rerun meanwhile is kept with all its records", async () => {
  const { requestId, planId } = await endedDaysAgo(31);
  await collection("removals").insertOne({ _id: requestId, tenant: "t1" } as never);
  await store.rerunPlan("t1", requestId, { from: "a", autoExecute: true });
  expect(await store.removeEnded(before(30))).toBe(0);
  expect(await documentsOf({ requestId, planId })).toMatchObject({ requests: 1, plans: 2, outputs: 1 });
  expect(await collection("removals").countDocuments()).toBe(0);
});

test("simultaneous removals of several processes remove each request, without errors", async () => {
  const ended = await Promise.all(Array.from({ length: 6 }, () => endedDaysAgo(31)));
  await Promise.all(Array.from({ length: 4 }, () => store.removeEnded(before(30, 3))));
  await store.removeEnded(before(30));
  for (const one of ended) expect(await documentsOf(one)).toEqual(REMOVED);
});

test("calls for questions about contracts are removed with the requests of their time", async () => {
  const seconds = (days: number) => Math.floor((Date.now() - days * DAY_MS) / 1_000);
  const ids = [`contracts_${seconds(9)}_a/x`, `contracts_${seconds(1)}_a/x`, "d5a1"];
  for (const _id of ids) await collection("modelCalls").insertOne({ _id });
  await store.removeEnded({ endedBefore: new Date(Date.now() - 5 * DAY_MS), limit: 10 });
  const left = await collection("modelCalls").find().toArray();
  expect(left.map(({ _id }) => _id)).toEqual(ids.slice(1));
});

test("storage says what tenants hold, how old it is, and when it is removed; the removal agrees", async () => {
  const old = await endedDaysAgo(40);
  await endedDaysAgo(28.5);
  await endedDaysAgo(3, "t2");
  const running = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!running.ok) throw new TypeError("the plan is not valid");
  const input = { tenant: "t2", query: null, raw: "", diagnostics: [], autoExecute: true };
  await store.submitPlan({ ...input, plan: running.plan });
  // A question about contracts has no request, and a removal that a crash cut has left an output.
  await collection("modelCalls").insertOne({
    _id: "contracts_1_a",
    requestId: "contracts_1_a",
    tenant: "t1",
    createdAt: new Date(Date.now() - DAY_MS * 8),
  } as never);
  await collection("outputs").insertOne({ _id: "gone/a@1", planId: "gone", tenant: "t1", text: "" } as never);
  await collection("leftByAnotherVersion").insertOne({ _id: "a" });
  const measure = (more: Partial<Parameters<typeof inspectStorage>[0]> = {}) =>
    inspectStorage({ url, retentionDays: 30, ...more });

  const facts = await measure();
  expect(facts.collections.map(({ name, group, shares }) => `${name} ${group} ${shares}`)).toEqual(
    expect.arrayContaining([
      "journal journal exact",
      "requests heads exact",
      "outputs outputs exact",
      "workers housekeeping none",
      "leftByAnotherVersion other none",
    ]),
  );
  const shares = (wanted: string) =>
    facts.shares
      .filter((share) => share.collection === wanted)
      .map(({ tenant, age, freed, documents }) => `${tenant} ${age} ${freed} ${documents}`)
      .toSorted();
  const ofRequests = ["t1 month week 1", "t1 older now 1", "t2 day unfinished 1", "t2 week month 1"];
  expect(shares("requests")).toEqual(ofRequests);
  expect(shares("plans")).toEqual(ofRequests);
  expect(shares("outputs")).toEqual(["t1 month week 1", "t1 older now 2", "t2 week month 1"]);
  expect(shares("modelCalls")).toEqual([
    "t1 month month 1",
    "t1 month week 1",
    "t1 older now 1",
    "t2 week month 1",
  ]);
  for (const { name, documents, dataBytes } of facts.collections) {
    const found = facts.shares.filter(({ collection }) => collection === name);
    if (found.length === 0) continue;
    const total = (field: "documents" | "dataBytes") => found.reduce((sum, share) => sum + share[field], 0);
    expect({ name, documents: total("documents"), dataBytes: total("dataBytes") }).toEqual({
      name,
      documents,
      dataBytes,
    });
  }

  const never = await measure({ retentionDays: "never" });
  expect(new Set(never.shares.map(({ freed }) => freed))).toEqual(new Set(["never", "unfinished"]));
  const late = await measure({ scanMs: 0 });
  expect(late.shares).toEqual([]);
  expect(late.collections.find(({ name }) => name === "journal")).toMatchObject({ shares: "unmeasured" });

  await store.removeEnded({ endedBefore: new Date(Date.now() - 30 * DAY_MS), limit: 10 });
  expect((await documentsOf(old)).requests).toBe(0);
  const left = (await measure()).shares.filter(({ collection }) => collection === "requests");
  expect(left.map(({ freed }) => freed).toSorted()).toEqual(["month", "unfinished", "week"]);
});

test("storage estimates a large collection from a sample", async () => {
  await endedDaysAgo(1.5);
  const texts = Array.from({ length: 400 }, (_, index) => ({
    _id: `call ${index}`,
    requestId: `req_${index}`,
    tenant: index % 2 === 0 ? "t1" : "t2",
    createdAt: new Date(),
    answer: "x".repeat(1_000),
  }));
  await collection("modelCalls").insertMany(texts as never[]);
  const { collections, shares } = await inspectStorage({
    url,
    retentionDays: 30,
    sampleSize: 20,
  });
  const stored = collections.find(({ name }) => name === "modelCalls");
  expect(stored).toMatchObject({ documents: 401, shares: "estimated" });
  const estimate = shares.filter(({ collection }) => collection === "modelCalls");
  const total = estimate.reduce((sum, { dataBytes }) => sum + dataBytes, 0);
  expect(total / (stored?.dataBytes ?? 0)).toBeCloseTo(1, 0);
  expect(collections.find(({ name }) => name === "requests")).toMatchObject({ shares: "exact" });
});
