/** One trace over all processes: API, planner, model, executor, and the server of a tool. */
import { type ReceivedSpan, type SpanReceiver, startSpanReceiver } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Processes, startProcesses } from "./system.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const SECRET = "Geheimnis";

let receiver: SpanReceiver;
let system: Processes;

beforeEach(async () => {
  receiver = await startSpanReceiver();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: "50" };
  system = await startProcesses({ env });
  await system.startPlanner(env);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

const traced = (): ReceivedSpan[] => receiver.spans().filter(({ traceId }) => traceId === TRACE);
const named = (name: string): ReceivedSpan[] => traced().filter((span) => span.name === name);
const outcomesOf = (name: string) => named(name).map(({ attributes }) => attributes["planwright.outcome"]);

/** Requests a plan of two steps within a trace. The second depends on the first, and its first call fails. */
async function ask(): Promise<string> {
  const steps = [
    { id: "first", tool: "plain_effect", arguments: { value: SECRET } },
    { id: "second", tool: "keyed_effect", arguments: { value: "<<first.value>>" } },
  ];
  system.model.script(() => ({
    type: "answer",
    text: JSON.stringify({ steps, missing: null, impossible: null }),
  }));
  system.tools.script({ keyed_effect: [{ type: "status", status: 503 }] });
  const { createPlan } = await system.graphql(
    "mutation Ask($query: String!) { createPlan(query: $query, execute: true) { requestId } }",
    { query: `Do one with ${SECRET}, then two` },
    { traceparent: `00-${TRACE}-${SPAN}-01` },
  );
  return createPlan.requestId;
}

test("all work for a request is one trace, from its caller to the servers of its tools", async () => {
  const requestId = await ask();
  await system.until(requestId, ({ status }) => status === "COMPLETED");
  await expect.poll(() => outcomesOf("execute plan")).toEqual(["COMPLETED"]);
  await expect.poll(() => outcomesOf("plan request")).toEqual(["planned"]);

  const [operation] = named("mutation createPlan");
  expect(operation).toMatchObject({ service: "api", parentSpanId: SPAN });
  const [planning] = named("plan request");
  expect(planning).toMatchObject({ service: "planner", parentSpanId: operation?.spanId, kind: 5 });
  const [model] = named("chat test");
  expect(model).toMatchObject({
    parentSpanId: planning?.spanId,
    kind: 3,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "test",
      "gen_ai.usage.input_tokens": expect.any(Number),
      "gen_ai.usage.output_tokens": expect.any(Number),
      "gen_ai.response.finish_reasons": ["stop"],
      "planwright.purpose": "draft",
    },
  });
  const [execution] = named("execute plan");
  expect(execution).toMatchObject({ service: "executor", parentSpanId: operation?.spanId, kind: 5 });

  const attempts = named("attempt");
  expect(attempts.map(({ attributes }) => attributes["planwright.step_id"])).toEqual([
    "first",
    "second",
    "second",
  ]);
  for (const attempt of attempts) expect(attempt.parentSpanId).toBe(execution?.spanId);
  const calls = traced().filter(({ name }) => name.startsWith("tools/call "));
  expect(calls.map(({ parentSpanId }) => parentSpanId)).toEqual(attempts.map(({ spanId }) => spanId));
  const heard = (await system.tools.ledger()).map(({ meta }) => meta["traceparent"]);
  expect(heard).toEqual([calls[0], calls[2]].map((call) => `00-${TRACE}-${call?.spanId}-01`));

  for (const span of traced()) expect(span.attributes["planwright.request_id"]).toBe(requestId);
  expect(traced()).toHaveLength(4 + 2 * 3);
  expect(receiver.text()).not.toContain(SECRET);

  // A client that reads the request has separate traces, which link to this one.
  const reads = () => receiver.spans().filter(({ name }) => name === "query request");
  await expect.poll(() => reads().length).toBeGreaterThan(0);
  for (const read of reads()) {
    expect(read.traceId).not.toBe(TRACE);
    expect(read.attributes["planwright.request_id"]).toBe(requestId);
    expect(read.links).toMatchObject([{ traceId: TRACE, spanId: operation?.spanId }]);
  }
});
