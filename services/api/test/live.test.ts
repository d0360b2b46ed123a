import { once } from "node:events";
import { createClient as createEventClient } from "graphql-sse";
import type { Client } from "graphql-ws";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";
import { writeCalled } from "./workers.ts";

const TENANT = "default";
const FOLLOW =
  "subscription($id: ID!) { requestUpdated(requestId: $id) { status plan { status steps { key status } } } }";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi({ maxSubscriptions: 50 });
});
afterAll(() => running.close());

/** A separate client over WebSocket. */
const connect = (options: { origin?: string } = {}): Client => webSocketClient(running.api.url, options);

async function submit(): Promise<{ requestId: string; planId: string }> {
  const answer = await running.graphql(
    "mutation($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId planId } }",
    { plan: BLOG_PLAN },
  );
  return answer.body.data.submitPlan;
}

/** Executes the plan to its end, as an executor would. */
async function work(planId: string): Promise<void> {
  const { store } = running;
  const claim = await store.claimPlan(planId, "e1");
  if (!claim) throw new TypeError("the plan is not due");
  for (const key of ["createAuthor", "createBlog"]) {
    const record = { key, stepId: key, status: "COMPLETED" as const, attempts: 1, output: { _id: key } };
    await writeCalled(store, claim, [record]);
  }
  await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
}

type Shown = { status: string; plan: { status: string; steps: { key: string; status: string }[] } };

/** All results of a subscription, to its end. */
async function readAll(source: AsyncIterable<{ data?: unknown; errors?: unknown }>): Promise<Shown[]> {
  const results: Shown[] = [];
  for await (const { data, errors } of source) {
    expect(errors).toBeUndefined();
    results.push((data as { requestUpdated: Shown }).requestUpdated);
  }
  return results;
}

test("a follower of a request gets its state first, then newer states, and the end with the last", async () => {
  const { requestId, planId } = await submit();
  const source = connect().iterate({ query: FOLLOW, variables: { id: requestId } });
  const first = await source.next();
  expect(first.value?.data).toMatchObject({ requestUpdated: { status: "READY", plan: { status: "READY" } } });
  const rest = readAll(source);
  await running.graphql("mutation($id: ID!) { executePlan(requestId: $id) { status } }", { id: requestId });
  await work(planId);
  const results = await rest;
  expect(results.length).toBeGreaterThan(0);
  expect(results.at(-1)).toEqual({
    status: "COMPLETED",
    plan: {
      status: "COMPLETED",
      steps: [
        { key: "createAuthor", status: "COMPLETED" },
        { key: "createBlog", status: "COMPLETED" },
      ],
    },
  });
});

test("a follower of an ended request gets the last state and the end", async () => {
  const { requestId } = await submit();
  await running.graphql("mutation($id: ID!) { cancel(requestId: $id) { status } }", { id: requestId });
  const results = await readAll(connect().iterate({ query: FOLLOW, variables: { id: requestId } }));
  expect(results).toMatchObject([{ status: "CANCELLED" }]);
});

test("server-sent events deliver the same", async () => {
  const { requestId, planId } = await submit();
  const client = createEventClient({ url: `${running.api.url}/stream`, retryAttempts: 0 });
  onTestFinished(() => client.dispose());
  const source = client.iterate({ query: FOLLOW, variables: { id: requestId } });
  expect((await source.next()).value?.data).toMatchObject({ requestUpdated: { status: "READY" } });
  await running.store.queuePlan(TENANT, planId as never, requestId as never);
  await work(planId);
  expect((await readAll(source)).at(-1)).toMatchObject({ status: "COMPLETED" });
});

test.each(["WebSocket", "server-sent events"])(
  "a client that leaves over %s while the request runs releases its slot at once",
  async (way) => {
    const { requestId } = await submit();
    const events = createEventClient({ url: `${running.api.url}/stream`, retryAttempts: 0 });
    onTestFinished(() => events.dispose());
    const operation = { query: FOLLOW, variables: { id: requestId } };
    const source = way === "WebSocket" ? connect().iterate(operation) : events.iterate(operation);
    await source.next();
    const open = async () => /subscriptions_open\S* (\d+)/.exec((await running.send("/metrics")).text)?.[1];
    await expect.poll(open).toBe("1");
    await source.return?.();
    await expect.poll(open).toBe("0");
  },
);

