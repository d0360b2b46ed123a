import { type Plan, parsePlan, WAIT_REASONS } from "@planwright/plan";
import { createStore, type Store } from "@planwright/store";
import { findDue, testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";

let store: Store;
let client: MongoClient;

beforeAll(async () => {
  const url = testServers().mongodbUrl;
  store = await createStore({ url });
  client = await MongoClient.connect(url);
  for (let index = 0; index < 20; index += 1) {
    await store.createRequest({ tenant: "t1", query: "do a", autoExecute: true });
    await submitted(index < 5);
  }
  await store.addWorker({ _id: "e1", kind: "executor", deadAfterMs: 600_000 });
  await store.addWorker({ _id: "p1", kind: "planner", deadAfterMs: 600_000 });
});
afterAll(async () => {
  await client.close();
  await store.close();
});

function onePlan(): Plan {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

const submitted = (autoExecute: boolean) =>
  store.submitPlan({ tenant: "t1", query: null, plan: onePlan(), raw: "", diagnostics: [], autoExecute });

/** The query plans of MongoDB for the queries of `ask`, and the number of documents that it read. */
async function plansOf(ask: () => Promise<unknown>): Promise<{ summaries: string[]; documents: number }> {
  const db = client.db();
  await db.setProfilingLevel("all");
  await ask();
  await db.setProfilingLevel("off");
  const profiled = await db
    .collection("system.profile")
    .find({ planSummary: { $exists: true }, ns: { $not: /system\.profile/ } })
    .toArray();
  await db.collection("system.profile").drop();
  return {
    summaries: profiled.map(({ planSummary }) => String(planSummary)),
    documents: profiled.reduce((sum, { docsExamined = 0 }) => sum + Number(docsExamined), 0),
  };
}

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["plans that are due", () => findDue(store.planLeases, 1_000), /^IXSCAN \{ dueAt: 1, tenant: 1 \}$/],
  ["requests that are due", () => findDue(store.requestLeases, 1_000), /^IXSCAN \{ dueAt: 1, tenant: 1 \}$/],
  [
    "due plans in turns over the tenants",
    () => store.planLeases.findInTurns(1, []),
    /^IXSCAN \{ (dueAt: 1, tenant: 1|tenant: 1, priority: 1, dueAt: 1, waitReason: 1) \}$/,
  ],
  [
    "unfinished work",
    () => store.countUnfinished(10),
    /^(IXSCAN|COUNT_SCAN) \{ (lease\.owner: 1, )?dueAt: 1, tenant: 1 \}$/,
  ],
  [
    "unfinished work of a tenant",
    () => store.countUnfinished(10, "t1"),
    /^(IXSCAN|COUNT_SCAN) \{ (lease\.owner: 1, dueAt: 1, tenant: 1|tenant: 1, priority: 1, dueAt: 1, waitReason: 1) \}$/,
  ],
  [
    "the workload of a tenant",
    () => store.readWorkload("t1"),
    /^(IXSCAN|COUNT_SCAN) \{ (dueAt: 1, tenant: 1|lease\.owner: 1, dueAt: 1, tenant: 1|tenant: 1, status: 1, updatedAt: 1) \}$/,
  ],
  [
    "model calls of a tenant within an hour",
    () => store.modelCallsPausedUntil("t1", 2),
    /^IXSCAN \{ tenant: 1, createdAt: -1, attempt: 1 \}$/,
  ],
  [
    "figures of the system",
    () => store.readFigures("e1"),
    /^(EOF|(IXSCAN|COUNT_SCAN) \{ (_id: 1|status: 1|status: 1, waitReason: 1|needs: 1, needsSince: 1|status: 1, updatedAt: 1|dueAt: 1, tenant: 1) \})$/,
  ],
])(
  "%s: reads only indexes of unfinished or recent work, for any number of ended ones",
  async (_, ask, expected) => {
    const { summaries } = await plansOf(ask);
    expect(summaries.length).toBeGreaterThan(0);
    for (const summary of summaries) expect(summary).toMatch(expected);
  },
);

test("the workload of a tenant reads no documents except the oldest request and the oldest plan", async () => {
  expect((await plansOf(() => store.readWorkload("t1"))).documents).toBe(2);
  expect((await plansOf(() => store.readWorkload("a tenant without requests"))).documents).toBe(0);
});

test("unfinished work is counted up to a limit: plans that were started, and requests in planning", async () => {
  expect(await store.countUnfinished(100)).toBe(25);
  expect(await store.countUnfinished(7)).toBe(7);
});

test("figures of the system: read by the worker that started first, and by the next one when it has gone", async () => {
  expect(await store.readFigures("e1")).toMatchObject({ workers: { executor: 1, planner: 1 } });
  expect([await store.readFigures("p1"), await store.readFigures("unknown")]).toEqual([null, null]);
  await store.removeWorker("e1");
  expect(await store.readFigures("p1")).toMatchObject({ workers: { executor: 0, planner: 1 } });
});

