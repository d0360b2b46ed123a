import { type CountedCalls, hourOf } from "@planwright/store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer } from "./keys.ts";
import { type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

const TOOLS = `{ tools: getAvailableTools {
  name listedAt disconnectedSince calls { since count failures p50Ms p99Ms lastAt errors { code count } }
} }`;

async function toolNamed(name: string, headers?: Record<string, string>) {
  const { body } = await running.graphql(TOOLS, {}, headers);
  return body.data.tools.find((tool: { name: string }) => tool.name === name);
}

const NOW = new Date();
const count = (tenant: string, more: Partial<CountedCalls>) =>
  running.store.addToolCalls([
    {
      tenant,
      server: "blog",
      tool: "createAuthor",
      hour: hourOf(NOW.getTime()),
      lastAt: NOW,
      calls: 1,
      failures: 0,
      durations: {},
      durationSums: {},
      errors: {},
      ...more,
    },
  ]);

test("a tool that was never called has no figures", async () => {
  expect((await toolNamed("createBlog")).calls).toEqual({
    since: expect.stringMatching(/:00:00\.000Z$/),
    count: 0,
    failures: 0,
    p50Ms: null,
    p99Ms: null,
    errors: [],
    lastAt: null,
  });
});

test("a tool shows the calls of the caller's tenant with the most frequent failures, and none of other tenants", async () => {
  const errors = { A: 1, B: 2, C: 3, D: 4, E: 5, F: 6 };
  await count("default", { calls: 90, durations: { 40: 90 }, durationSums: { 40: 90_000 } });
  await count("default", {
    calls: 31,
    failures: 21,
    errors,
    durations: { 60: 10 },
    durationSums: { 60: 300_000 },
  });
  await count("another", { calls: 1_000, failures: 1_000, errors: { SECRET: 1_000 } });
  expect((await toolNamed("createAuthor")).calls).toEqual({
    since: expect.any(String),
    count: 121,
    failures: 21,
    p50Ms: 1_000,
    p99Ms: 30_000,
    errors: [
      { code: "F", count: 6 },
      { code: "E", count: 5 },
      { code: "D", count: 4 },
      { code: "C", count: 3 },
      { code: "B", count: 2 },
    ],
    lastAt: NOW.toISOString(),
  });
  const other = await bearer(running.store, ["read"], { tenant: "another" });
  expect((await toolNamed("createAuthor", other)).calls).toMatchObject({ count: 1_000 });
});

test("of two tools with the same name each has the calls of its server", async () => {
  const descriptor = { name: "createAuthor", server: "press", inputSchema: { type: "object" } };
  await running.store.publishTools("press", [{ descriptor, digest: "press" }]);
  await count("t3", { server: "press", calls: 7 });
  const headers = await bearer(running.store, ["read"], { tenant: "t3" });
  expect((await toolNamed("press/createAuthor", headers)).calls).toMatchObject({ count: 7 });
  expect((await toolNamed("blog/createAuthor", headers)).calls).toMatchObject({ count: 0 });
  await running.store.publishTools("press", []);
});

test("a tool has disconnectedSince when its server is no longer connected", async () => {
  const report = {
    server: "blog",
    tools: 2,
    error: null,
    stderrTail: null,
    nextAttemptAt: null,
    executor: "e1",
  };
  const since = new Date("2026-11-24T09:00:00.000Z");
  await running.store.publishServer({ ...report, state: "connected", since });
  expect(await toolNamed("createBlog")).toMatchObject({
    listedAt: expect.any(String),
    disconnectedSince: null,
  });
  await running.store.publishServer({ ...report, state: "unreachable", since });
  expect(await toolNamed("createBlog")).toMatchObject({ disconnectedSince: since.toISOString() });
});

test("each kind of figure needs one read for all tools", async () => {
  const { store } = running;
  const document = `{ a: getAvailableTools { calls { count } listedAt } b: getAvailableTools { calls { failures } disconnectedSince } }`;
  const reads: string[] = [];
  const { toolCallStats, listToolListings } = store;
  store.toolCallStats = (...of) => (reads.push("calls"), toolCallStats(...of));
  store.listToolListings = () => (reads.push("listings"), listToolListings());
  await running.graphql(document);
  Object.assign(store, { toolCallStats, listToolListings });
  expect(reads.toSorted()).toEqual(["calls", "listings"]);
});
