import { parsePlan } from "@planwright/plan";
import { toFreeQuestions } from "@planwright/reading";
import {
  asksForVersions,
  createStore,
  fitOf,
  type RequestDocument,
  type RequestFilter,
  type RequestPage,
  type Store,
} from "@planwright/store";
import { createMemoryDatabase, createMemoryStore } from "@planwright/store/memory";
import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openCollections } from "../src/database/collections.ts";
import { createListRequests } from "../src/reads/list-requests.ts";

let store: Store;
let client: MongoClient;

beforeAll(async () => {
  const url = testServers().mongodbUrl;
  store = await createStore({ url });
  client = await MongoClient.connect(url);
  await submit("one (50%) of A.B", [{ id: "a", tool: "read", arguments: {} }]);
  await submit("two", [{ id: "a", forEach: { items: [1], as: "x", do: { tool: "read", arguments: {} } } }]);
  await submit("three aXb", [{ id: "a", tool: "write", arguments: {} }], ["nightly", "team:a"]);
  const { _id } = await store.createRequest({
    tenant: "t1",
    query: "four",
    tags: ["nightly"],
    autoExecute: false,
  });
  const claim = await store.claimRequest(_id, "p1");
  const error = { code: "NO_TOOLS", message: "no" };
  const origin = { kind: "offline" as const, model: null };
  await store.failPlanning(claim!, { error, diagnostics: [], raw: null, plan: null, origin });
  await client
    .db()
    .collection("plans")
    .updateOne({ "plan.steps.tool": "write" }, { $set: { error: { code: "TOOL_FAILED" } } });
});
afterAll(async () => {
  await client.close();
  await store.close();
});

async function submit(query: string, steps: object[], tags?: string[]): Promise<void> {
  const parsed = parsePlan({ steps });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  await store.submitPlan({
    tenant: "t1",
    query,
    tags,
    plan: parsed.plan,
    raw: "{}",
    diagnostics: [],
    autoExecute: false,
  });
}

/** Submits a request whose plan has a step in this state. */
async function withStep(query: string, status: "WAITING_APPROVAL" | "IN_DOUBT", tool: string): Promise<void> {
  const parsed = parsePlan({
    steps: [
      { id: "a", tool, arguments: {} },
      { id: "b", tool: "other", arguments: {} },
    ],
  });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const { plan } = await store.submitPlan({
    tenant: "t3",
    query,
    plan: parsed.plan,
    raw: "{}",
    diagnostics: [],
    autoExecute: true,
  });
  const claim = await store.claimPlan(plan._id, "e1");
  const error = { code: "EXECUTOR_LOST", message: "lost", retryable: false };
  await store.writeRecords(
    claim!,
    [{ key: "a", stepId: "a", status, attempts: 1, ...(status === "IN_DOUBT" && { error }) }],
    [],
  );
}

test("finds requests by what they need from a person, also with other filters", async () => {
  await withStep("ask", "WAITING_APPROVAL", "pay");
  await withStep("lost", "IN_DOUBT", "pay");
  await withStep("gone", "IN_DOUBT", "send");
  const { _id } = await store.createRequest({ tenant: "t3", query: "who", autoExecute: true });
  const claim = await store.claimRequest(_id, "p1");
  await store.askQuestions(claim!, { questions: toFreeQuestions(["Who?"], 0), draft: null });
  expect(await found({ needs: "approval" }, "t3")).toEqual(["ask"]);
  expect(await found({ needs: "doubt" }, "t3")).toEqual(["gone", "lost"]);
  expect(await found({ needs: "answer" }, "t3")).toEqual(["who"]);
  expect(await found({ needs: "answer", status: ["FAILED"] }, "t3")).toEqual([]);
  expect(await found({ needs: "doubt", tool: "pay" }, "t3")).toEqual(["lost"]);
  expect(await found({ needs: "doubt", errorCode: "TOOL_FAILED" }, "t3")).toEqual([]);
  expect(await found({ needs: "doubt", text: "GO" }, "t3")).toEqual(["gone"]);
  expect(await found({ needs: "doubt" }, "t1")).toEqual([]);
});

