import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CountedCalls,
  createStore,
  hourOf,
  latencyBucket,
  type Store,
  toolCallsSince,
} from "../src/index.ts";

/** Stores of two executors on one database. */
let first: Store;
let second: Store;
let client: MongoClient;
beforeAll(async () => {
  const { mongodbUrl } = testServers();
  [first, second] = await Promise.all([createStore({ url: mongodbUrl }), createStore({ url: mongodbUrl })]);
  client = await MongoClient.connect(mongodbUrl);
});
afterAll(async () => {
  await Promise.all([first.close(), second.close(), client.close()]);
});

const NOW = Date.parse("2026-11-24T10:20:30.000Z");
const SINCE = toolCallsSince(NOW);
const at = (time: string) => new Date(`2026-11-${time}Z`);

function counted(more: Partial<CountedCalls> = {}): CountedCalls {
  const lastAt = more.lastAt ?? new Date(NOW);
  return {
    tenant: "t1",
    server: "blog",
    tool: "createBlog",
    hour: hourOf(lastAt.getTime()),
    calls: 1,
    failures: 0,
    durations: { [latencyBucket(100)]: 1 },
    durationSums: { [latencyBucket(100)]: 100 },
    errors: {},
    lastAt,
    ...more,
  };
}

/** So many calls that took this long. */
function timed(durationMs: number, count: number) {
  const bucket = latencyBucket(durationMs);
  return { durations: { [bucket]: count }, durationSums: { [bucket]: count * durationMs } };
}

test("counts of several executors and several hours are summed for each tool", async () => {
  const slow = { ...timed(9_000, 1), failures: 1, errors: { TOOL_TIMEOUT: 1 } };
  await Promise.all([
    first.addToolCalls([counted({ calls: 60, ...timed(100, 60) })]),
    second.addToolCalls([counted({ calls: 38, ...timed(100, 38) }), counted(slow)]),
    second.addToolCalls([counted({ ...slow, lastAt: at("23T12:00:00") })]),
    first.addToolCalls([counted({ tool: "createAuthor", failures: 1, errors: { TOOL_FAILED: 1 } })]),
  ]);
  const stats = await first.toolCallStats("t1", SINCE);
  expect(stats.find(({ tool }) => tool === "createBlog")).toEqual({
    server: "blog",
    tool: "createBlog",
    calls: 100,
    failures: 2,
    p50Ms: 100,
    p99Ms: 9_000,
    errors: [{ code: "TOOL_TIMEOUT", count: 2 }],
    lastAt: new Date(NOW),
  });
  expect(await second.toolCallStats("t1", SINCE)).toEqual(expect.arrayContaining(stats));
});

test("another tenant sees only its own calls of the same tool", async () => {
  await first.addToolCalls([counted({ tenant: "t2", calls: 3, durations: {}, durationSums: {} })]);
  expect(await first.toolCallStats("t2", SINCE)).toMatchObject([
    { tool: "createBlog", calls: 3, p50Ms: null, p99Ms: null, errors: [] },
  ]);
  expect(await first.toolCallStats("t3", SINCE)).toEqual([]);
});

test("failures are listed by code, the most frequent first", async () => {
  await first.addToolCalls([
    counted({ tenant: "t4", calls: 6, failures: 6, errors: { A: 1, B: 2, C: 2, D: 1 } }),
  ]);
  const [stats] = await first.toolCallStats("t4", SINCE);
  expect(stats?.errors.map(({ code }) => code)).toEqual(["B", "C", "A", "D"]);
});

test("calls are counted from the beginning of the hour 24 hours ago", async () => {
  expect(SINCE).toEqual(at("23T10:00:00"));
  await first.addToolCalls([
    counted({ tenant: "t5", lastAt: at("23T09:59:59") }),
    counted({ tenant: "t5", lastAt: at("23T10:00:00") }),
  ]);
  expect(await first.toolCallStats("t5", SINCE)).toMatchObject([{ calls: 1, lastAt: at("23T10:00:00") }]);
});

test("calls are read by an index of the tenant, and old hours are removed by MongoDB", async () => {
  const stats = client.db().collection("toolCallStats");
  const explained = await stats.find({ tenant: "t1", hour: { $gte: SINCE } }).explain();
  expect(JSON.stringify(explained["queryPlanner"].winningPlan)).toContain('"tenant_1_hour_1"');
  const indexes = await stats.indexes();
  expect(indexes.find(({ expireAfterSeconds }) => expireAfterSeconds)).toMatchObject({
    key: { hour: 1 },
    expireAfterSeconds: 172_800,
  });
});

test("a tool is listed with the time of its last listing, and the time since which its server is not connected", async () => {
  const publish = (server: string, names: string[]) =>
    first.publishTools(
      server,
      names.map((name) => ({ descriptor: { name, server }, digest: "d" })),
    );
  await publish("shop", ["buy"]);
  await publish("bank", ["pay"]);
  const report = { tools: 1, error: null, stderrTail: null, nextAttemptAt: null, executor: "e1" };
  const since = at("24T09:00:00");
  await first.publishServer({ ...report, server: "shop", state: "connected", since });
  await first.publishServer({ ...report, server: "bank", state: "unreachable", since });
  expect(await first.listToolListings()).toEqual([
    { server: "bank", tool: "pay", listedAt: expect.any(Date), disconnectedSince: since },
    { server: "shop", tool: "buy", listedAt: expect.any(Date), disconnectedSince: null },
  ]);
});

test("a server has been away since its first failed report, also when executors start again meanwhile", async () => {
  const server = "away";
  const report = { server, tools: 1, error: null, stderrTail: null, nextAttemptAt: null, executor: "e1" };
  const sinceAfter = async (state: "connected" | "connecting" | "unreachable", hour: string) => {
    await first.publishServer({ ...report, state, since: at(hour) });
    return (await first.toolServers()).find(({ _id }) => _id === server)?.since;
  };
  expect(await sinceAfter("connected", "24T08:00:00")).toEqual(at("24T08:00:00"));
  expect(await sinceAfter("unreachable", "24T09:00:00")).toEqual(at("24T09:00:00"));
  // Another executor starts, and knows only its own time.
  expect(await sinceAfter("connecting", "24T09:40:00")).toEqual(at("24T09:00:00"));
  expect(await sinceAfter("unreachable", "24T09:41:00")).toEqual(at("24T09:00:00"));
  expect(await sinceAfter("connected", "24T09:50:00")).toEqual(at("24T09:50:00"));
});
