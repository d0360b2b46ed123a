/** Subscriptions whose credential ends while they run: a revoked or expired key, and an expired token. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { eventually } from "@planwright/testing";
import { createClient as createEventClient } from "graphql-sse";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { inSeconds, startTokenIssuer, type TokenIssuer } from "./token-issuer.ts";
import { webSocketClient } from "./web-socket-client.ts";
import { executeAs } from "./workers.ts";

const FOLLOW = "subscription ($id: ID!) { requestUpdated(requestId: $id) { status } }";
const CREDENTIAL_ENDED = {
  data: null,
  errors: [
    {
      message: "The API key or token is no longer valid: it was revoked or has expired",
      extensions: { code: "UNAUTHENTICATED", retryable: false, remedy: expect.stringContaining("new key") },
    },
  ],
};

let issuer: TokenIssuer;
let running: RunningApi;
beforeAll(async () => {
  issuer = await startTokenIssuer();
  running = await startTestApi({ anonymous: "refuse", tokens: issuer.settings, mcp: { hosts: [] } });
});
afterAll(async () => {
  await running.close();
  issuer.close();
});

type States = AsyncIterableIterator<{ data?: unknown; errors?: readonly unknown[] | undefined }>;

/** Each way of following a request. */
const WAYS: { name: string; follow: (authorization: string, id: string) => States }[] = [
  {
    name: "WebSocket",
    follow: (authorization, id) =>
      webSocketClient(running.api.url, { connectionParams: { authorization } }).iterate({
        query: FOLLOW,
        variables: { id },
      }),
  },
  {
    name: "server-sent events",
    follow(authorization, id) {
      const client = createEventClient({
        url: `${running.api.url}/stream`,
        headers: { authorization },
        retryAttempts: 0,
      });
      onTestFinished(() => client.dispose());
      return client.iterate({ query: FOLLOW, variables: { id } });
    },
  },
];

async function keyOf(more: {
  tenant: string;
  expiresAt?: Date;
}): Promise<{ id: string; authorization: string }> {
  const { secret, key } = await running.store.createApiKey({
    name: "tester",
    scopes: ["read", "execute"],
    ...more,
  });
  return { id: key._id, authorization: `Bearer ${secret}` };
}

async function submit(authorization: string): Promise<{ requestId: string; planId: string }> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId planId } }",
    { plan: BLOG_PLAN },
    { authorization },
  );
  return body.data.submitPlan;
}

test("on every transport, only followers with a revoked key get the error", async () => {
  const kept = await keyOf({ tenant: "default" });
  const revoked = await keyOf({ tenant: "default" });
  const { requestId, planId } = await submit(kept.authorization);
  const ended = WAYS.map(({ follow }) => follow(revoked.authorization, requestId));
  const continuing = WAYS.map(({ follow }) => follow(kept.authorization, requestId));
  for (const states of [...ended, ...continuing]) {
    expect((await states.next()).value).toEqual({ data: { requestUpdated: { status: "EXECUTING" } } });
  }
  await running.store.revokeApiKey(revoked.id);
  for (const states of ended) {
    expect((await states.next()).value).toEqual(CREDENTIAL_ENDED);
    expect(await states.next()).toMatchObject({ done: true });
  }
  await executeAs(running.store, planId);
  for (const states of continuing) {
    const seen: unknown[] = [];
    for await (const { data } of states) seen.push(data);
    expect(seen.at(-1)).toEqual({ requestUpdated: { status: "COMPLETED" } });
  }
  expect((await running.graphql("{ __typename }", {}, revoked)).status).toBe(401);
});

test.each(WAYS)(
  "a follower over $name with a key or token that expires gets the error at that time",
  async ({ follow }) => {
    // Long enough for a first reading on a busy machine.
    const lifeSeconds = 10;
    const expiresAt = new Date(inSeconds(lifeSeconds) * 1_000);
    const key = await keyOf({ tenant: "acme", expiresAt });
    const token = await issuer.sign({ ...issuer.claims, exp: inSeconds(lifeSeconds) });
    const { requestId } = await submit(key.authorization);
    const all = [key.authorization, `Bearer ${token}`].map((authorization) =>
      follow(authorization, requestId),
    );
    for (const states of all) {
      expect((await states.next()).value).toEqual({ data: { requestUpdated: { status: "EXECUTING" } } });
      expect((await states.next()).value).toEqual(CREDENTIAL_ENDED);
      expect(Date.now()).toBeGreaterThanOrEqual(expiresAt.getTime());
      expect(await states.next()).toMatchObject({ done: true });
    }
  },
);

test("an agent that waits for a plan gets the error, and the plan continues", async () => {
  const key = await keyOf({ tenant: "agents" });
  const client = new Client({ name: "agent", version: "1" });
  const requestInit = { headers: { authorization: key.authorization } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", running.api.url), { requestInit }));
  onTestFinished(() => client.close());
  const call = client.callTool({ name: "execute_tool_plan", arguments: { plan: BLOG_PLAN } });
  const request = await eventually(
    async () => (await running.store.listRequests("agents", { first: 1 })).items[0],
  );
  await running.store.revokeApiKey(key.id);
  const { isError, content } = await call;
  const [part] = content;
  expect(isError).toBe(true);
  expect(part?.type === "text" ? JSON.parse(part.text) : null).toMatchObject({
    code: "UNAUTHENTICATED",
    requestId: request._id,
    remedy: expect.stringContaining("Do not send it again"),
  });
  expect(await running.store.getRequest("agents", request._id)).toMatchObject({ status: "EXECUTING" });
});

test("a subscription that ends because of its credential is counted by its error code", async () => {
  const admin = await running.store.createApiKey({ tenant: "default", name: "ops", scopes: ["admin"] });
  const { text } = await running.send("/metrics", { headers: { authorization: `Bearer ${admin.secret}` } });
  expect(text).toMatch(
    /planwright_api_requests_total\{operation="requestUpdated",code="UNAUTHENTICATED"[^}]*\} 6/,
  );
  expect(text).toMatch(/planwright_api_subscriptions_open(\{[^}]*\})? 0/);
});
