import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { PlanDocument } from "@planwright/store";
import { findDue } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { askApprovalAs, executeAs, planAs } from "./workers.ts";

const CREATE = "mutation ($query: String!) { createPlan(query: $query) { requestId planId } }";
const SUBMIT = "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId planId } }";

/** Sends fifty sentences at once: the accepted requests, and the refusals. */
async function burst(running: RunningApi) {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => running.graphql(CREATE, { query: `sentence ${index}` })),
  );
  const accepted: string[] = answers.flatMap(({ body }) => body.data?.createPlan.requestId ?? []);
  return { accepted, refused: answers.filter(({ body }) => body.errors) };
}

async function execute(running: RunningApi, requestId: string): Promise<PlanDocument | null> {
  await planAs(running.store, requestId);
  const request = await running.store.getRequest("default", requestId);
  await executeAs(running.store, request!.planId);
  return running.store.getPlan("default", request!.planId);
}

test.each([{ maxPendingMutations: 1 }, { maxUnfinishedPlans: 1 }])(
  "above a capacity of %j, calls are refused at once, and every accepted one completes",
  async (limits) => {
    const running = await startTestApi(limits);
    const { accepted, refused } = await burst(running);
    expect(accepted.length).toBeGreaterThan(0);
    expect(refused.length).toBeGreaterThan(0);
    expect(accepted.length + refused.length).toBe(50);
    for (const { status, headers, body, text } of refused) {
      expect(status).toBe(503);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(body.data).toBeUndefined();
      expect(body.errors[0].extensions).toEqual({
        code: "OVERLOADED",
        retryable: true,
        remedy: expect.any(String),
        retryAfterMs: expect.any(Number),
      });
      expect(text).not.toMatch(/stack|\.ts|node_modules/);
    }
    const stored = await running.store.listRequests("default", { first: 100 });
    expect(stored.items.map(({ _id }) => _id).toSorted()).toEqual(accepted.toSorted());
    for (const requestId of accepted) {
      expect(await execute(running, requestId)).toMatchObject({ status: "COMPLETED" });
    }
    await running.close();
  },
);

test("a client that retries after the time in the refusal is accepted when there is capacity", async () => {
  const running = await startTestApi({ maxUnfinishedPlans: 1 });
  const first = await running.graphql(SUBMIT, { plan: BLOG_PLAN });
  const refused = await running.graphql(SUBMIT, { plan: BLOG_PLAN });
  const { retryAfterMs } = refused.body.errors[0].extensions;
  expect(retryAfterMs).toBeGreaterThanOrEqual(500);
  expect(retryAfterMs).toBeLessThanOrEqual(1_500);
  await executeAs(running.store, first.body.data.submitPlan.planId);
  await expect
    .poll(async () => (await running.graphql(SUBMIT, { plan: BLOG_PLAN })).status, { timeout: 10_000 })
    .toBe(200);
  await running.close();
});

test("while the database answers slowly, mutations beyond the limit are refused and queries are answered", async () => {
  const running = await startTestApi({ maxPendingMutations: 3 });
  const createRequest = running.store.createRequest.bind(running.store);
  const held: (() => void)[] = [];
  running.store.createRequest = async (input) => {
    await new Promise<void>((resolve) => held.push(resolve));
    return createRequest(input);
  };
  const slow = [0, 1, 2].map((index) => running.graphql(CREATE, { query: `slow ${index}` }));
  await expect.poll(() => held.length).toBe(3);
  expect((await running.graphql(SUBMIT, { plan: BLOG_PLAN })).status).toBe(503);
  expect((await running.graphql("{ requests { nodes { id } } }")).status).toBe(200);
  for (const goOn of held) goOn();
  expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await running.graphql(SUBMIT, { plan: BLOG_PLAN })).status).toBe(200);
  await running.close();
});

test("a query waits for its slot, is refused after a timeout, and never runs after its client has disconnected", async () => {
  const running = await startTestApi({ maxPendingQueries: 1 });
  const listRequests = running.store.listRequests.bind(running.store);
  const held: (() => void)[] = [];
  running.store.listRequests = async (...args) => {
    await new Promise<void>((resolve) => held.push(resolve));
    return listRequests(...args);
  };
  const LIST = "{ requests { nodes { id } } }";
  const slow = running.graphql(LIST);
  await expect.poll(() => held.length).toBe(1);
  const leaving = new AbortController();
  const left = fetch(running.api.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: LIST }),
    signal: leaving.signal,
  });
  const refused = running.graphql(LIST);
  // Meanwhile the service is alive and accepts plans.
  expect((await running.send("/readyz")).status).toBe(200);
  expect((await running.graphql(SUBMIT, { plan: BLOG_PLAN })).status).toBe(200);
  leaving.abort();
  await expect(left).rejects.toThrow();
  const { status, headers, body } = await refused;
  expect(status).toBe(503);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  expect(body.errors[0].extensions).toMatchObject({ code: "OVERLOADED", retryable: true });
  const next = running.graphql(LIST);
  held[0]?.();
  expect((await slow).status).toBe(200);
  await expect.poll(() => held.length).toBe(2);
  held[1]?.();
  expect((await next).status).toBe(200);
  // Neither the refused query nor the one with the disconnected client read anything.
  expect(held).toHaveLength(2);
  await running.close();
});

