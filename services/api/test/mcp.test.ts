import { EventEmitter, once } from "node:events";
import { Client, type Progress, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { PlanId } from "@planwright/plan";
import { StoreUnavailableError } from "@planwright/store";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { AUTHOR, cancelInDoubtAs, executeAs, failAs, planAs, playStep, playWorkers } from "./workers.ts";

let running: RunningApi;
let workers: ReturnType<typeof playWorkers>;
/** How offered plans end; the test sets it. */
let end: (planId: string) => Promise<void>;

beforeAll(async () => {
  running = await startTestApi({ mcp: { hosts: [] } });
  workers = playWorkers(running, (planId) => end(planId));
});
afterAll(async () => {
  await workers.stop();
  await running.close();
});

async function connect({ api } = running): Promise<Client> {
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", api.url)));
  onTestFinished(() => client.close());
  return client;
}

test("an agent submits a complete plan, sees its progress, and gets only the outputs", async () => {
  end = (planId) => executeAs(running.store, planId);
  const client = await connect();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "create_plan",
    "execute_tool_plan",
    "get_request",
    "cancel_request",
  ]);
  const progress: unknown[] = [];
  const result = await client.callTool(
    { name: "execute_tool_plan", arguments: { plan: { ...BLOG_PLAN, outputs: ["createBlog"] } } },
    { onprogress: (word) => progress.push(word) },
  );
  expect(result.isError ?? false).toBe(false);
  const report = result.structuredContent as { requestId: string; outputs: object };
  expect(report).toMatchObject({ status: "COMPLETED", requestId: expect.stringMatching(/^req_/) });
  expect(Object.keys(report.outputs)).toEqual(["createBlog"]);
  expect(progress.length).toBeGreaterThan(0);
  const again = await client.callTool({ name: "get_request", arguments: { requestId: report.requestId } });
  expect(again.structuredContent).toEqual(report);
});

test("a sentence is planned; sent twice with one key it creates one request", async () => {
  const client = await connect();
  const send = () =>
    client.callTool({
      name: "create_plan",
      arguments: { query: "Create author Alice", execute: false, idempotencyKey: "k1" },
    });
  const [first, second] = [await send(), await send()];
  expect(first.structuredContent).toMatchObject({ status: "READY", outputs: {} });
  expect(second.structuredContent).toEqual(first.structuredContent);
});

test("an agent gives context, profile and policy as other clients do", async () => {
  const client = await connect();
  const context = { now: "2026-11-25T09:00:00+01:00", timezone: "Europe/Berlin", facts: { userId: "u_17" } };
  const input = {
    query: "Create author Alice",
    context,
    profile: "orchestrator",
    policy: { maxParallel: 2 },
  };
  const result = await client.callTool({ name: "create_plan", arguments: { ...input, execute: false } });
  const { requestId } = result.structuredContent as { requestId: string };
  const read =
    "query ($id: ID!) { request(requestId: $id) { context { now timezone locale facts } policy } }";
  const { body } = await running.graphql(read, { id: requestId });
  expect(body.data.request).toEqual({
    context: { ...context, now: "2026-11-25T08:00:00.000Z", locale: null },
    policy: { profile: "orchestrator", maxParallel: 2 },
  });
});

test("progress arrives while the plan runs, and increases with every notification", async () => {
  const { store } = running;
  const client = await connect();
  const notified: Progress[] = [];
  const arrivals = new EventEmitter();
  end = async (planId) => {
    const claim = (await store.claimPlan(planId as PlanId, "test executor"))!;
    // Each step runs only after the client has received the earlier progress.
    while (notified.length === 0) await once(arrivals, "progress");
    await playStep(store, claim, "createAuthor", { arguments: { name: "Alice" }, output: AUTHOR });
    while (!notified.some(({ progress }) => progress >= 1)) await once(arrivals, "progress");
    await playStep(store, claim, "createBlog", { arguments: { authorId: "a1" }, output: { _id: "b1" } });
    await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
  };
  const result = await client.callTool(
    { name: "execute_tool_plan", arguments: { plan: BLOG_PLAN } },
    {
      onprogress(progress) {
        notified.push(progress);
        arrivals.emit("progress");
      },
    },
  );
  expect(result.structuredContent).toMatchObject({ status: "COMPLETED" });
  const amounts = notified.map(({ progress }) => progress);
  expect(amounts.length).toBeGreaterThan(1);
  expect(amounts).toEqual([...new Set(amounts)].toSorted((a, b) => a - b));
  expect(notified.every(({ total }) => total === 2)).toBe(true);
});

