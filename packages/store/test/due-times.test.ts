import { type Plan, parsePlan } from "@planwright/plan";
import { createStore, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
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
  ["plans that are due", () => store.planLeases.findDue(10), /^IXSCAN \{ dueAt: 1, tenant: 1 \}$/],
  ["requests that are due", () => store.requestLeases.findDue(10), /^IXSCAN \{ dueAt: 1, tenant: 1 \}$/],
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
  ["plans by state", () => store.countPlansByStatus(10), /^(IXSCAN|COUNT_SCAN) \{ status: 1 \}$/],
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

test("plans are counted by state up to a limit: also those that never started, but none that has ended", async () => {
  await store.requestCancel("t1", (await submitted(false)).plan._id, "client");
  expect(Object.fromEntries(await store.countPlansByStatus(100))).toEqual({
    READY: 15,
    QUEUED: 5,
    RUNNING: 0,
    WAITING: 0,
    PAUSED: 0,
    CANCELLING: 0,
  });
  expect((await store.countPlansByStatus(7)).get("READY")).toBe(7);
});
