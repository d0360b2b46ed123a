import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { startTracing, type Tracing } from "@planwright/runtime";
import { type ReceivedSpan, type SpanReceiver, startSpanReceiver } from "@planwright/testing";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";
import { executeAs, failAs } from "./workers.ts";

const TENANT = "default";
const CLIENT_TRACE = "0af7651916cd43dd8448eb211c80319c";
const CLIENT_SPAN = "b7ad6b7169203331";
const traceparent = `00-${CLIENT_TRACE}-${CLIENT_SPAN}-01`;
const SUBMIT = "mutation Hand_over($plan: JSON!) { submitPlan(plan: $plan, execute: true) { id } }";

let receiver: SpanReceiver;
let tracing: Tracing;
let running: RunningApi;

beforeAll(async () => {
  receiver = await startSpanReceiver();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url);
  vi.stubEnv("OTEL_BSP_SCHEDULE_DELAY", "20");
  tracing = await startTracing({
    service: "api",
    instance: "api:1",
    env: process.env,
    logger: { warn: () => undefined },
  });
  running = await startTestApi({
    traces: tracing.traces,
    traceUrlTemplate: "https://traces.test/find?id={traceId}",
    mcp: { hosts: [] },
  });
});
afterAll(async () => {
  await running.close();
  await tracing.stop();
  await receiver.close();
  vi.unstubAllEnvs();
});

/** Waits for matching spans, and returns the last one. */
async function spanOf(fits: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
  await expect.poll(() => receiver.spans().filter(fits).length).toBeGreaterThan(0);
  return receiver.spans().findLast(fits)!;
}
const about = (requestId: string, name: string) => (span: ReceivedSpan) =>
  span.name === name && span.attributes["planwright.request_id"] === requestId;

async function submit(headers: Record<string, string> = {}): Promise<string> {
  const { body } = await running.graphql(SUBMIT, { plan: BLOG_PLAN }, headers);
  return body.data.submitPlan.id;
}
const stored = async (requestId: string) =>
  (await running.store.getRequest(TENANT, requestId as Parameters<typeof running.store.getRequest>[1]))!;

test("an operation continues the trace of its caller, and its request and plan are recorded in it", async () => {
  const requestId = await submit({ traceparent, tracestate: "vendor=value" });
  const span = await spanOf(about(requestId, "mutation submitPlan"));
  expect(span).toMatchObject({
    traceId: CLIENT_TRACE,
    parentSpanId: CLIENT_SPAN,
    kind: 2,
    attributes: { "graphql.operation.type": "mutation", "graphql.operation.name": "Hand_over" },
    status: { code: 0 },
  });
  const origin = { traceparent: `00-${CLIENT_TRACE}-${span.spanId}-01`, tracestate: "vendor=value" };
  const request = await stored(requestId);
  expect(request.trace).toEqual(origin);
  expect((await running.store.getPlan(TENANT, request.planId))?.trace).toEqual(origin);
});

test("a request has its trace id and a link, or null without a trace", async () => {
  const document = "query ($id: ID!) { request(requestId: $id) { traceId traceUrl } }";
  const traceOf = async (id: string) => (await running.graphql(document, { id })).body.data.request;
  expect(await traceOf(await submit({ traceparent }))).toEqual({
    traceId: CLIENT_TRACE,
    traceUrl: `https://traces.test/find?id=${CLIENT_TRACE}`,
  });
  const unsampled = `00-${CLIENT_TRACE}-${CLIENT_SPAN}-00`;
  expect(await traceOf(await submit({ traceparent: unsampled }))).toEqual({
    traceId: CLIENT_TRACE,
    traceUrl: null,
  });
  const input = { tenant: TENANT, query: "Create author Alice", autoExecute: false };
  const untraced = await running.store.createRequest(input);
  expect(await traceOf(untraced._id)).toEqual({ traceId: null, traceUrl: null });
});

test("without a valid trace of the caller, an operation begins a new trace", async () => {
  const ids = [await submit(), await submit({ traceparent: "Alice" })];
  const spans = await Promise.all(ids.map((id) => spanOf(about(id, "mutation submitPlan"))));
  expect(spans.map(({ parentSpanId }) => parentSpanId)).toEqual(["", ""]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2);
});

test("a later operation links to the trace of the request, and its new version stays in that trace", async () => {
  const requestId = await submit();
  const request = await stored(requestId);
  await failAs(running.store, request.planId);
  await running.graphql("mutation ($id: ID!) { rerun(requestId: $id) { id } }", { id: requestId });
  await running.graphql("query ($id: ID!) { request(requestId: $id) { status } }", { id: requestId });
  const [, traceId, spanId] = request.trace!.traceparent.split("-");
  for (const name of ["mutation rerun", "query request"]) {
    const span = await spanOf(about(requestId, name));
    expect(span.traceId).not.toBe(traceId);
    expect(span.links).toMatchObject([{ traceId, spanId }]);
  }
  const again = await stored(requestId);
  expect(again.version).toBe(2);
  expect((await running.store.getPlan(TENANT, again.planId))?.trace).toEqual(request.trace);
});

