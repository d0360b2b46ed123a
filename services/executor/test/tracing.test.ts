import { parsePlan } from "@planwright/plan";
import { type ReceivedSpan, type SpanReceiver, startSpanReceiver } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, SOON_DEAD, TENANT, type Workbench } from "./executor-process.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const trace = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "vendor=value" };
/** Longer than any test: earlier spans are sent because the process ends. */
const LATE = { OTEL_BSP_SCHEDULE_DELAY: "600000" };

let receiver: SpanReceiver;
let bench: Workbench;

beforeEach(async () => {
  receiver = await startSpanReceiver();
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
  await receiver.close();
});

const traced = (env: Record<string, string> = {}) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env });

/** Stores a plan to be executed at once, accepted in a trace. */
async function submit(steps: object[]) {
  const parsed = parsePlan({ steps });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const input = { tenant: TENANT, query: null, plan: parsed.plan, raw: "", diagnostics: [] };
  return (await bench.store.submitPlan({ ...input, autoExecute: true, trace })).plan;
}
const named = (name: string): ReceivedSpan[] => receiver.spans().filter((span) => span.name === name);

test("SIGTERM sends the spans of a plan: claim, attempts and calls, in the trace of its request", async () => {
  const executor = await bench.startProcess(traced(LATE));
  bench.tools.script({ keyed_effect: [{ type: "status", status: 503 }] });
  const plan = await submit([{ id: "s", tool: "keyed_effect", arguments: { value: "Geheimnis" } }]);
  await bench.end(plan._id);
  expect(await bench.stopExecutor(executor, "SIGTERM")).toEqual([0, null]);

  const [claim] = named("execute plan");
  expect(claim).toMatchObject({
    traceId: TRACE,
    parentSpanId: SPAN,
    service: "executor",
    attributes: {
      "planwright.plan_id": plan._id,
      "planwright.epoch": 1,
      "planwright.queued_ms": expect.any(Number),
      "planwright.outcome": "COMPLETED",
    },
  });
  const attempts = named("attempt");
  expect(attempts).toMatchObject([
    { attributes: { "planwright.attempt": 1, "planwright.outcome": "unknown" }, status: { code: 2 } },
    { attributes: { "planwright.attempt": 2, "planwright.outcome": "completed" }, status: { code: 0 } },
  ]);
  const calls = named("tools/call keyed_effect");
  for (const { attributes } of [...attempts, ...calls])
    expect(attributes["planwright.tool_server"]).toBe("counting");
  expect(claim?.instance).toMatch(new RegExp(`:${executor.pid}:`));
  expect(calls.map(({ parentSpanId }) => parentSpanId)).toEqual(attempts.map(({ spanId }) => spanId));
  for (const span of attempts) expect(span.parentSpanId).toBe(claim?.spanId);
  for (const span of receiver.spans()) {
    expect(span).toMatchObject({ traceId: TRACE, attributes: { "planwright.request_id": plan.requestId } });
  }
  const [effect] = await bench.tools.ledger();
  expect(effect?.meta).toMatchObject({
    traceparent: `00-${TRACE}-${calls[1]?.spanId}-01`,
    tracestate: "vendor=value",
  });
  expect(receiver.text()).not.toContain("Geheimnis");
});

test("an executor that takes over from a killed one continues with the trace", async () => {
  const first = await bench.startProcess(traced(SOON_DEAD));
  bench.tools.script({ keyed_effect: [{ type: "hang" }] });
  const plan = await submit([{ id: "s", tool: "keyed_effect", arguments: {} }]);
  await expect.poll(() => bench.tools.stats()["keyed_effect"]?.calls).toBe(1);
  await bench.stopExecutor(first, "SIGKILL");
  const second = await bench.startProcess(traced(LATE));
  expect((await bench.end(plan._id)).plan.status).toBe("COMPLETED");
  await bench.stopExecutor(second, "SIGTERM");
  expect(named("execute plan")).toMatchObject([
    { traceId: TRACE, parentSpanId: SPAN, attributes: { "planwright.epoch": 2 } },
  ]);
  expect(named("attempt")).toMatchObject([{ traceId: TRACE, attributes: { "planwright.attempt": 2 } }]);
});

test("plans are executed, and the process exits normally, while no collector accepts its spans", async () => {
  const url = receiver.url;
  await receiver.close();
  receiver = await startSpanReceiver();
  const executor = bench.spawnExecutor({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: "20" });
  await executor.said("executor ready");
  const plan = await submit([{ id: "s", tool: "keyed_effect", arguments: {} }]);
  expect((await bench.end(plan._id)).plan.status).toBe("COMPLETED");
  await bench.stopExecutor(executor.child, "SIGTERM");
  expect(executor.child.exitCode).toBe(0);
});

test("log lines about a plan have its request and its trace; without tracing, servers get no trace context", async () => {
  const executor = bench.spawnExecutor(traced());
  await executor.said("executor ready");
  const plan = await submit([{ id: "s", tool: "keyed_effect", arguments: {} }]);
  await bench.end(plan._id);
  await executor.said(
    `"requestId":"${plan.requestId}","planId":"${plan._id}","epoch":1,"trace_id":"${TRACE}"`,
  );
  await bench.stopExecutor(executor.child, "SIGTERM");

  await bench.startProcess();
  await bench.end((await submit([{ id: "s", tool: "keyed_effect", arguments: {} }]))._id);
  const [, untraced] = await bench.tools.ledger();
  expect(untraced?.meta).not.toHaveProperty("traceparent");
});
