/** Pages of versions and of model calls. */
import { parsePlan, type RequestId } from "@planwright/plan";
import {
  CursorInvalidError,
  createStore,
  type ListPage,
  modelCallCursor,
  type Page,
  planCursor,
  type Store,
} from "@planwright/store";
import { testServers } from "@planwright/testing";
import { type Db, MongoClient, type Sort } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const TENANT = "t1";
const VERSIONS = 4;
const CALLS = 7;

let store: Store;
let client: MongoClient;
let db: Db;
let requestIds: RequestId[];

beforeAll(async () => {
  const url = testServers().mongodbUrl;
  store = await createStore({ url });
  client = await MongoClient.connect(url);
  db = client.db();
  requestIds = [await withRecords(), await withRecords()];
});
afterAll(async () => {
  await client.close();
  await store.close();
});

/** A request of 4 versions, with 7 calls of a model in one millisecond. */
async function withRecords(): Promise<RequestId> {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const { plan } = parsed;
  const input = { tenant: TENANT, query: null, plan, raw: "", diagnostics: [], autoExecute: true };
  const { request } = await store.submitPlan(input);
  for (let version = 1; version < VERSIONS; version += 1) {
    const { planId } = (await store.getRequest(TENANT, request._id))!;
    const claim = (await store.claimPlan(planId, "e1"))!;
    const error = { code: "TOOL_FAILED", message: "no", retryable: false };
    const failed = { key: "a", stepId: "a", status: "FAILED" as const, attempts: 1, error };
    await store.writeRecords(claim, [failed], []);
    await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {}, error });
    await store.rerunPlan(TENANT, request._id, { from: null, autoExecute: true });
  }
  for (let made = 0; made < CALLS; made += 1) {
    await store.recordModelCall({
      requestId: request._id,
      tenant: TENANT,
      purpose: "draft",
      model: "offline",
      messages: [],
      answer: "",
      finishReason: null,
      inputTokens: null,
      outputTokens: null,
      latencyMs: 1,
      costUsd: null,
      error: null,
    });
  }
  await db.collection("modelCalls").updateMany({}, { $set: { createdAt: new Date(1_700_000_000_000) } });
  return request._id;
}

/** All records of the first request. */
const stored = (collection: string, order: Sort): Promise<{ _id: string }[]> =>
  db.collection<{ _id: string }>(collection).find({ requestId: requestIds[0]! }).sort(order).toArray();

type ReadPages = (tenant: string, page: ListPage) => Promise<Map<RequestId, Page<{ _id: string }>>>;

const LISTS: { name: string; read: ReadPages; all: () => Promise<{ _id: string }[]>; cursor: string }[] = [
  {
    name: "versions",
    read: (tenant, page) => store.listPlanPages(tenant, requestIds, page),
    all: () => stored("plans", { version: -1 }),
    cursor: planCursor({ version: 3 }),
  },
  {
    name: "model calls",
    read: (tenant, page) => store.listModelCallPages(tenant, requestIds, page),
    all: () => stored("modelCalls", { createdAt: 1, _id: 1 }),
    cursor: modelCallCursor({ createdAt: new Date(1_700_000_000_000), _id: "0" }),
  },
];

describe.each(LISTS)("pages of $name", ({ read, all, cursor }) => {
  test.each([1, 2, 100])("of %i have each record once, in the order of the list", async (first) => {
    const ids: string[] = [];
    let after: string | undefined;
    do {
      const page = (await read(TENANT, { first, after })).get(requestIds[0]!)!;
      ids.push(...page.items.map(({ _id }) => _id));
      after = page.cursor ?? undefined;
    } while (after !== undefined);
    expect(ids).toEqual((await all()).map(({ _id }) => _id));
  });

  test("are empty for another tenant", async () => {
    const pages = await read("t2", { first: 10 });
    expect(pages).toEqual(new Map(requestIds.map((id) => [id, { items: [], cursor: null }])));
  });

  test("refuse an invalid cursor, or one of another list", async () => {
    const others = LISTS.map((list) => list.cursor).filter((other) => other !== cursor);
    for (const after of ["nonsense", "", ...others]) {
      await expect(read(TENANT, { first: 1, after })).rejects.toBeInstanceOf(CursorInvalidError);
    }
  });

  test.each([undefined, "a cursor"])("of two requests are one read by index, after %s", async (given) => {
    const first = 2;
    await db.command({ profile: 2 });
    await read(TENANT, { first, after: given && cursor });
    await db.command({ profile: 0 });
    const profile = db.collection("system.profile");
    const reads = await profile.find({ "command.profile": { $exists: false } }).toArray();
    await profile.drop();
    expect(reads).toHaveLength(1);
    const [{ planSummary, docsExamined, nreturned, hasSortStage } = expect.fail("no read")] = reads;
    expect(planSummary).toMatch(/^IXSCAN \{ tenant: 1, requestId: 1/);
    expect(hasSortStage ?? false).toBe(false);
    expect(docsExamined).toBe(nreturned);
    expect(nreturned).toBeLessThanOrEqual(requestIds.length * (first + 1));
  });
});