test("a span has only the code of an error, and nothing that a client sent", async () => {
  const secret = "Geheimnis";
  const unknown = { steps: [{ id: "a", tool: "noSuchTool", arguments: { name: secret } }] };
  const { body } = await running.graphql(SUBMIT.replace("Hand_over", "Refused"), { plan: unknown });
  const [{ extensions }] = body.errors;
  const span = await spanOf(({ attributes }) => attributes["graphql.operation.name"] === "Refused");
  expect(span).toMatchObject({
    attributes: { "error.type": extensions.code, "planwright.request_id": extensions.requestId },
    status: { code: 2, message: extensions.code },
  });
  await running.graphql(`mutation Literal { createPlan(query: "${secret}", tags: ["${secret}"]) { id } }`);
  await spanOf(({ attributes }) => attributes["graphql.operation.name"] === "Literal");
  expect(receiver.text()).not.toContain(secret);
});

test("an agent's call over MCP continues the trace in its _meta", async () => {
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", running.api.url)));
  onTestFinished(() => client.close());
  const result = await client.callTool({
    name: "execute_tool_plan",
    arguments: { plan: BLOG_PLAN, wait: false },
    _meta: { traceparent },
  });
  const { requestId } = result.structuredContent as { requestId: string };
  const span = await spanOf(about(requestId, "tools/call execute_tool_plan"));
  expect(span).toMatchObject({ traceId: CLIENT_TRACE, parentSpanId: CLIENT_SPAN, kind: 2 });
  const request = await stored(requestId);
  expect(request.trace).toEqual({ traceparent: `00-${CLIENT_TRACE}-${span.spanId}-01` });
  await executeAs(running.store, request.planId);
});

test("the log line of an unexpected error names the request and the trace", async () => {
  const broken = vi.spyOn(running.store, "getRequest").mockRejectedValueOnce(new TypeError("broken"));
  onTestFinished(() => broken.mockRestore());
  const requestId = "req_1700000000_abcdefghijklmnop";
  await running.graphql(
    "query ($id: ID!) { request(requestId: $id) { status } }",
    { id: requestId },
    { traceparent },
  );
  expect(running.logged.map(({ facts }) => facts)).toContainEqual(
    expect.objectContaining({ requestId, trace_id: CLIENT_TRACE, correlationId: expect.any(String) }),
  );
  expect(await spanOf(about(requestId, "query request"))).toMatchObject({
    status: { code: 2, message: "INTERNAL" },
  });
});

const FOLLOW =
  "subscription Follow($id: ID!) { requestUpdated(requestId: $id) { status modelCalls { model } } }";

/** Follows a request over server-sent events, to its end. */
async function follow(requestId: string): Promise<string> {
  const { text } = await running.send("/graphql/stream", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream", traceparent },
    body: JSON.stringify({ query: FOLLOW, variables: { id: requestId } }),
  });
  return text;
}

test("a subscription continues the trace of its caller to its end", async () => {
  const requestId = await submit();
  const end = follow(requestId);
  await executeAs(running.store, (await stored(requestId)).planId);
  await end;
  expect(await spanOf(about(requestId, "subscription requestUpdated"))).toMatchObject({
    traceId: CLIENT_TRACE,
    parentSpanId: CLIENT_SPAN,
    kind: 2,
    attributes: { "graphql.operation.type": "subscription", "graphql.operation.name": "Follow" },
    status: { code: 0 },
  });
});

test("a subscription over WebSocket ends when its client disconnects", async () => {
  const requestId = await submit();
  const client = webSocketClient(running.api.url, { headers: { traceparent } });
  const events = client.iterate({ query: FOLLOW, variables: { id: requestId } });
  await events.next();
  expect(receiver.spans().some(about(requestId, "subscription requestUpdated"))).toBe(false);
  await events.return?.();
  expect(await spanOf(about(requestId, "subscription requestUpdated"))).toMatchObject({
    traceId: CLIENT_TRACE,
    status: { code: 0 },
  });
});

test("the span of a refused subscription has the code", async () => {
  const requestId = "req_1700000002_abcdefghijklmnop";
  expect(await follow(requestId)).toContain("NOT_FOUND");
  expect(await spanOf(about(requestId, "subscription requestUpdated"))).toMatchObject({
    status: { code: 2, message: "NOT_FOUND" },
  });
});

test("the log line of an error in a subscription's answer names the request and the trace", async () => {
  const broken = vi
    .spyOn(running.store, "listModelCallHeadsOf")
    .mockRejectedValueOnce(new TypeError("broken"));
  onTestFinished(() => broken.mockRestore());
  const requestId = await submit();
  await executeAs(running.store, (await stored(requestId)).planId);
  expect(await follow(requestId)).toContain("INTERNAL");
  expect(running.logged.map(({ facts }) => facts)).toContainEqual(
    expect.objectContaining({ requestId, trace_id: CLIENT_TRACE, correlationId: expect.any(String) }),
  );
});

test("the log line of a subscription that cannot begin names the request", async () => {
  const broken = vi.spyOn(running.store, "getRequest").mockRejectedValueOnce(new TypeError("broken"));
  onTestFinished(() => broken.mockRestore());
  const requestId = "req_1700000001_abcdefghijklmnop";
  await running.send("/graphql/stream", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({
      query: "subscription ($id: ID!) { requestUpdated(requestId: $id) { status } }",
      variables: { id: requestId },
    }),
  });
  expect(running.logged.map(({ facts }) => facts)).toContainEqual(
    expect.objectContaining({ requestId, correlationId: expect.any(String) }),
  );
});
