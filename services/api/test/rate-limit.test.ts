import { testServers } from "@planwright/testing";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { createRateLimit } from "../src/load/rate-limit.ts";
import { bearer } from "./keys.ts";
import { type RunningApi, startTestApi } from "./running-api.ts";
import { eventually } from "./workers.ts";

/** Two processes of the service, as far as counting goes, with one Redis between them. */
function limiters(perMinute: number, servers: { redisUrl: string; redisPrefix: string }) {
  const redis = { url: servers.redisUrl, prefix: servers.redisPrefix };
  const both = [createRateLimit({ perMinute, redis }), createRateLimit({ perMinute, redis })] as const;
  onTestFinished(() => {
    for (const limit of both) limit.close();
  });
  return both;
}

const isRefused = (error: unknown) => expect(error).toMatchObject({ code: "RATE_LIMITED", retryable: true });

test("a process counts at once and exactly, whether Redis is there or not", async () => {
  const servers = testServers();
  for (const redisUrl of [servers.redisUrl, "redis://127.0.0.1:1"]) {
    const [limit] = limiters(3, { ...servers, redisUrl });
    for (let asked = 0; asked < 3; asked += 1) await limit.count("a");
    await limit.count("a").then(() => expect.fail("one too many"), isRefused);
    await limit.count("b");
  }
});

test("what is asked of one process counts at the others", async () => {
  const perMinute = 1_000;
  const servers = testServers();
  const [one, other] = limiters(perMinute, servers);
  const redis = new Redis(servers.redisUrl);
  onTestFinished(() => redis.disconnect());
  // Before Redis is reached everybody counts alone.
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
  const running = await startTestApi({ rateLimit });
  onTestFinished(() => running.close());
  return running;
}

test("operations beyond the limit of a key are answered 429 with the time to wait; others are not held up", async () => {
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
  // Nobody is counted without a credential, nor for asking how the service is.
  for (let asked = 0; asked < 5; asked += 1) expect((await ask()).status).toBe(200);
  for (const path of ["/healthz", "/readyz", "/metrics"]) {
    expect((await running.send(path, { headers: key })).status).toBe(200);
  }
});
