/** Reads of requests that a watch reported. */
import { parsePlan } from "@planwright/plan";
import { createStore, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { type Db, MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";

let store: Store;
let client: MongoClient;
let db: Db;
beforeAll(async () => {
  const url = testServers().mongodbUrl;
  store = await createStore({ url });
  client = await MongoClient.connect(url);
  db = client.db();
});
afterAll(async () => {
  await client.close();
  await store.close();
});

async function submit(tenant: string) {
  const parsed = parsePlan([{ id: "a", tool: "read", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const input = { query: null, raw: "", diagnostics: [], autoExecute: true };
  return store.submitPlan({ ...input, tenant, plan: parsed.plan });
}

test("requests are found by their ids and by ids of all versions of their plans, each once", async () => {
  const [first, second] = [await submit("t1"), await submit("t1")];
  const ids = [first.request._id, first.plan._id, second.plan._id, "req_1700000000_gone", "plan_gone"];
  const found = await store.readChanged(ids, { tenants: ["t1"], versions: true });
  expect(found.map(({ request }) => request._id).toSorted()).toEqual(
    [first.request._id, second.request._id].toSorted(),
  );
  for (const { request, plan, versions } of found) {
    expect(plan?._id).toBe(request.planId);
    expect(versions).toEqual([{ requestId: request._id, tools: ["read"], errorCode: null, needs: [] }]);
  }
});

test("requests of other tenants are left out, for both kinds of ids", async () => {
  const { request, plan } = await submit("t2");
  expect(await store.readChanged([request._id, plan._id], { tenants: ["t1"], versions: true })).toEqual([]);
});

test("a request that is being planned has no plan yet", async () => {
  const { _id } = await store.createRequest({ tenant: "t1", query: "a", autoExecute: true });
  const found = await store.readChanged([_id], { tenants: ["t1"], versions: true });
  expect(found).toMatchObject([{ request: { _id }, plan: null, versions: [] }]);
});

test("fifty requests are four reads, all by index", async () => {
  const all = await Promise.all(Array.from({ length: 50 }, () => submit("t3")));
  const ids = all.flatMap(({ request, plan }) => [request._id, plan._id]);
  await db.command({ profile: 2 });
  const found = await store.readChanged(ids, { tenants: ["t3", "t4"], versions: true });
  await db.command({ profile: 0 });
  const profile = db.collection<{ planSummary: string }>("system.profile");
  const reads = await profile.find({ "command.profile": { $exists: false } }).toArray();
  await profile.drop();
  expect(found).toHaveLength(50);
  expect(reads).toHaveLength(4);
  for (const { planSummary } of reads) expect(planSummary).toMatch(/^(IXSCAN|EXPRESS|IDHACK)/);
});
