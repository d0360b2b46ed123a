import { eventually, testServers } from "@planwright/testing";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { createRateLimit } from "../src/load/tenant-limits.ts";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";

/** Two processes of the service that count with the same Redis. */
function limiters(perMinute: number, servers: { redisUrl: string; redisPrefix: string }) {
  const redis = { url: servers.redisUrl, prefix: servers.redisPrefix };
  const both = [createRateLimit({ perMinute, redis }), createRateLimit({ perMinute, redis })] as const;
  onTestFinished(() => {
    for (const limit of both) limit.close();
  });
  return both;
}

const isRefused = (error: unknown) => expect(error).toMatchObject({ code: "RATE_LIMITED", retryable: true });

test("one process counts exactly from the first call, with and without Redis", async () => {
  const servers = testServers();
  for (const redisUrl of [servers.redisUrl, "redis://127.0.0.1:1"]) {
    const [limit] = limiters(3, { ...servers, redisUrl });
    for (let asked = 0; asked < 3; asked += 1) await limit.count("a");
    await limit.count("a").then(() => expect.fail("one too many"), isRefused);
    await limit.count("b");
  }
});

test("calls to one process count in the others", async () => {
  const perMinute = 1_000;
  const servers = testServers();
  const [one, other] = limiters(perMinute, servers);
  const redis = new Redis(servers.redisUrl);
  onTestFinished(() => redis.disconnect());
  // Before Redis is connected each process counts alone.
  await eventually(async () => {
    await one.count("first");
    return redis.exists(`${servers.redisPrefix}:rate:first`);
  });
  await Promise.all(Array.from({ length: perMinute }, () => one.count("a")));
  let asked = 0;
  await eventually(async () => {
    asked += 1;
    return other.count("a").then(
      () => null,
      () => true,
    );
  });
  expect(asked).toBeLessThan(perMinute);
});

async function limited(perMinute: number): Promise<RunningApi> {
  const rateLimit = createRateLimit({ perMinute });
  const running = await startTestApi({ rateLimit, mcp: { hosts: [] } });
  onTestFinished(() => running.close());
  return running;
}

test("operations beyond the limit of a key are answered 429 with the time to wait; other keys are not delayed", async () => {
  const running = await limited(2);
  const [key, other] = [
    await bearer(running.store, ["operate", "read"]),
    await bearer(running.store, ["read"]),
  ];
  const ask = (headers?: { authorization: string }) =>
    running.graphql("{ getAvailableTools { name } }", {}, headers);
  expect([(await ask(key)).status, (await ask(key)).status]).toEqual([200, 200]);
  const refused = await ask(key);
  expect(refused).toMatchObject({
    status: 429,
    body: {
      errors: [{ extensions: { code: "RATE_LIMITED", retryable: true, retryAfterMs: expect.any(Number) } }],
    },
  });
  const seconds = Number(refused.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  expect((await ask(other)).status).toBe(200);
  // Calls without a credential, and health checks, are not counted.
  for (let asked = 0; asked < 5; asked += 1) expect((await ask()).status).toBe(200);
  for (const path of ["/healthz", "/readyz", "/metrics"]) {
    expect((await running.send(path, { headers: key })).status).toBe(200);
  }
});

test("every endpoint counts against the same limit, and is refused beyond it", async () => {
  const running = await limited(5);
  const key = await bearer(running.store, ["read", "execute"]);
  const submit = "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId } }";
  const query = "subscription ($id: ID!) { requestUpdated(requestId: $id) { status } }";
  const submitted = await running.graphql(submit, { plan: BLOG_PLAN }, key);
  const variables = { id: submitted.body.data.submitPlan.requestId };

  const client = webSocketClient(running.api.url, { connectionParams: key });
  const overSocket = async (): Promise<unknown> => {
    const states = client.iterate({ query, variables });
    try {
      return (await states.next()).value;
    } catch (errors) {
      return errors;
    } finally {
      await states.return?.();
    }
  };
  const post = (path: string, accept: string, message: object) =>
    running.send(path, {
      method: "POST",
      headers: { ...key, accept, "content-type": "application/json" },
      body: JSON.stringify(message),
    });
  const overEvents = (id: string) =>
    post("/graphql/stream", "text/event-stream", { query, variables: { id } });
  const overMcp = () =>
    post("/mcp", "application/json, text/event-stream", { jsonrpc: "2.0", id: 1, method: "tools/list" });

  // The second to the fifth of five.
  expect(await overSocket()).toMatchObject({ data: { requestUpdated: { status: "READY" } } });
  expect((await overEvents("req_1700000000_aaaaaaaaaaaaaaaaaaaa")).text).toContain("NOT_FOUND");
  expect((await overMcp()).text).toContain("create_plan");
  expect((await running.graphql("{ __typename }", {}, key)).status).toBe(200);

  expect(await overSocket()).toMatchObject([{ extensions: { code: "RATE_LIMITED", retryable: true } }]);
  for (const refused of [await overEvents(variables.id), await overMcp()]) {
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(refused.body.errors).toMatchObject([{ extensions: { code: "RATE_LIMITED" } }]);
  }
});