test("execute_tool_plan accepts steps and output_steps directly, and reports skipped steps", async () => {
  const client = await connect();
  const given = { steps: BLOG_PLAN.steps, output_steps: ["createBlog"] };
  const done = await client.callTool({ name: "execute_tool_plan", arguments: given });
  expect(done).toMatchObject({ structuredContent: { status: "COMPLETED" } });
  const { outputs } = done.structuredContent as { outputs: object };
  expect(Object.keys(outputs)).toEqual(["createBlog"]);

  for (const wrong of [{}, { plan: BLOG_PLAN, ...given }, { output_steps: ["createBlog"] }]) {
    const refused = await client.callTool({ name: "execute_tool_plan", arguments: wrong });
    expect(refused.isError).toBe(true);
  }

  end = (planId) => failAs(running.store, planId as PlanId);
  const failed = await client.callTool({ name: "execute_tool_plan", arguments: given });
  expect(failed).toMatchObject({ isError: true, structuredContent: { status: "FAILED" } });
  expect(failed.structuredContent).toMatchObject({
    skippedSteps: [{ key: "createBlog", message: "Skipped because dependency 'createAuthor' failed" }],
  });
});

test.each<[string, object, object]>([
  ["its profile is tool-planning", {}, { onMissingField: "null", onStepFailure: "fail-forward" }],
  ["policy overrides it", { policy: { onMissingField: "error" } }, { onMissingField: "error" }],
  [
    "policy overrides that of the plan",
    {
      plan: { ...BLOG_PLAN, policy: { maxParallel: 2, onMissingField: "keep" } },
      policy: { maxParallel: 3 },
    },
    { onMissingField: "keep", maxParallel: 3 },
  ],
])("execute_tool_plan runs as the older tool does: %s", async (_, given, expected) => {
  end = (planId) => executeAs(running.store, planId);
  const client = await connect();
  const input = { ...("plan" in given ? {} : { steps: BLOG_PLAN.steps }), ...given };
  const { structuredContent } = await client.callTool({ name: "execute_tool_plan", arguments: input });
  const { requestId: id } = structuredContent as { requestId: string };
  const { body } = await running.graphql(
    "query ($id: ID!) { request(requestId: $id) { plan { document } } }",
    {
      id,
    },
  );
  expect(body.data.request.plan.document.policy).toMatchObject({ profile: "tool-planning", ...expected });
});

test("a report and the steps of a plan tell which reference stayed text", async () => {
  const { store } = running;
  const warning = "<<createAuthor.gone>>: there is no gone; its text is kept";
  end = async (planId) => {
    const claim = (await store.claimPlan(planId as PlanId, "test executor"))!;
    await playStep(store, claim, "createAuthor", { arguments: {}, output: AUTHOR });
    await playStep(store, claim, "createBlog", { arguments: {}, output: {}, warnings: [warning] });
    await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
  };
  const client = await connect();
  const result = await client.callTool({ name: "execute_tool_plan", arguments: { plan: BLOG_PLAN } });
  const { requestId: id, warnings } = result.structuredContent as { requestId: string; warnings: object[] };
  expect(warnings).toEqual([{ key: "createBlog", message: warning }]);
  const read = "query ($id: ID!) { request(requestId: $id) { plan { steps { warnings } } } }";
  const { body } = await running.graphql(read, { id });
  expect(body.data.request.plan.steps).toEqual([{ warnings: [] }, { warnings: [warning] }]);
});

test("execute_tool_plan refuses an unknown option of a policy by its name", async () => {
  const client = await connect();
  const input = { steps: BLOG_PLAN.steps, policy: { onMissing: "null" } };
  const refused = await client.callTool({ name: "execute_tool_plan", arguments: input });
  expect(refused.isError).toBe(true);
  expect(JSON.stringify(refused.content)).toContain("policy.onMissing");
});

test("failures name the step; refusals name code and remedy", async () => {
  end = (planId) => failAs(running.store, planId as PlanId);
  const client = await connect();
  const failed = await client.callTool({ name: "execute_tool_plan", arguments: { plan: BLOG_PLAN } });
  expect(failed).toMatchObject({ isError: true, structuredContent: { status: "FAILED" } });
  expect(failed.structuredContent).toHaveProperty("failedSteps.0.message");
  const { requestId } = failed.structuredContent as { requestId: string };
  // A read reports the state of the request.
  const notified = await client.callTool({ name: "get_request", arguments: { requestId } });
  expect(notified.structuredContent).toEqual(failed.structuredContent);
  expect(notified.isError ?? false).toBe(false);
  const textOf = async (name: string, args: object): Promise<unknown> => {
    const result = await client.callTool({ name, arguments: { ...args } });
    expect(result.isError).toBe(true);
    const [part] = result.content;
    return part?.type === "text" ? JSON.parse(part.text) : null;
  };
  expect(await textOf("get_request", { requestId: "req_1700000000_aaaaaaaaaaaaaaaaaaaa" })).toMatchObject({
    code: "NOT_FOUND",
    remedy: expect.any(String),
  });
  expect(
    await textOf("execute_tool_plan", { plan: { steps: [{ id: "a", tool: "nothing" }] } }),
  ).toMatchObject({
    code: "PLAN_INVALID",
    diagnostics: expect.any(Array),
  });
});

