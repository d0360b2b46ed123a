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
