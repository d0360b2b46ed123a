import { once } from "node:events";
import { connect } from "node:net";
import { freePort } from "@planwright/local";
import { createStore } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { addressOf, startApiProcess } from "./api-process.ts";
import { bearer } from "./keys.ts";

/** Parsed JSON of any shape: a test checks the parts that it reads. */
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

test("PORTS serves the same on several ports", async () => {
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

test("without Redis the service starts, accepts work, and shuts down cleanly", async () => {
  const { mongodbUrl } = testServers();
  const child = startApiProcess({ MONGODB_URL: mongodbUrl, REDIS_URL: "redis://127.0.0.1:1" });
  const url = await addressOf(child);
  const answer = await post(url, 'mutation { createPlan(query: "x") { status } }');
  expect(answer).toEqual({ data: { createPlan: { status: "PLANNING" } } });
  expect((await fetch(new URL("/readyz", url))).status).toBe(200);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("if other machines can reach the service, it answers only callers with a key, and hides the schema", async () => {
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
  const hidden = { extensions: { code: "GRAPHQL_VALIDATION_FAILED" } };
  // One for each field of the schema.
  expect(schema).toMatchObject({ errors: [hidden, hidden] });
  await post(url, "{ __typename }", headers);
  expect(await post(url, "{ __typename }", headers)).toEqual({ data: { __typename: "Query" } });
  const refused = await post(url, "{ __typename }", headers);
  expect(refused).toMatchObject({ errors: [{ extensions: { code: "RATE_LIMITED" } }] });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("wrong settings end the service with a message that names each of them", async () => {
  const child = startApiProcess({ PORT: "many", TENANT: "a b" });
  let output = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = await once(child, "close");
  expect(code).not.toBe(0);
  for (const name of ["MONGODB_URL", "REDIS_URL", "PORT", "TENANT"]) expect(output).toContain(name);
});

/**
 * A client that sends the last part of a request byte by byte, over 15 s.
 * @returns the answer, and whether the client had sent everything by then
 */
async function sendSlowly(port: number, first: string, last: string) {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  socket.write(first);
  let sent = 0;
  const pace = setInterval(() => {
    socket.write(last.slice(sent, sent + 1));
    sent += 1;
    if (sent >= last.length) clearInterval(pace);
  }, 15_000 / last.length);
  let answer = "";
  for await (const chunk of socket.setEncoding("utf8")) {
    answer += String(chunk);
    // An answer to a complete request leaves the connection open.
    if (answer.endsWith("}")) break;
  }
  clearInterval(pace);
  return { answer, isSent: sent >= last.length };
}

test("headers and bodies that arrive too slowly are answered with 408 before they are complete", async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const child = startApiProcess({
    MONGODB_URL: mongodbUrl,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: redisPrefix,
    REQUEST_TIMEOUT_MS: "1000",
  });
  const port = Number(new URL(await addressOf(child)).port);
  const body = '{"query":"{ __typename }"}'.padEnd(75);
  const head = [
    "POST /graphql HTTP/1.1",
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ].join("\r\n");
  const answers = await Promise.all([
    sendSlowly(port, `${head}\r\nX-Slow: `, `${"x".repeat(71)}\r\n\r\n`),
    sendSlowly(port, `${head}\r\n\r\n`, body),
  ]);
  const tooSlow = expect.stringMatching(/^HTTP\/1\.1 408 .*within 1 s and the complete request within 1 s/s);
  expect(answers).toEqual([
    { answer: tooSlow, isSent: false },
    { answer: tooSlow, isSent: false },
  ]);
});
