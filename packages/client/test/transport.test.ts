import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { createClient } from "../src/client.ts";
import { graphql } from "../src/schema/graphql.ts";

const STATUS = graphql("query ($requestId: ID!) { request(requestId: $requestId) { status } }");
const CHANGES = graphql(
  "subscription ($requestId: ID!) { requestUpdated(requestId: $requestId) { status } }",
);

async function startServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("the server has no port");
  return `http://127.0.0.1:${address.port}/graphql`;
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

test("a stream that is left closes its connection, also when garbage was collected meanwhile", async () => {
  let isClosed = false;
  const url = await startServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('event: next\ndata: {"data":{"requestUpdated":{"status":"READY"}}}\n\n');
    response.on("close", () => {
      isClosed = true;
    });
  });
  const leaving = new AbortController();
  const client = createClient({ url, signal: new AbortController().signal });
  const events = client
    .subscribe(CHANGES, { requestId: "req_1" }, { signal: AbortSignal.any([leaving.signal]) })
    [Symbol.asyncIterator]();
  expect((await events.next()).value).toEqual({ requestUpdated: { status: "READY" } });
  const next = events.next();
  next.catch(() => undefined);
  // A turn of the event loop in between: what the answer still uses is free after it.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  leaving.abort();
  await expect.poll(() => isClosed, { timeout: 10_000 }).toBe(true);
  await expect(next).rejects.toThrow("aborted");
});

test("a redirect is not followed, so the token stays at its address", async () => {
  const paths: (string | undefined)[] = [];
  const url = await startServer((request, response) => {
    request.resume();
    paths.push(request.url);
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  const client = createClient({ url, token: "secret" });
  await expect(client.execute(STATUS, { requestId: "req_1" })).rejects.toMatchObject({
    code: "API_UNREACHABLE",
    message: expect.stringContaining("unexpected redirect"),
  });
  expect(paths).toEqual(["/graphql"]);
});