test("a client that reads nothing does not delay other clients", async () => {
  const { requestId, planId } = await submit();
  const slow = connect().iterate({ query: FOLLOW, variables: { id: requestId } });
  await slow.next();
  const quick = readAll(connect().iterate({ query: FOLLOW, variables: { id: requestId } }));
  await running.store.queuePlan(TENANT, planId as never, requestId as never);
  await work(planId);
  expect((await quick).at(-1)).toMatchObject({ status: "COMPLETED" });
  await slow.return?.();
});

test("unknown requests, other operations and documents beyond the limits are refused with a code", async () => {
  const client = connect();
  const codeOf = async (query: string, id = "req_1700000000_aaaaaaaaaaaaaaaaaaaa"): Promise<unknown> => {
    try {
      const { value } = await client.iterate({ query, variables: { id } }).next();
      return value?.errors?.[0]?.extensions?.["code"];
    } catch (errors) {
      return (errors as { extensions?: { code?: string } }[])[0]?.extensions?.code;
    }
  };
  const deep = `subscription($id: ID!) { requestUpdated(requestId: $id) { ${"plan { request { ".repeat(8)} id ${"} }".repeat(8)} } }`;
  expect(await codeOf(FOLLOW)).toBe("NOT_FOUND");
  expect(await codeOf(FOLLOW, "'; drop")).toBe("BAD_USER_INPUT");
  expect(await codeOf("{ getAvailableTools { name } }")).toBe("BAD_REQUEST");
  expect(await codeOf("subscription { nothing }")).toBe("GRAPHQL_VALIDATION_FAILED");
  expect(await codeOf("subscription {")).toBe("GRAPHQL_PARSE_FAILED");
  expect(await codeOf(deep)).toBe("QUERY_TOO_COMPLEX");
});

test("beyond the limit a subscription is refused as OVERLOADED, and accepted when others have ended", async () => {
  const { requestId } = await submit();
  const client = connect();
  const open = Array.from({ length: 50 }, () =>
    client.iterate({ query: FOLLOW, variables: { id: requestId } }),
  );
  await Promise.all(open.map((source) => source.next()));
  const refused = connect().iterate({ query: FOLLOW, variables: { id: requestId } });
  const [error] = await refused.next().then(
    ({ value }) => value?.errors ?? [],
    (errors: unknown) => errors as { extensions: object }[],
  );
  expect(error?.extensions).toMatchObject({ code: "OVERLOADED", retryAfterMs: 5000 });
  for (const source of open) await source.return?.();
  await expect
    .poll(async () => {
      const again = connect().iterate({ query: FOLLOW, variables: { id: requestId } });
      const accepted = await again.next().catch(() => undefined);
      await again.return?.();
      return accepted?.value?.data !== undefined;
    })
    .toBe(true);
});

test("pages of other origins may not connect, and no other path accepts sockets", async () => {
  const failing = async (path: string, origin: string): Promise<unknown> => {
    const url = new URL(path, running.api.url.replace("http:", "ws:"));
    const socket = new WebSocket(url, "graphql-transport-ws", { origin });
    const [error] = await once(socket, "error");
    return error instanceof Error ? error.message : error;
  };
  expect(await failing("/graphql", "https://evil.example")).toContain("403");
  expect(await failing("/elsewhere", "")).toContain("404");
  const sameOrigin = connect({ origin: new URL(running.api.url).origin });
  const { requestId } = await submit();
  const source = sameOrigin.iterate({ query: FOLLOW, variables: { id: requestId } });
  expect((await source.next()).value?.data).toBeDefined();
  await source.return?.();
});

test("a service that stops ends subscriptions with a final message", async () => {
  const other = await startTestApi();
  const submitted = await other.graphql(
    "mutation($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId } }",
    { plan: BLOG_PLAN },
  );
  const client = webSocketClient(other.api.url);
  const source = client.iterate({
    query: FOLLOW,
    variables: { id: submitted.body.data.submitPlan.requestId },
  });
  await source.next();
  const end = source.next();
  await other.close();
  expect(await end).toMatchObject({ done: true });
});
