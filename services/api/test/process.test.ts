import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { freePort } from "@planwright/local";
import { createStore } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { addressOf, startApiProcess } from "./api-process.ts";
import { bearer } from "./keys.ts";

/** Parsed JSON, of any shape: what a test reads of it, it checks. */
async function post(
  url: string,
  query: string,
  headers: Record<string, string> = {},
): Promise<ReturnType<typeof JSON.parse>> {
  const body = JSON.stringify({ query });
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return response.json();
}

test("the service starts, answers, and ends with code 0 on SIGTERM", async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const child = startApiProcess({ MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: redisPrefix });
  const url = await addressOf(child);
  expect(new URL(url).hostname).toBe("127.0.0.1");
  expect((await fetch(new URL("/readyz", url))).status).toBe(200);
  const answer = await post(url, 'mutation { createPlan(query: "x") { status } }');
  expect(answer).toEqual({ data: { createPlan: { status: "PLANNING" } } });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("PORTS answers the same at several ports", async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const [first, second] = [await freePort(), await freePort()];
  const child = startApiProcess({
    MONGODB_URL: mongodbUrl,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: redisPrefix,
    PORTS: `${first}, ${second}`,
  });
  expect(await addressOf(child)).toBe(`http://127.0.0.1:${first}/graphql`);
  const planned = await post(
    `http://127.0.0.1:${first}/graphql`,
    'mutation { createPlan(query: "x", execute: false) { requestId } }',
  );
  const { requestId } = planned.data.createPlan;
  const query = `{ request(requestId: "${requestId}") { status } }`;
  expect(await post(`http://127.0.0.1:${second}/graphql`, query)).toEqual({
    data: { request: { status: "PLANNING" } },
  });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("without Redis the service starts, accepts work, and ends in order", async () => {
  const { mongodbUrl } = testServers();
  const child = startApiProcess({ MONGODB_URL: mongodbUrl, REDIS_URL: "redis://127.0.0.1:1" });
  const url = await addressOf(child);
  const answer = await post(url, 'mutation { createPlan(query: "x") { status } }');
  expect(answer).toEqual({ data: { createPlan: { status: "PLANNING" } } });
  expect((await fetch(new URL("/readyz", url))).status).toBe(200);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("open to other machines, it answers those alone who have a key, and keeps the schema to itself", async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const child = startApiProcess({
    MONGODB_URL: mongodbUrl,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: redisPrefix,
    HOST: "0.0.0.0",
    REQUESTS_PER_MINUTE: "3",
  });
  const url = (await addressOf(child)).replace("0.0.0.0", "127.0.0.1");
  expect(await post(url, "{ __typename }")).toMatchObject({
    errors: [{ extensions: { code: "UNAUTHENTICATED" } }],
  });
  const store = await createStore({ url: mongodbUrl });
  onTestFinished(() => store.close());
  const headers = await bearer(store, ["read"]);
  const schema = await post(url, "{ __schema { queryType { name } } }", headers);
  expect(schema).toMatchObject({ errors: [{ extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] });
  await post(url, "{ __typename }", headers);
  expect(await post(url, "{ __typename }", headers)).toEqual({ data: { __typename: "Query" } });
  const refused = await post(url, "{ __typename }", headers);
  expect(refused).toMatchObject({ errors: [{ extensions: { code: "RATE_LIMITED" } }] });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("wrong settings end the service, naming each of them", async () => {
  const child = startApiProcess({ PORT: "many", TENANT: "a b" });
  let said = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [code] = await once(child, "close");
  expect(code).not.toBe(0);
  for (const name of ["MONGODB_URL", "REDIS_URL", "PORT", "TENANT"]) expect(said).toContain(name);
});

test("headers that come slowly end after 10 s, and a body after 30 s", async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const child = startApiProcess({ MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: redisPrefix });
  const { port } = new URL(await addressOf(child));
  /** What is answered, and after how many seconds, to a client that never ends its request. */
  const answerTo = async (sent: string): Promise<{ answer: string; seconds: number }> => {
    const socket = connect(Number(port), "127.0.0.1");
    const startedAt = performance.now();
    socket.write(sent);
    const answer = await text(socket);
    return { answer, seconds: (performance.now() - startedAt) / 1_000 };
  };
  const head = "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
  const [headers, body] = await Promise.all([
    answerTo(head),
    answerTo(`${head}Content-Length: 100\r\n\r\n{"query":`),
  ]);
  expect(headers.answer).toMatch(/^HTTP\/1\.1 408 .*did not arrive in time/s);
  expect(body.answer).toMatch(/^HTTP\/1\.1 408 .*did not arrive in time/s);
  expect([headers.seconds < 15, body.seconds > 29, body.seconds < 35]).toEqual([true, true, true]);
});