test("a client that waits for a plan, or for its end, holds no slot", async () => {
  const running = await startTestApi({ maxPendingMutations: 1 });
  const { body } = await running.graphql(SUBMIT, { plan: BLOG_PLAN });
  const { requestId, planId } = body.data.submitPlan;
  const waiting = [
    running.graphql("mutation ($id: ID!) { executeByRequestId(requestId: $id) { status } }", {
      id: requestId,
    }),
  ];
  const getRequest = running.store.getRequest.bind(running.store);
  let reads = 0;
  running.store.getRequest = (...parameters) => {
    reads += 1;
    return getRequest(...parameters);
  };
  await expect.poll(() => reads).toBeGreaterThan(1);
  const planned = running.graphql(`mutation { createPlanWithRequestId(query: "wait for me") { requestId } }`);
  await expect.poll(async () => (await findDue(running.store.requestLeases, 10)).length).toBe(1);
  const [dueId] = await findDue(running.store.requestLeases, 10);
  expect((await running.graphql(CREATE, { query: "let me in" })).status).toBe(200);
  await planAs(running.store, dueId!);
  await executeAs(running.store, planId);
  expect((await planned).body.data.createPlanWithRequestId.requestId).toBe(dueId);
  expect((await Promise.all(waiting))[0]!.body.data.executeByRequestId.status).toBe("COMPLETED");
  await running.close();
});

test("a document with several mutations is refused completely", async () => {
  const running = await startTestApi({ maxUnfinishedPlans: 1 });
  await running.graphql(SUBMIT, { plan: BLOG_PLAN });
  const { status, body } = await running.graphql(
    `mutation { ...both } fragment both on Mutation { a: createPlan(query: "a") { id } b: createPlan(query: "b") { id } }`,
  );
  expect({ status, data: body.data }).toEqual({ status: 503, data: undefined });
  expect((await running.store.listRequests("default", { first: 10 })).items).toHaveLength(1);
  await running.close();
});

test("operations of operators are accepted when no new plan is", async () => {
  const running = await startTestApi({ maxUnfinishedPlans: 1 });
  const { body } = await running.graphql(SUBMIT, { plan: BLOG_PLAN });
  const { requestId } = body.data.submitPlan;
  const { status } = await running.graphql("mutation ($id: ID!) { cancel(requestId: $id) { id } }", {
    id: requestId,
  });
  expect(status).toBe(200);
  await running.close();
});

test("a tenant at its own limit is refused by name, another one is served, and waiting for a person is no work", async () => {
  const running = await startTestApi({ anonymous: "refuse" });
  onTestFinished(() => running.close());
  const { store } = running;
  await store.setTenantLimits("acme", { maxUnfinishedPlans: 1 });
  const acme = await bearer(store, ["admin"], { tenant: "acme" });
  const globex = await bearer(store, ["admin"], { tenant: "globex" });
  const submit = (tenant: { authorization: string }) => running.graphql(SUBMIT, { plan: BLOG_PLAN }, tenant);
  const accepted = await submit(acme);
  expect(accepted.status).toBe(200);
  const refused = await submit(acme);
  expect(refused.status).toBe(503);
  expect(refused.body.errors[0].message).toMatch(
    /1 plans of the tenant acme are unfinished, and its limit max-unfinished-plans is 1: .* ask the operator/,
  );
  expect((await submit(globex)).status).toBe(200);
  await askApprovalAs(store, accepted.body.data.submitPlan.planId);
  await expect.poll(async () => (await submit(acme)).status, { timeout: 30_000 }).toBe(200);
});

test("a tenant with all its connections gets no further one until one closes; another tenant gets its own", async () => {
  const running = await startTestApi({ anonymous: "refuse" });
  onTestFinished(() => running.close());
  const { store } = running;
  await store.setTenantLimits("acme", { maxConnections: 1 });
  const connect = async (tenant: string) => {
    const headers = await bearer(store, ["read"], { tenant });
    const url = running.api.url.replace("http:", "ws:");
    const socket = new WebSocket(url, "graphql-transport-ws", { headers });
    onTestFinished(() => socket.terminate());
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "connection_init" }));
    const acknowledged = once(socket, "message").then(([message]) => String(message));
    const closed = once(socket, "close").then(([code, reason]) => `${code} ${reason}`);
    return { socket, answer: await Promise.race([acknowledged, closed]) };
  };
  const ACKNOWLEDGED = '{"type":"connection_ack"}';
  const first = await connect("acme");
  expect(first.answer).toBe(ACKNOWLEDGED);
  expect((await connect("acme")).answer).toMatch(/^1013 OVERLOADED: your tenant has no connection left/);
  expect((await connect("globex")).answer).toBe(ACKNOWLEDGED);
  first.socket.close();
  await expect.poll(async () => (await connect("acme")).answer).toBe(ACKNOWLEDGED);
});

test("a connection above the capacity is refused before it is opened", async () => {
  const running = await startTestApi({ maxTotalSubscriptions: 1 });
  const connect = () => new WebSocket(running.api.url.replace("http:", "ws:"), "graphql-transport-ws");
  const first = connect();
  await once(first, "open");
  const [, answer] = await once(connect(), "unexpected-response");
  const refused: IncomingMessage = answer;
  expect(refused.statusCode).toBe(503);
  expect(JSON.parse(await text(refused)).errors[0].extensions).toEqual({
    code: "OVERLOADED",
    retryable: true,
    remedy: expect.any(String),
    retryAfterMs: expect.any(Number),
  });
  first.terminate();
  await running.close();
});
