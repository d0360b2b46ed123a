/** Which callers may do what, on every endpoint of the service. */

import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { text as readText } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { eventually } from "@planwright/testing";
import { createClient as createEventClient } from "graphql-sse";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";
import { APPROVAL_HASH, askApprovalAs } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi({ anonymous: "refuse", mcp: { hosts: [] } });
});
afterAll(() => running.close());

const SUBMIT = "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId planId } }";
const FOLLOW = "subscription ($id: ID!) { requestUpdated(requestId: $id) { status } }";
const UNKNOWN = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
const firstErrorOf = (answer: { body: { errors: unknown[] } }) => answer.body.errors[0];

async function submitted(): Promise<{ requestId: string; planId: string }> {
  const answer = await running.graphql(SUBMIT, { plan: BLOG_PLAN }, await bearer(running.store, ["execute"]));
  return answer.body.data.submitPlan;
}

describe("without a valid credential", () => {
  const WAYS: [string, string, RequestInit][] = [
    [
      "POST /graphql",
      "/graphql",
      { method: "POST", headers: { "content-type": "application/json" }, body: "{" },
    ],
    ["GET /graphql", "/graphql?query={__typename}", { headers: { "apollo-require-preflight": "1" } }],
    [
      "POST /graphql/stream",
      "/graphql/stream",
      { method: "POST", headers: { "content-type": "application/json" }, body: "{}" },
    ],
    ["POST /mcp", "/mcp", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }],
    ["GET /metrics", "/metrics", {}],
    ["GET /METRICS/", "/METRICS/", {}],
  ];

  test.each(WAYS)("%s answers 401 with a remedy", async (_way, path, init) => {
    const answer = await running.send(path, init);
    expect({ status: answer.status, error: firstErrorOf(answer) }).toMatchObject({
      status: 401,
      error: {
        extensions: { code: "UNAUTHENTICATED", retryable: false, remedy: expect.stringContaining("Bearer") },
      },
    });
    expect(answer.headers.get("www-authenticate")).toContain("Bearer");
  });

  test("health and the front page are open", async () => {
    for (const path of ["/", "/healthz", "/readyz"]) expect((await running.send(path)).status).toBe(200);
  });

  test("unknown, revoked, expired and malformed keys are refused with the same message", async () => {
    const { store } = running;
    const make = (expiresAt?: Date) =>
      store.createApiKey({ tenant: "default", name: "gone", scopes: ["admin"], expiresAt });
    const revoked = await make();
    await store.revokeApiKey(revoked.key._id);
    const expired = await make(new Date(Date.now() - 60_000));
    const presented = [
      revoked.secret,
      expired.secret,
      `pw_${"a".repeat(43)}`,
      "pw_short",
      "x",
      `${revoked.secret} ${revoked.secret}`,
    ].map((secret) => `Bearer ${secret}`);
    const answers = await Promise.all(
      [...presented, "", "Basic dXNlcjpwYXNz", "Bearer"].map((authorization) =>
        running.graphql("{ __typename }", {}, { authorization }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  test("a WebSocket with a wrong key or none is closed with 4401", async () => {
    for (const connectionParams of [{}, { authorization: "Bearer pw_wrong" }, { authorization: 7 }]) {
      const closed = follow({ connectionParams }, UNKNOWN);
      await expect(closed.next()).rejects.toMatchObject({ code: 4401 });
    }
  });
});

test("a revoked key stops working, also if it was used before", async () => {
  const { secret, key } = await running.store.createApiKey({
    tenant: "default",
    name: "ci",
    scopes: ["read"],
  });
  const ask = () => running.graphql("{ __typename }", {}, { authorization: `Bearer ${secret}` });
  expect((await ask()).status).toBe(200);
  await running.store.revokeApiKey(key._id);
  await eventually(async () => (await ask()).status === 401);
});

test("the last use of a key is recorded", async () => {
  const { secret, key } = await running.store.createApiKey({
    tenant: "default",
    name: "seen",
    scopes: ["read"],
  });
  await running.graphql("{ __typename }", {}, { authorization: `Bearer ${secret}` });
  await eventually(async () => {
    const keys = await running.store.listApiKeys("default");
    return keys.find(({ _id }) => _id === key._id)?.lastUsedAt;
  });
});

describe("a missing scope", () => {
  test("is named, with 403, before any part of the operation runs", async () => {
    running.offered.length = 0;
    const both = `mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId } ...more }
      fragment more on Mutation { late: cancel(requestId: "${UNKNOWN}") { status } }`;
    const answer = await running.graphql(
      both,
      { plan: BLOG_PLAN },
      await bearer(running.store, ["execute", "read"]),
    );
    expect(answer).toMatchObject({
      status: 403,
      body: { errors: [{ extensions: { code: "FORBIDDEN", scope: "operate", remedy: expect.any(String) } }] },
    });
    expect(running.offered).toEqual([]);
  });

  test("refuses queries of callers that may only execute, and mutations of callers that may only read", async () => {
    const query = await running.graphql(
      "{ requests { nodes { status } } }",
      {},
      await bearer(running.store, ["execute"]),
    );
    expect(firstErrorOf(query)).toMatchObject({ extensions: { code: "FORBIDDEN", scope: "read" } });
    const submit = await running.graphql(SUBMIT, { plan: BLOG_PLAN }, await bearer(running.store, ["read"]));
    expect(firstErrorOf(submit)).toMatchObject({ extensions: { code: "FORBIDDEN", scope: "execute" } });
  });

  test("the scope admin includes all others", async () => {
    const admin = await bearer(running.store, ["admin"]);
    expect((await running.graphql(SUBMIT, { plan: BLOG_PLAN }, admin)).body.errors).toBeUndefined();
    expect((await running.send("/metrics", { headers: admin })).status).toBe(200);
  });

  test("/metrics needs operate", async () => {
    const read = await running.send("/metrics", { headers: await bearer(running.store, ["read"]) });
    expect([read.status, firstErrorOf(read)]).toMatchObject([403, { extensions: { scope: "operate" } }]);
    const operate = await running.send("/metrics", { headers: await bearer(running.store, ["operate"]) });
    expect(operate.status).toBe(200);
    expect(operate.text).toMatch(/planwright_api_denied_total\{code="UNAUTHENTICATED"/);
  });

  test("subscriptions need read, over WebSocket and as server-sent events", async () => {
    const { requestId } = await submitted();
    const [may, mayNot] = [await bearer(running.store, ["read"]), await bearer(running.store, ["execute"])];
    const forbidden = [{ extensions: { code: "FORBIDDEN", scope: "read" } }];
    const shown = { data: { requestUpdated: { status: "EXECUTING" } } };
    expect((await follow({ connectionParams: may }, requestId).next()).value).toMatchObject(shown);
    expect((await follow({ headers: may }, requestId).next()).value).toMatchObject(shown);
    await expect(follow({ connectionParams: mayNot }, requestId).next()).rejects.toMatchObject(forbidden);
    const client = createEventClient({ url: `${running.api.url}/stream`, retryAttempts: 0, headers: may });
    onTestFinished(() => client.dispose());
    const events = client.iterate({ query: FOLLOW, variables: { id: requestId } });
    expect((await events.next()).value).toMatchObject(shown);
    const refused = await running.send("/graphql/stream", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream", ...mayNot },
      body: JSON.stringify({ query: FOLLOW, variables: { id: requestId } }),
    });
    expect(refused).toMatchObject({ status: 403, body: { errors: forbidden } });
  });

  test("tools of the MCP facade need the same scopes as their operations", async () => {
    const { requestId } = await submitted();
    const read = await agent(await bearer(running.store, ["read"]));
    const found = await read.callTool({ name: "get_request", arguments: { requestId } });
    expect(found.structuredContent).toMatchObject({ requestId, status: "EXECUTING" });
    for (const [name, args, scope] of [
      ["execute_tool_plan", { plan: BLOG_PLAN }, "execute"],
      ["create_plan", { query: "x" }, "execute"],
      ["cancel_request", { requestId }, "operate"],
    ] as const) {
      const { isError, content } = await read.callTool({ name, arguments: args });
      expect(isError).toBe(true);
      const [part] = content;
      expect(part?.type === "text" ? JSON.parse(part.text) : null).toMatchObject({
        code: "FORBIDDEN",
        scope,
      });
    }
  });
});

test("secrets in a plan that an agent submits belong to the tenant of its key, as with submitPlan", async () => {
  const [author] = BLOG_PLAN.steps;
  const plan = { steps: [{ ...author, arguments: { name: "secret://crm-key", email: "alice@test.com" } }] };
  const key = await bearer(running.store, ["execute"], { tenant: "acme" });
  const client = await agent(key);
  const refused = await (await agent(await bearer(running.store, ["read", "operate"]))).callTool({
    name: "execute_tool_plan",
    arguments: { plan },
  });
  expect(refused.content).toMatchObject([{ text: expect.stringContaining('"code":"FORBIDDEN"') }]);
  await client.callTool({ name: "execute_tool_plan", arguments: { plan, wait: false } });
  await running.graphql(SUBMIT, { plan }, key);
  const { items } = await running.store.listRequests("acme", { first: 10 });
  const stored = await Promise.all(items.map(({ planId }) => running.store.getPlan("acme", planId)));
  expect(stored).toHaveLength(2);
  for (const one of stored) {
    // Only the name: the executor decides by server, tool and this tenant whether the secret may be sent.
    expect(one).toMatchObject({ tenant: "acme", plan: { steps: plan.steps }, origin: { kind: "submitted" } });
    expect(one?.toolPins).toEqual(stored[0]?.toolPins);
  }
});

test("an approval records the name of the key, and nothing that the client sent", async () => {
  const { requestId, planId } = await submitted();
  await askApprovalAs(running.store, planId as never);
  const approve = `mutation ($id: ID!) { approve(requestId: $id, stepId: "createAuthor", approvalHash: "${APPROVAL_HASH}") {
    plan { approvals { by } } } }`;
  const operator = await bearer(running.store, ["operate"], { name: "Olga of operations" });
  const answer = await running.graphql(approve, { id: requestId }, operator);
  expect(answer.body.data.approve.plan.approvals).toEqual([{ by: "Olga of operations" }]);
});

test("the start of a plan records the name of the key", async () => {
  const key = await bearer(running.store, ["execute", "read"], { name: "Eve of execution" });
  const submit = "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId } }";
  const ready = await running.graphql(submit, { plan: BLOG_PLAN }, key);
  const { requestId: id } = ready.body.data.submitPlan;
  await running.graphql("mutation ($id: ID!) { executePlan(requestId: $id) { status } }", { id }, key);
  const events = "query ($id: ID!) { events(requestId: $id) { nodes { type by { id } } } }";
  const listed = await running.graphql(events, { id }, key);
  expect(listed.body.data.events.nodes).toEqual([
    { type: "execution.asked", by: { id: "Eve of execution" } },
  ]);
});

describe("anonymous callers", () => {
  /** The status that a caller gets that reaches the service by this host name. */
  async function statusFor(api: RunningApi, host: string): Promise<number | undefined> {
    const headers = { "content-type": "application/json", host };
    const request = httpRequest(api.api.url, { method: "POST", headers }).end('{"query":"{__typename}"}');
    const [response] = await once(request, "response");
    await readText(response);
    return response.statusCode;
  }

  test("are answered on loopback, only by loopback names, and not through a proxy", async () => {
    const local = await startTestApi({});
    onTestFinished(() => local.close());
    const hosts = [
      "127.0.0.1:4000",
      "localhost",
      "[::1]:4000",
      "evil.example.org",
      "127.0.0.1.evil.example.org",
    ];
    expect(await Promise.all(hosts.map((host) => statusFor(local, host)))).toEqual([200, 200, 200, 401, 401]);
    const forwarded = await local.graphql("{ __typename }", {}, { "x-forwarded-for": "203.0.113.7" });
    expect(forwarded.status).toBe(401);
    const wrong = await local.graphql("{ __typename }", {}, { authorization: "Bearer pw_wrong" });
    expect(wrong.status).toBe(401);
  });

  test("are refused if other machines can reach the service, unless a setting allows them", async () => {
    const open = await startTestApi({ host: "0.0.0.0" });
    onTestFinished(() => open.close());
    expect(await statusFor(open, "127.0.0.1")).toBe(401);
    const allowed = await startTestApi({ host: "0.0.0.0", anonymous: "allow" });
    onTestFinished(() => allowed.close());
    expect(await statusFor(allowed, "planwright.example.org")).toBe(200);
  });
});

/** Follows a request over WebSocket. */
function follow(
  {
    headers,
    connectionParams,
  }: { headers?: Record<string, string>; connectionParams?: Record<string, unknown> },
  id: string,
) {
  const client = webSocketClient(running.api.url, { headers, connectionParams });
  return client.iterate({ query: FOLLOW, variables: { id } });
}

/** An agent that speaks MCP with a key. */
async function agent(headers: { authorization: string }): Promise<Client> {
  const client = new Client({ name: "agent", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", running.api.url), {
    requestInit: { headers },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}
