import type { Scope, ToolServerReport } from "@planwright/store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
const report: ToolServerReport = {
  server: "shop",
  state: "unreachable",
  tools: 0,
  leftOut: [
    { server: "shop", tool: "none", reason: "it has no inputSchema" },
    { server: "shop", tool: null, reason: "its entry in the list is not an object" },
  ],
  leftOutCount: 2,
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

const QUERY = `{ toolServers {
  name state tools leftOut { tool reason } leftOutCount error stderrTail since nextAttemptAt
} }`;
const seenWith = async (...scopes: Scope[]) => {
  const { body } = await running.graphql(QUERY, {}, await bearer(running.store, scopes));
  return body.data.toolServers.find(({ name }: { name: string }) => name === "shop");
};

test("a server that is not connected is shown with the reason", async () => {
  expect(await seenWith("operate", "read")).toEqual({
    name: "shop",
    state: "UNREACHABLE",
    tools: 0,
    leftOut: [
      { tool: "none", reason: "it has no inputSchema" },
      { tool: null, reason: "its entry in the list is not an object" },
    ],
    leftOutCount: 2,
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

test("a plan that calls a tool that is left out is refused with the reason: checked, submitted and amended", async () => {
  const key = await bearer(running.store, ["admin"]);
  const refused = {
    code: "TOOL_UNKNOWN",
    message:
      "step a calls none, which no plan can use: server shop lists it, but it was left out because it has no inputSchema",
  };
  const plan = { steps: [{ id: "a", tool: "none", arguments: {} }] };
  const ask = async (document: string, variables: object) =>
    (await running.graphql(document, variables, key)).body;
  const submit = "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId } }";
  const amend =
    "mutation ($id: ID!, $plan: JSON!) { amendPlan(requestId: $id, plan: $plan) { request { requestId } } }";
  const check = "query ($plan: JSON!) { validatePlan(plan: $plan) { diagnostics { code message } } }";
  const checked = await ask(check, { plan });
  expect(checked.data.validatePlan.diagnostics).toEqual([refused]);
  const submitted = await ask(submit, { plan });
  expect(submitted.errors[0].extensions).toMatchObject({ code: "PLAN_INVALID", diagnostics: [refused] });
  const stored = await ask(submit, { plan: BLOG_PLAN });
  const id = stored.data.submitPlan.requestId;
  const amended = await ask(amend, { plan, id });
  expect(amended.errors[0].extensions).toMatchObject({ code: "PLAN_INVALID", diagnostics: [refused] });
});

test("a report that does not know which tools are left out keeps what is known", async () => {
  const { leftOut, leftOutCount, ...unknowing } = report;
  await running.store.publishServer(unknowing);
  expect(await seenWith("read")).toMatchObject({ leftOutCount: leftOutCount ?? 0 });
  expect(await running.store.leftOutTools()).toEqual(leftOut);
});

const RELOAD =
  "mutation ($name: String!, $waitMs: Int) { reloadToolServer(name: $name, waitMs: $waitMs) { name executors { executor outcome reason stderrTail } } }";
const reload = async (variables: object, scope: Scope = "admin") =>
  (await running.graphql(RELOAD, variables, await bearer(running.store, [scope]))).body;

test("only administrators may reload a server, an unknown one is named, and without an executor nothing changes", async () => {
  const codeOf = ({ errors }: Awaited<ReturnType<typeof reload>>) => errors[0].extensions.code;
  expect(codeOf(await reload({ name: "shop" }, "operate"))).toBe("FORBIDDEN");
  expect(codeOf(await reload({ name: "toString" }))).toBe("NOT_FOUND");
  expect(codeOf(await reload({ name: "shop", waitMs: 30_001 }))).toBe("BAD_USER_INPUT");
  const refused = await reload({ name: "shop" });
  expect(refused.errors[0]).toMatchObject({
    message: "No executor lives that could reload shop; nothing was changed",
    extensions: { code: "STATE_CONFLICT" },
  });
  expect(await running.store.readAskedReloads()).toEqual([]);
});

test("a reload waits for every live executor and says what each of them did", async () => {
  const { store } = running;
  for (const id of ["e1", "e2", "e3"])
    await store.addWorker({ _id: id, kind: "executor", deadAfterMs: 600_000 });
  await store.addWorker({ _id: "p1", kind: "planner" });
  const pending = { outcome: "PENDING", ...NO_REASON };
  // The workers are read once a second.
  await expect
    .poll(async () => (await reload({ name: "shop", waitMs: 0 })).data?.reloadToolServer, { timeout: 10_000 })
    .toEqual({
      name: "shop",
      executors: ["e1", "e2", "e3"].map((executor) => ({ executor, ...pending })),
    });
  const [earlier] = await store.readAskedReloads();
  await store.reportReload("shop", {
    executor: "e1",
    askedAt: earlier!.askedAt,
    outcome: "reloaded",
    ...NO_REASON,
  });
  // The state of the connection does not replace what came of reloads.
  await store.publishServer(report);
  const second = reload({ name: "shop" });
  await expect.poll(async () => (await store.readAskedReloads())[0]?.askedAt).not.toEqual(earlier?.askedAt);
  const asked = (await store.readAskedReloads())[0]!;
  const said = { reason: "its process ended before it answered", stderrTail: "SyntaxError" };
  await store.reportReload("shop", {
    executor: "e1",
    askedAt: asked.askedAt,
    outcome: "reloaded",
    ...NO_REASON,
  });
  await store.reportReload("shop", { executor: "e2", askedAt: asked.askedAt, outcome: "kept", ...said });
  await store.reportReload("shop", {
    executor: "e3",
    askedAt: asked.askedAt,
    outcome: "unknown",
    ...NO_REASON,
  });
  expect((await second).data.reloadToolServer.executors).toEqual([
    { executor: "e1", outcome: "RELOADED", ...NO_REASON },
    { executor: "e2", outcome: "KEPT", ...said },
    { executor: "e3", outcome: "UNKNOWN", ...NO_REASON },
  ]);
});
const NO_REASON = { reason: null, stderrTail: null };

test("the newest report about a server counts, and a server that is no longer configured disappears", async () => {
  await running.store.publishServer({
    ...report,
    state: "connected",
    error: null,
    stderrTail: null,
    leftOut: [],
    leftOutCount: 0,
    tools: 4,
  });
  expect(await seenWith("read")).toMatchObject({ state: "CONNECTED", tools: 4, leftOut: [], error: null });
  await running.store.keepOnlyServers(["other"]);
  expect(await seenWith("read")).toBeUndefined();
});