/** Sends a message as it is, and returns the answer. */
async function rpc(method: string, params: unknown): Promise<ReturnType<typeof JSON.parse>> {
  const response = await fetch(new URL("/mcp", running.api.url), {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const text = await response.text();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}
const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };

test.each<[string, string, unknown]>([
  ["params", "tools/list", null],
  ["a cursor", "tools/list", { cursor: null }],
  ["_meta", "tools/list", { _meta: null }],
  ["a progress token", "tools/list", { _meta: { progressToken: null } }],
  ["a title", "initialize", { ...hello, clientInfo: { ...hello.clientInfo, title: null } }],
  ["a capability", "initialize", { ...hello, capabilities: { sampling: null } }],
])("null for %s means that it is absent", async (_, method, params) => {
  expect(await rpc(method, params)).toMatchObject({ id: 1, result: expect.any(Object) });
});

test("null for an optional argument means that it is absent, and facts keep their null values", async () => {
  const context = { now: null, timezone: null, facts: { team: null } };
  const given = { query: "Create author Alice", execute: false, context, profile: null, policy: null };
  const nulls = { wait: null, tags: null, idempotencyKey: null };
  const call = { name: "create_plan", arguments: { ...given, ...nulls }, _meta: null };
  const { result } = await rpc("tools/call", call);
  expect(result.structuredContent).toMatchObject({ status: "READY" });
  const { requestId } = result.structuredContent;
  const read = "query ($id: ID!) { request(requestId: $id) { context { facts } } }";
  const { body } = await running.graphql(read, { id: requestId });
  expect(body.data.request.context).toEqual({ facts: { team: null } });
});

const WRONG_PARAMS = { code: -32_602, data: { code: "BAD_USER_INPUT", remedy: expect.any(String) } };
test.each<[string, string, unknown]>([
  ["params.cursor: expected string, received number", "tools/list", { cursor: 5 }],
  ["params.name: expected string, received number", "tools/call", { name: 5 }],
  ["params.name: is missing", "tools/call", { name: null }],
  ["params: is missing", "tools/call", null],
  [
    "params.arguments: expected record, received string",
    "tools/call",
    { name: "get_request", arguments: "x" },
  ],
  ["params.clientInfo: is missing", "initialize", { ...hello, clientInfo: null }],
])("wrong params are answered with the field: %s", async (message, method, params) => {
  expect((await rpc(method, params)).error).toMatchObject({ ...WRONG_PARAMS, message });
});

test.each([
  ["requestId: is missing", "get_request", null],
  ["requestId: is missing", "get_request", { requestId: null }],
  [
    "context.timezone: Invalid input: expected string, received number",
    "create_plan",
    { query: "x", context: { timezone: 5 } },
  ],
])("wrong arguments are answered with the field: %s", async (message, name, given) => {
  const { result } = await rpc("tools/call", { name, arguments: given });
  expect(result).toMatchObject({ isError: true });
  expect(JSON.parse(result.content[0].text)).toMatchObject({ code: "BAD_USER_INPUT", message });
});

test("a cancelled request is no error of the tool that cancelled it, but an error of the tool that executes it", async () => {
  const begun = new EventEmitter();
  let offers = 0;
  end = async (planId) => {
    offers += 1;
    if (offers === 1) begun.emit("begun");
    // The second offer has the cancel request.
    else if (offers === 2) await cancelInDoubtAs(running.store, planId as PlanId);
  };
  const client = await connect();
  const isBegun = once(begun, "begun");
  const carriedOut = client.callTool({
    name: "execute_tool_plan",
    arguments: { plan: BLOG_PLAN, tags: ["team:mcp"] },
  });
  await isBegun;
  const { body } = await running.graphql(
    '{ requests(first: 1, filter: { tag: "team:mcp" }) { nodes { requestId } } }',
  );
  const [{ requestId }] = body.data.requests.nodes;
  const input = await client.callTool({ name: "cancel_request", arguments: { requestId } });
  expect(await carriedOut).toMatchObject({ isError: true, structuredContent: { status: "CANCELLED" } });
  const again = await client.callTool({ name: "cancel_request", arguments: { requestId } });
  expect(again).toMatchObject({ structuredContent: { requestId, status: "CANCELLED" } });
  expect([input.isError ?? false, again.isError ?? false]).toEqual([false, false]);
});

test("a call that returns at once can be cancelled", async () => {
  end = async () => undefined;
  const client = await connect();
  const started = await client.callTool({
    name: "execute_tool_plan",
    arguments: { plan: BLOG_PLAN, wait: false },
  });
  const { requestId } = started.structuredContent as { requestId: string };
  expect(started.structuredContent).toMatchObject({ status: "EXECUTING" });
  const cancelled = await client.callTool({ name: "cancel_request", arguments: { requestId } });
  expect(cancelled.structuredContent).toMatchObject({ requestId });
  const { body } = await running.graphql(
    "query($id: ID!) { request(requestId: $id) { plan { cancelRequestedAt } } }",
    { id: requestId },
  );
  expect(body.data.request.plan.cancelRequestedAt).not.toBeNull();
});

test("cancel_request of an ended request is an error", async () => {
  end = (planId) => executeAs(running.store, planId);
  const client = await connect();
  const done = await client.callTool({ name: "execute_tool_plan", arguments: { plan: BLOG_PLAN } });
  const { requestId } = done.structuredContent as { requestId: string };
  const refused = await client.callTool({ name: "cancel_request", arguments: { requestId } });
  expect(refused.isError).toBe(true);
  expect(JSON.stringify(refused.content)).toContain("STATE_CONFLICT");
  expect(JSON.stringify(refused.content)).toContain("nothing was cancelled");
});

test("at the limit of waiting calls accepted work is answered at once, as no error that asks to send it again", async () => {
  const full = await startTestApi({ mcp: { hosts: [] }, maxSubscriptions: 1 });
  onTestFinished(() => full.close());
  const client = await connect(full);
  const call = async (name: string, given: object) =>
    (await client.callTool({ name, arguments: { ...given } })) as {
      isError?: boolean;
      structuredContent: object;
    };
  const waiting = call("execute_tool_plan", { plan: BLOG_PLAN });
  await expect.poll(() => full.offered.length, { interval: 5 }).toBe(1);
  const executed = await call("execute_tool_plan", { plan: BLOG_PLAN });
  expect(executed).toMatchObject({ structuredContent: { status: "EXECUTING" } });
  const { requestId } = executed.structuredContent as { requestId: string };
  const planned = await call("create_plan", { query: "Create author Alice", wait: false });
  expect(planned).toMatchObject({ structuredContent: { status: "PLANNING" } });
  const cancelled = await call("cancel_request", { requestId });
  expect(cancelled).toMatchObject({ structuredContent: { requestId } });
  expect([executed, planned, cancelled].map(({ isError = false }) => isError)).toEqual([false, false, false]);
  expect(await call("get_request", { requestId })).toMatchObject({ isError: true });
  const [, planId] = full.offered[0]!.split(" ");
  const claim = (await full.store.claimPlan(planId as PlanId, "test executor"))!;
  await full.store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
  expect(await waiting).toMatchObject({ structuredContent: { status: "COMPLETED" } });
});

test("an agent is not told to send again what was executed in part, after its replan has failed", async () => {
  end = (planId) => failAs(running.store, planId as PlanId);
  const client = await connect();
  const { body } = await running.graphql(
    `mutation { createPlan(query: "in part", execute: false, maxReplans: 1, waitMs: 30000) { requestId } }`,
  );
  const { requestId } = body.data.createPlan;
  await running.graphql("mutation ($id: ID!) { executePlan(requestId: $id) { id } }", { id: requestId });
  const statusOf = async () => (await running.store.getRequest("default", requestId))?.status;
  await expect.poll(statusOf).toBe("PLANNING");
  await planAs(running.store, requestId);
  const report = await client.callTool({ name: "get_request", arguments: { requestId } });
  expect(report.structuredContent).toMatchObject({
    status: "FAILED",
    error: {
      code: "REPLAN_UNCHANGED",
      remedy: expect.stringContaining("do not send the request again"),
    },
  });
});

test("a plan that was accepted is reported also when the database fails while it is followed", async () => {
  end = async () => undefined;
  const spy = vi
    .spyOn(running.store, "listStepHeads")
    .mockRejectedValue(new StoreUnavailableError({ operation: "planned" }));
  onTestFinished(() => spy.mockRestore());
  const client = await connect();
  const result = await client.callTool({ name: "execute_tool_plan", arguments: { plan: BLOG_PLAN } });
  expect(result).toMatchObject({
    structuredContent: { requestId: expect.stringMatching(/^req_/), status: "EXECUTING" },
  });
  expect(result.isError ?? false).toBe(false);
  expect(spy).toHaveBeenCalled();
});

test("pages of other origins are refused, and without the setting the endpoint does not exist", async () => {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const foreign = { ...init.headers, origin: "https://evil.example" };
  expect((await running.send("/mcp", { ...init, headers: foreign })).status).toBe(403);
  const plain = await startTestApi();
  onTestFinished(() => plain.close());
  expect((await plain.send("/mcp", init)).status).toBe(404);
});
