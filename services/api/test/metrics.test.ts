/**
 * What operators see of a real process: `/metrics` after operations that succeeded, failed, and were
 * refused.
 */
import { once } from "node:events";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { testServers } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { addressOf, startApiProcess } from "./api-process.ts";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";

test("/metrics counts operations by names of the schema, and refusals", async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const child = startApiProcess({
    MONGODB_URL: mongodbUrl,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: redisPrefix,
    MAX_UNFINISHED_PLANS: "1",
  });
  const url = await addressOf(child);
  const send = async (query: string, variables: object = {}): Promise<void> => {
    const headers = { "content-type": "application/json" };
    await (await fetch(url, { method: "POST", headers, body: JSON.stringify({ query, variables }) })).text();
  };
  const submit = "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId } }";
  await send('query myOwnName { mine: request(requestId: "req_1") { status } }');
  await send("{ tools { nodes { name } } getAvailableTools { name } }");
  await send("{ getAvailableTools { name } }");
  await send("query Evil_1 { noSuchField }");
  await send('mutation { createPlan(query: "x") { requestId } }');
  await send(submit, { plan: BLOG_PLAN });

  const text = await (await fetch(new URL("/metrics", url))).text();
  const counts = new Map(
    text.split("\n").flatMap((line): [string, number][] => {
      const found = /^planwright_api_(?<name>\w+_total)\{(?<labels>.*)\} (?<value>\S+)$/.exec(line)?.groups;
      const labels = found?.["labels"]?.replace(/,?service="api"/, "");
      return found ? [[`${found["name"]} ${labels}`, Number(found["value"])]] : [];
    }),
  );
  expect(Object.fromEntries(counts)).toMatchObject({
    'requests_total operation="getAvailableTools",code="OK"': 1,
    'requests_total operation="createPlan",code="OK"': 1,
    'requests_total operation="submitPlan",code="OVERLOADED"': 1,
    'requests_total operation="invalid",code="GRAPHQL_VALIDATION_FAILED"': expect.any(Number),
    'overloaded_total reason="plans"': 1,
  });
  expect(text).toMatch(/^planwright_api_requests_total\{operation="request",code="\w+",service="api"\} 1$/m);
  expect(text).toMatch(/^planwright_api_request_duration_seconds_count\{.*operation="createPlan".*\} 1$/m);
  // None of these operations changes an existing plan.
  expect(text).toMatch(/^planwright_journal_entries_total\{service="api"\} 0$/m);
  expect(text).toMatch(/^planwright_journal_refused_total\{service="api"\} 0$/m);
  expect(text).toMatch(/^planwright_api_subscriptions_open\{service="api"\} 0$/m);
  expect(text).not.toMatch(/myOwnName|mine|Evil_1|noSuchField/);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("/metrics counts subscriptions over both transports when they end, and tool calls over MCP", async () => {
  const running = await startTestApi({ mcp: { hosts: [] } });
  onTestFinished(() => running.close());
  const submit = "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId } }";
  const { body } = await running.graphql(submit, { plan: BLOG_PLAN });
  const id: string = body.data.submitPlan.requestId;
  const unknown = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
  const follow = "subscription ($id: ID!) { requestUpdated(requestId: $id) { status } }";
  const operate = await bearer(running.store, ["operate"]);
  const stream = (query: string, requestId: string, headers: object = {}) =>
    running.send("/graphql/stream", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream", ...headers },
      body: JSON.stringify({ query, variables: { id: requestId } }),
    });
  const counted = async (): Promise<Record<string, number>> => {
    const { text } = await running.send("/metrics");
    const lines = text.matchAll(
      /^planwright_api_requests_total\{operation="(\w+)",code="(\w+)",service="api"\} (\d+)$/gm,
    );
    return Object.fromEntries([...lines].map(([, name, code, count]) => [`${name} ${code}`, Number(count)]));
  };

  const client = webSocketClient(running.api.url);
  const followed = client.iterate({ query: follow, variables: { id } });
  await followed.next();
  expect(await counted()).not.toHaveProperty("requestUpdated OK");
  await followed.return?.();
  await expect.poll(counted).toMatchObject({ "requestUpdated OK": 1 });

  await running.graphql("mutation($id: ID!) { cancel(requestId: $id) { status } }", { id });
  await stream(follow, id);
  await stream(follow, unknown);
  await stream(follow, id, operate);
  await stream("subscription { nothing }", id);
  await expect(client.iterate({ query: "{ __typename }" }).next()).rejects.toBeDefined();
  const agent = new Client({ name: "agent", version: "1" });
  await agent.connect(new StreamableHTTPClientTransport(new URL("/mcp", running.api.url)));
  onTestFinished(() => agent.close());
  await agent.callTool({ name: "get_request", arguments: { requestId: id } });
  await agent.callTool({ name: "get_request", arguments: { requestId: unknown } });
  await agent.callTool({ name: "cancel_request", arguments: { requestId: id } });
  await expect(agent.callTool({ name: "evil", arguments: {} })).rejects.toBeDefined();
  await expect.poll(counted).toEqual({
    "submitPlan OK": 1,
    "cancel OK": 1,
    "requestUpdated OK": 2,
    "requestUpdated NOT_FOUND": 1,
    "requestUpdated FORBIDDEN": 1,
    "invalid GRAPHQL_VALIDATION_FAILED": 1,
    "invalid BAD_REQUEST": 1,
    "get_request OK": 1,
    "get_request NOT_FOUND": 1,
    "cancel_request OK": 1,
    "invalid BAD_USER_INPUT": 1,
  });
});
