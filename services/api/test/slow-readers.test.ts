/**
 * Readers that stop to read their socket: what is sent to them waits in the kernel, and behind it waits one
 * state alone.
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

/** So many states of so many bytes are more than the buffers of both ends of a connection hold. */
const STEPS = 60;
const STEP_BYTES = 16_000;
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
  // On a busy machine a slow reader waits for longer than it may.
  running = await startTestApi({ sendTimeoutMs: 600_000 });
});
afterAll(() => running.close());

/**
 * Follows without reading, until it is told to: then gives how many states came, and whether the last was the
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
  const asked = httpRequest(`${running.api.url}/stream`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
  });
  onTestFinished(() => void asked.destroy());
  asked.end(JSON.stringify({ query: QUERY, variables: { id } }));
  const [response]: IncomingMessage[] = await once(asked, "response");
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
  "a reader over %s that does not read its socket is skipped, keeps no other client waiting, and gets the end",
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
      // Each state arrives at a client that reads, before there is a next one.
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

test("a WebSocket that leaves pings unanswered for as long as a client may read nothing is cut", async () => {
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

test("a stream of events of which nothing is read for as long as a client may is cut, and gives its place back", async () => {
  const other = await startTestApi({ sendTimeoutMs: 300 });
  onTestFinished(() => other.close());
  const submitted = await other.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId planId } }",
    { plan: PLAN },
  );
  const { requestId, planId } = submitted.body.data.submitPlan;
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const asked = httpRequest(`${other.api.url}/stream`, { method: "POST", headers });
  onTestFinished(() => void asked.destroy());
  asked.on("error", () => undefined).end(JSON.stringify({ query: QUERY, variables: { id: requestId } }));
  await once(asked, "response");
  const open = async () => /subscriptions_open\S* (\d+)/.exec((await other.send("/metrics")).text)?.[1];
  expect(await open()).toBe("1");
  const claim = (await other.store.claimPlan(planId as PlanId, "test executor"))!;
  for (const { id } of PLAN.steps) {
    const record = { key: id, stepId: id, status: "COMPLETED" as const, attempts: 1, output: { _id: id } };
    await writeCalled(other.store, claim, [record]);
    await setTimeout(30);
  }
  // The request continues: its end is not what ends the reading.
  await expect.poll(open, { timeout: 10_000 }).toBe("0");
});
