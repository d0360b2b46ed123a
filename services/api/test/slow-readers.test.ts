/**
 * Readers that stop reading their socket: sent data waits in the kernel, and after it waits only one state.
 */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { PlanId } from "@planwright/plan";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";
import { writeCalled } from "./workers.ts";

/** The number and size of states that exceed the buffers of both ends of a connection. */
const STEPS = 30;
const STEP_BYTES = 32_000;
const QUERY =
  "subscription ($id: ID!) { requestUpdated(requestId: $id) { status plan { steps { key status arguments } } } }";
const PLAN = {
  steps: Array.from({ length: STEPS }, (_, index) => ({
    id: `s${index}`,
    tool: "createAuthor",
    arguments: { name: "x".repeat(STEP_BYTES), email: "alice@test.com" },
  })),
};

let running: RunningApi;
beforeAll(async () => {
  // On a busy machine a slow reader waits for longer than the limit.
  running = await startTestApi({ sendTimeoutMs: 600_000 });
});
afterAll(() => running.close());

/**
 * Follows without reading until it is called; then it returns the number of states, and whether the last one
 * was the
 * end.
 */
type SlowReader = () => Promise<{ states: number; isAtEnd: boolean }>;

async function overWebSocket(id: string): Promise<SlowReader> {
  const socket = new WebSocket(running.api.url.replace("http:", "ws:"), "graphql-transport-ws");
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "connection_init" }));
  await once(socket, "message");
  const messages: string[] = [];
  socket.on("message", (data) => messages.push(String(data)));
  socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query: QUERY, variables: { id } } }));
  await once(socket, "message");
  socket.pause();
  return async () => {
    socket.resume();
    await expect.poll(() => messages.at(-1)).toContain('"complete"');
    const isAtEnd = messages.at(-2)?.includes('"requestUpdated":{"status":"COMPLETED"') ?? false;
    return { states: messages.length - 1, isAtEnd };
  };
}

async function overEvents(id: string): Promise<SlowReader> {
  const request = httpRequest(`${running.api.url}/stream`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
  });
  onTestFinished(() => void request.destroy());
  request.end(JSON.stringify({ query: QUERY, variables: { id } }));
  const [response]: IncomingMessage[] = await once(request, "response");
  return async () => {
    let text = "";
    for await (const chunk of response ?? []) text += String(chunk);
    const states = text.match(/^event: next$/gm)?.length ?? 0;
    const end = text.slice(text.lastIndexOf("event: next"));
    return { states, isAtEnd: end.includes('"requestUpdated":{"status":"COMPLETED"') };
  };
}

test.each([
  ["WebSocket", overWebSocket],
  ["server-sent events", overEvents],
])(
  "a client over %s that does not read its socket misses states, does not delay other clients, and gets the end",
  async (_name, followSlowly) => {
    const { store, graphql, api } = running;
    const submitted = await graphql(
      "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId planId } }",
      { plan: PLAN },
    );
    const { requestId, planId } = submitted.body.data.submitPlan;
    const slow = await followSlowly(requestId);
    const client = webSocketClient(api.url);
    const quick = client.iterate({ query: QUERY, variables: { id: requestId } });
    await quick.next();
    const claim = (await store.claimPlan(planId as PlanId, "test executor"))!;
    for (const { id } of PLAN.steps) {
      const record = { key: id, stepId: id, status: "COMPLETED" as const, attempts: 1, output: { _id: id } };
      await writeCalled(store, claim, [record]);
      // Each state arrives at a reading client before the next one is written.
      for (let isTold = false; !isTold; ) {
        const { value } = await quick.next();
        isTold = JSON.stringify(value?.data).includes(`"key":"${id}","status":"COMPLETED"`);
      }
    }
    await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
    for await (const { data } of quick) if (!data) expect.fail("an answer without data");
    const { states, isAtEnd } = await slow();
    expect(isAtEnd).toBe(true);
    expect(states).toBeLessThan(STEPS / 2);
  },
);

test("a WebSocket that does not answer pings within the limit for slow clients is cut", async () => {
  const { api, close } = await startTestApi({ sendTimeoutMs: 200 });
  onTestFinished(close);
  const socket = new WebSocket(api.url.replace("http:", "ws:"), "graphql-transport-ws");
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  socket.pause();
  await setTimeout(1_000);
  socket.resume();
  const [code] = await once(socket, "close");
  // No closing message: the connection itself was cut.
  expect(code).toBe(1006);
});

test("a stream of events that is not read within the limit for slow clients is cut, and releases its slot", async () => {
  const other = await startTestApi({ sendTimeoutMs: 300 });
  onTestFinished(() => other.close());
  const submitted = await other.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId planId } }",
    { plan: PLAN },
  );
  const { requestId, planId } = submitted.body.data.submitPlan;
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const request = httpRequest(`${other.api.url}/stream`, { method: "POST", headers });
  onTestFinished(() => void request.destroy());
  request.on("error", () => undefined).end(JSON.stringify({ query: QUERY, variables: { id: requestId } }));
  await once(request, "response");
  const open = async () => /subscriptions_open\S* (\d+)/.exec((await other.send("/metrics")).text)?.[1];
  expect(await open()).toBe("1");
  const claim = (await other.store.claimPlan(planId as PlanId, "test executor"))!;
  for (const { id } of PLAN.steps) {
    const record = { key: id, stepId: id, status: "COMPLETED" as const, attempts: 1, output: { _id: id } };
    await writeCalled(other.store, claim, [record]);
    await setTimeout(30);
  }
  // The request continues, so its end is not what ends the reading.
  await expect.poll(open, { timeout: 10_000 }).toBe("0");
});