const wordsOf = (requests: readonly Pick<RequestDocument, "query">[]) =>
  requests.map(({ query }) => String(query?.split(" ")[0])).toSorted();

/** Queries of the listed requests. Checks that `fitOf` gives the same result for each request. */
async function found(filter: RequestFilter, tenant = "t1"): Promise<string[]> {
  const listed = wordsOf((await store.listRequests(tenant, { first: 10, filter })).items);
  const all = (await store.listRequests(tenant, { first: 100 })).items;
  const changed = await store.readChanged(
    all.map(({ _id }) => _id),
    { tenants: [tenant], versions: asksForVersions(filter) },
  );
  expect(changed).toHaveLength(all.length);
  const fitting = changed.filter(({ request, versions }) => fitOf(filter, request, versions) === "fits");
  expect(wordsOf(fitting.map(({ request }) => request))).toEqual(listed);
  return listed;
}

test.each<[string, RequestFilter, string[]]>([
  ["a tool, called once or for each item of a list", { tool: "read" }, ["one", "two"]],
  ["the error code of a plan", { errorCode: "TOOL_FAILED" }, ["three"]],
  ["the error code of planning", { errorCode: "NO_TOOLS" }, ["four"]],
  ["tool and code", { tool: "write", errorCode: "TOOL_FAILED" }, ["three"]],
  ["a tool without such a failure", { tool: "read", errorCode: "TOOL_FAILED" }, []],
  ["a tag, alone or beside others", { tag: "nightly" }, ["four", "three"]],
  ["a tag and a status", { tag: "nightly", status: ["FAILED"] }, ["four"]],
  ["a tag and a tool", { tag: "nightly", tool: "write" }, ["three"]],
  ["a tag and a text", { tag: "team:a", text: "axb" }, ["three"]],
  ["the beginning of a tag", { tag: "night" }, []],
  ["a text in any case", { text: "a.b" }, ["one"]],
  ["a text with special characters of patterns", { text: "(50%)" }, ["one"]],
  ["a pattern, which is read as a text", { text: ".*" }, []],
  ["status and tool", { tool: "read", status: ["FAILED"] }, []],
  ["status and text", { text: "t", status: ["READY"] }, ["three", "two"]],
  ["a time in the future", { createdFrom: new Date("2999-01-01"), tool: "read" }, []],
  [
    "all times",
    { createdFrom: new Date(0), createdBefore: new Date("2999-01-01") },
    ["four", "one", "three", "two"],
  ],
])("finds requests by %s, only of one tenant", async (_, filter, expected) => {
  expect(await found(filter)).toEqual(expected);
  expect(await found(filter, "t2")).toEqual([]);
});

test("the store in memory finds requests by tag too", async () => {
  const memory = createMemoryStore({ database: createMemoryDatabase(), owner: "api" });
  const asked = { tenant: "t1", query: "a", autoExecute: false };
  const { _id } = await memory.createRequest({ ...asked, tags: ["nightly", "b"] });
  await memory.createRequest({ ...asked, tags: ["b"] });
  await memory.createRequest(asked);
  const { items } = await memory.listRequests("t1", { first: 10, filter: { tag: "nightly" } });
  expect(items.map((request) => request._id)).toEqual([_id]);
});

test.each<[RequestFilter, number]>([
  [{}, 4],
  [{ text: "o" }, 3],
  [{ tool: "read" }, 2],
  [{ tag: "nightly" }, 2],
])("pages with %j have each request once, in both orders, for any window", async (filter, count) => {
  const list = createListRequests(openCollections(client, client.db()));
  const all = async (order: RequestPage["order"], window: number) => {
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await list("t1", { first: 1, after, filter, order, window });
      seen.push(...page.items.map(({ _id }) => _id));
      after = page.cursor ?? undefined;
    } while (after !== undefined);
    return seen;
  };
  const newest = await all("newest", 10);
  expect(newest).toHaveLength(count);
  expect(await all("newest", 1)).toEqual(newest);
  expect(await all("oldest", 1)).toEqual(newest.toReversed());
});

