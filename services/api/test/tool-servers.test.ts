import type { Scope, ToolServerReport } from "@planwright/store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer } from "./keys.ts";
import { type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
const report: ToolServerReport = {
  server: "shop",
  state: "unreachable",
  tools: 0,
  error: "its process ended before it answered",
  stderrTail: "no licence",
  since: new Date("2026-11-26T10:00:00Z"),
  nextAttemptAt: null,
  executor: "host:1:abc",
};
beforeAll(async () => {
  running = await startTestApi({ anonymous: "refuse" });
  await running.store.publishServer(report);
});
afterAll(() => running.close());

const QUERY = "{ toolServers { name state tools error stderrTail since nextAttemptAt } }";
const seenWith = async (...scopes: Scope[]) => {
  const { body } = await running.graphql(QUERY, {}, await bearer(running.store, scopes));
  return body.data.toolServers.find(({ name }: { name: string }) => name === "shop");
};

test("a server that is not connected is shown with the reason", async () => {
  expect(await seenWith("operate", "read")).toEqual({
    name: "shop",
    state: "UNREACHABLE",
    tools: 0,
    error: "its process ended before it answered",
    stderrTail: "no licence",
    since: "2026-11-26T10:00:00.000Z",
    nextAttemptAt: null,
  });
});

test("only operators see the last output of a server", async () => {
  expect(await seenWith("admin")).toMatchObject({ stderrTail: "no licence" });
  expect(await seenWith("read")).toMatchObject({ stderrTail: null, error: report.error });
  expect(await seenWith("read", "execute")).toMatchObject({ stderrTail: null });
});

test("the newest report about a server counts, and a server that is no longer configured disappears", async () => {
  await running.store.publishServer({
    ...report,
    state: "connected",
    error: null,
    stderrTail: null,
    tools: 4,
  });
  expect(await seenWith("read")).toMatchObject({ state: "CONNECTED", tools: 4, error: null });
  await running.store.keepOnlyServers(["other"]);
  expect(await seenWith("read")).toBeUndefined();
});
