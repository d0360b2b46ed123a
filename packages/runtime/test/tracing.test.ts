import { type SpanReceiver, startSpanReceiver } from "@planwright/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { endSpan, SettingsError, SpanKind, startTracing, type Tracing } from "../src/index.ts";
import { VERSION } from "../src/version.ts";

let receiver: SpanReceiver;
let tracing: Tracing | undefined;
const warnings: unknown[] = [];
const logger = { warn: (facts: unknown) => void warnings.push(facts) };

beforeEach(async () => {
  receiver = await startSpanReceiver();
  warnings.length = 0;
});
afterEach(async () => {
  await tracing?.stop();
  tracing = undefined;
  vi.unstubAllEnvs();
  await receiver.close();
});

async function start(env: Record<string, string> = {}) {
  const given = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env };
  for (const [name, value] of Object.entries(given)) vi.stubEnv(name, value);
  tracing = await startTracing({ service: "tested", instance: "tested:1", env: process.env, logger });
  return { ...tracing, traces: tracing.traces! };
}

const ORIGIN = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "vendor=value",
};

test("spans continue a given trace, and are sent when tracing stops", async () => {
  const { traces, stop } = await start();
  const first = traces.start({ name: "first", kind: SpanKind.SERVER, parent: ORIGIN, requestId: "req_1" });
  const second = traces.start({ name: "second", parent: first, attributes: { count: 2 } });
  expect(traces.originOf(second)).toEqual({
    traceparent: `00-0af7651916cd43dd8448eb211c80319c-${second.spanContext().spanId}-01`,
    tracestate: "vendor=value",
  });
  expect(traces.logFacts(ORIGIN)).toEqual({ trace_id: "0af7651916cd43dd8448eb211c80319c" });
  endSpan(second, "TOOL_TIMEOUT");
  endSpan(first);
  await stop();
  expect(receiver.spans()).toMatchObject([
    {
      name: "second",
      parentSpanId: first.spanContext().spanId,
      service: "tested",
      instance: "tested:1",
      version: VERSION,
      attributes: { count: 2, "error.type": "TOOL_TIMEOUT" },
      status: { code: 2, message: "TOOL_TIMEOUT" },
    },
    {
      name: "first",
      kind: 2,
      traceId: "0af7651916cd43dd8448eb211c80319c",
      parentSpanId: "b7ad6b7169203331",
      attributes: { "planwright.request_id": "req_1" },
      status: { code: 0 },
    },
  ]);
});

test("a span links to another trace, but not to its own", async () => {
  const { traces, stop } = await start();
  const span = traces.start({ name: "later", requestId: "req_1" });
  traces.link(span, ORIGIN);
  traces.link(span, traces.originOf(span));
  traces.link(span, undefined);
  endSpan(span);
  await stop();
  expect(receiver.spans()).toMatchObject([
    { links: [{ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" }] },
  ]);
  expect(receiver.spans()[0]?.links).toHaveLength(1);
});

test.each([
  "",
  "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
  "00-00000000000000000000000000000000-b7ad6b7169203331-01",
  "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  "x".repeat(100_000),
])("a span begins a trace when the traceparent cannot be read: %.60s", async (traceparent) => {
  const { traces, stop } = await start();
  endSpan(traces.start({ name: "alone", parent: { traceparent } }));
  await stop();
  expect(receiver.spans()).toMatchObject([{ name: "alone", parentSpanId: "" }]);
});

test("a text that is not one of our codes is not exported", async () => {
  const { traces, stop } = await start();
  endSpan(traces.start({ name: "failed" }), "Alice said: no");
  await stop();
  expect(receiver.spans()).toMatchObject([
    { status: { message: "_OTHER" }, attributes: { "error.type": "_OTHER" } },
  ]);
  expect(receiver.text()).not.toContain("Alice");
});

test("the sampler of the environment is used, and other processes do not sample a trace that is not sampled", async () => {
  const { traces, stop } = await start({ OTEL_TRACES_SAMPLER: "parentbased_always_off" });
  const unsampled = traces.start({ name: "not wanted" });
  expect(traces.originOf(unsampled)?.traceparent).toMatch(/-00$/);
  endSpan(unsampled);
  endSpan(traces.start({ name: "wanted by the caller", parent: ORIGIN }));
  await stop();
  expect(receiver.spans().map(({ name }) => name)).toEqual(["wanted by the caller"]);
});

test("OTEL_SERVICE_NAME names the service", async () => {
  const { traces, stop } = await start({ OTEL_SERVICE_NAME: "renamed" });
  endSpan(traces.start({ name: "span" }));
  await stop();
  expect(receiver.spans()).toMatchObject([{ service: "renamed" }]);
});

test("a receiver that is away causes one warning, and the stop has a timeout", async () => {
  const { traces, stop } = await start();
  await receiver.close();
  const closed = receiver;
  receiver = await startSpanReceiver();
  for (let index = 0; index < 3_000; index += 1) endSpan(traces.start({ name: "lost" }));
  await stop(500);
  await expect.poll(() => warnings).toHaveLength(1);
  expect(closed.spans()).toEqual([]);
});

test.each([
  {},
  { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
  { OTEL_TRACES_EXPORTER: "none", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" },
  { OTEL_SDK_DISABLED: "true", OTEL_TRACES_EXPORTER: "otlp" },
])("there are no traces with %j", async (env) => {
  expect(
    (await startTracing({ service: "tested", instance: "tested:1", env, logger })).traces,
  ).toBeUndefined();
});

test.each([
  { OTEL_TRACES_EXPORTER: "jaeger" },
  { OTEL_TRACES_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
])("settings that are not supported are refused: %j", async (env) => {
  await expect(startTracing({ service: "tested", instance: "tested:1", env, logger })).rejects.toThrow(
    SettingsError,
  );
});