test("figures of the system count plans by status, also those that never started, but none that has ended", async () => {
  await store.requestCancel("t1", (await submitted(false)).plan._id, "client");
  const figures = await store.readFigures("p1");
  const plans = figures?.plans.map(({ status, reason, count }) => [[status, reason].join(" ").trim(), count]);
  expect(Object.fromEntries(plans ?? [])).toEqual({
    READY: 15,
    QUEUED: 5,
    RUNNING: 0,
    ...Object.fromEntries(Object.keys(WAIT_REASONS).map((reason) => [`WAITING ${reason}`, 0])),
    PAUSED: 0,
    CANCELLING: 0,
  });
  expect(figures?.due).toEqual([
    { work: "plans", count: 5, oldestAgeMs: expect.any(Number) },
    { work: "requests", count: 20, oldestAgeMs: expect.any(Number) },
  ]);
});

test("figures of the system count waiting plans by their reason, and needs with the age of the oldest", async () => {
  const ages = async () => (await store.readFigures("p1"))?.needs;
  expect(await ages()).toEqual([
    { kind: "approval", count: 0, oldestAgeMs: null },
    { kind: "doubt", count: 0, oldestAgeMs: null },
    { kind: "answer", count: 0, oldestAgeMs: null },
    { kind: "sign-in", count: 0, oldestAgeMs: null },
  ]);
  const ago = (ms: number) => new Date(Date.now() - ms);
  const change = (name: string, _id: string, set: object) =>
    client.db().collection<{ _id: string }>(name).updateOne({ _id }, { $set: set });
  const [first, second, third] = await Promise.all([submitted(true), submitted(true), submitted(true)]);
  const waits = { status: "WAITING", waitReason: "approval", dueAt: null, needs: ["approval"] };
  await change("plans", first.plan._id, { ...waits, needsSince: ago(60_000) });
  await change("plans", second.plan._id, { ...waits, needsSince: ago(3_600_000) });
  // Of an earlier version: since when it waits is not known.
  await change("plans", third.plan._id, { ...waits, waitReason: "in doubt", needs: ["doubt"] });
  const { _id } = await store.createRequest({ tenant: "t1", query: "do b", autoExecute: true });
  await change("requests", _id, { status: "NEEDS_INPUT", dueAt: null, updatedAt: ago(7_200_000) });
  const asked = { authorizationUrl: "https://auth.example.org", state: "s" };
  await store.holdSignIn("shop", "e1", 60_000);
  await store.storeSignIn("shop", "e1", {
    url: "https://shop.example.org/mcp",
    sealed: "",
    tokensEndAt: null,
    asked: { ...asked, since: ago(180_000) },
    error: null,
  });
  await store.holdSignIn("signed in", "e1", 60_000);
  const needs = await ages();
  expect(needs).toMatchObject([
    { kind: "approval", count: 2 },
    { kind: "doubt", count: 1, oldestAgeMs: null },
    { kind: "answer", count: 1 },
    { kind: "sign-in", count: 1 },
  ]);
  expect(needs?.map(({ oldestAgeMs }) => Math.round((oldestAgeMs ?? 0) / 60_000))).toEqual([60, 0, 120, 3]);
  const waiting = (await store.readFigures("p1"))?.plans.filter(({ status }) => status === "WAITING");
  expect(waiting?.filter(({ count }) => count > 0)).toEqual([
    { status: "WAITING", reason: "approval", count: 2 },
    { status: "WAITING", reason: "in doubt", count: 1 },
  ]);
});

test("figures of the system read no documents except the oldest of each kind", async () => {
  // Two workers, the oldest plan and request of the due work, and an index entry for each of 2 needs and 1 question.
  expect((await plansOf(() => store.readFigures("p1"))).documents).toBeLessThanOrEqual(6);
});

test("a tenant is paused from its last model call of an hour until the first of them is an hour ago", async () => {
  const HOUR_MS = 3_600_000;
  const now = Date.now();
  const calls = client.db().collection("modelCalls");
  const call = (agoMs: number, more: object = { attempt: 1 }) => ({
    tenant: "paused",
    requestId: "req_1",
    createdAt: new Date(now - agoMs),
    ...more,
  });
  // Neither calls of the offline drafter, nor those of other tenants or earlier hours.
  await calls.insertMany([call(10, {}), call(20, {}), { ...call(30), tenant: "other" }, call(HOUR_MS + 1)]);
  await calls.insertMany([call(1_000), call(2_000)]);
  const until = (maxPerHour: number) => store.modelCallsPausedUntil("paused", maxPerHour);
  expect(await until(3)).toBeNull();
  expect(await until(2)).toEqual(new Date(now - 2_000 + HOUR_MS));
  expect(await until(1)).toEqual(new Date(now - 1_000 + HOUR_MS));
  expect((await plansOf(() => until(1))).documents).toBe(0);
});