test.each<RequestFilter>([
  {},
  { tool: "same" },
  { errorCode: "SAME" },
  { needs: "doubt" },
  { called: { tool: "same" } },
  { tool: "same", createdFrom: new Date(1_900_000_000_250) },
])("requests of one second are listed by creation, also over pages: %j", async (filter) => {
  const db = client.db();
  const ids = (prefix: string) =>
    [3, 1, 4, 1, 5, 2].map((at, index) => {
      const createdAt = new Date(1_900_000_000_000 + at * 100);
      return { _id: `${prefix}_1900000000_${String(index).padStart(20, "a")}`, createdAt, index };
    });
  const events = [{ type: "attempt.started", tool: "same", attemptId: "a" }];
  const expected = ids("req")
    .filter(({ createdAt }) => !filter.createdFrom || createdAt >= filter.createdFrom)
    .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || a.index - b.index)
    .map(({ _id }) => _id);
  for (const { _id, createdAt } of ids("req")) {
    const same = { tenant: "t9", createdAt };
    const set = (name: string, id: string, more: object) =>
      db
        .collection<{ _id: string }>(name)
        .updateOne({ _id: id }, { $set: { ...same, ...more } }, { upsert: true });
    await set("requests", _id, {});
    await set("journal", `${_id}/00000001`, { requestId: _id, events });
    await set("plans", _id.replace("req", "plan"), {
      requestId: _id,
      version: 1,
      plan: { steps: [{ tool: "same" }] },
      error: { code: "SAME" },
      needs: ["doubt"],
      startedAt: createdAt,
    });
  }
  const list = createListRequests(openCollections(client, db));
  const all = async (order: RequestPage["order"], first: number, window: number) => {
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await list("t9", { first, after, filter, order, window });
      seen.push(...page.items.map(({ _id }) => _id));
      after = page.cursor ?? undefined;
    } while (after !== undefined);
    return seen;
  };
  for (const [first, window] of [
    [1, 10],
    [2, 10],
    [4, 3],
    [10, 1],
  ] as const) {
    expect(await all("oldest", first, window)).toEqual(expected);
    expect(await all("newest", first, window)).toEqual(expected.toReversed());
  }
});

test.each<RequestFilter>([
  {},
  { status: ["READY", "FAILED"], createdFrom: new Date(0) },
  { text: "t" },
  { tool: "read" },
  { errorCode: "NO_TOOLS" },
  { tag: "nightly" },
  { tag: "nightly", text: "t", createdFrom: new Date(0) },
  { tool: "write", errorCode: "TOOL_FAILED", text: "three", status: ["READY"] },
  { needs: "approval" },
  { needs: "answer" },
  { needs: "doubt", createdFrom: new Date(0) },
  { needs: "doubt", tool: "pay", errorCode: "TOOL_FAILED" },
])("a page with %j is at most three reads, each by an index", async (filter) => {
  const db = client.db();
  await db.command({ profile: 2 });
  const page = await store.listRequests("t1", { first: 1, filter });
  await store.listRequests("t1", { first: 1, filter, after: page.cursor ?? undefined });
  await db.command({ profile: 0 });
  const profile = db.collection<{ planSummary: string }>("system.profile");
  const reads = await profile.find({ "command.profile": { $exists: false } }).toArray();
  await profile.drop();
  expect(reads.length).toBeGreaterThan(0);
  expect(reads.length).toBeLessThanOrEqual(6);
  for (const { planSummary } of reads) expect(planSummary).toMatch(/^(IXSCAN|EXPRESS|IDHACK|EOF)/);
});

test.each(["approval", "doubt"] as const)(
  "a request that needs %s is found by the index of such plans",
  async (needs) => {
    const db = client.db();
    await db.command({ profile: 2 });
    await store.listRequests("t3", { first: 10, filter: { needs } });
    await db.command({ profile: 0 });
    const profile = db.collection<{ planSummary: string; docsExamined: number }>("system.profile");
    const [read] = await profile.find({ "command.find": "plans" }).toArray();
    await profile.drop();
    expect(read?.planSummary).toBe("IXSCAN { tenant: 1, needs: 1, requestId: -1 }");
    expect(read?.docsExamined).toBe(needs === "doubt" ? 2 : 1);
  },
);
