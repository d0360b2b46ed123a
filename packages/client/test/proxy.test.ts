/** A client behind a proxy, whose service is gone for a moment or whose connections break. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createClient } from "../src/client.ts";
import { ApiUnreachableError, NotTheApiError } from "../src/errors.ts";
import { graphql } from "../src/schema/graphql.ts";
import { requestOf } from "./progress.ts";

const PAGE = "<html><body><h1>Bad Gateway</h1></body></html>";
const QUERY = graphql(`{ getAvailableTools { name } }`);

/** A server with this answer to each request; `count` says how many it got. */
async function serverWith(
  answer: (response: ServerResponse, request: IncomingMessage, times: number) => unknown,
) {
  let times = 0;
  const server = createServer((request, response) => {
    times += 1;
    void answer(response, request, times);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    count: () => times,
  };
}

test.each([502, 503, 504])(
  "a page with HTTP %i is no answer of the API, which may answer later",
  async (status) => {
    const { url } = await serverWith((response) => response.writeHead(status).end(PAGE));
    const called = createClient({ url }).execute(QUERY, {});
    await expect(called).rejects.toThrow(ApiUnreachableError);
    await expect(called).rejects.toThrow(`HTTP ${status}`);
  },
);

test("a page with HTTP 404 is that of another server", async () => {
  const { url } = await serverWith((response) => response.writeHead(404).end(PAGE));
  await expect(createClient({ url }).execute(QUERY, {})).rejects.toThrow(NotTheApiError);
});

test("a request that a proxy could not pass on is sent again with its key", async () => {
  const keys: unknown[] = [];
  const { url, count } = await serverWith(async (response, request, times) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString("utf8"));
    keys.push(body.variables.idempotencyKey);
    if (times === 1) return void response.writeHead(502, { "content-type": "text/html" }).end(PAGE);
    response.end(JSON.stringify({ data: { request: { requestId: "req_1" } } }));
  });
  expect(await createClient({ url }).submit("Create author Alice")).toBe("req_1");
  expect(count()).toBe(2);
  expect(new Set(keys).size).toBe(1);
});

test("a refused download that breaks off is a lost answer", async () => {
  const { url } = await serverWith((response) => {
    response.writeHead(404, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"errors":[');
    setTimeout(() => response.destroy(), 20);
  });
  await expect(createClient({ url }).download("plan_1/steps/a")).rejects.toThrow(ApiUnreachableError);
});

test("variables that are no JSON are the error of the caller, not of the API", async () => {
  const { url, count } = await serverWith((response) => response.end("{}"));
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  await expect(createClient({ url }).execute(QUERY, circular as never)).rejects.toThrow(TypeError);
  expect(count()).toBe(0);
});

test("a download is read in a browser whose streams cannot be iterated", async () => {
  const client = createClient({
    url: "http://127.0.0.1:1/graphql",
    async fetch() {
      const response = new Response('{"_id":"a1"}');
      Object.defineProperty(response.body, Symbol.asyncIterator, { value: undefined });
      return response;
    },
  });
  const parts: Uint8Array[] = [];
  for await (const part of await client.download("plan_1/steps/a")) parts.push(part);
  expect(Buffer.concat(parts).toString("utf8")).toBe('{"_id":"a1"}');
});

test("run reads its request again when the API is just being restarted", async () => {
  const request = requestOf({ status: "COMPLETED" });
  let lost = 0;
  const { url } = await serverWith(async (response, message) => {
    if (message.url !== "/graphql") return void response.writeHead(404).end();
    const { query } = JSON.parse(Buffer.concat(await message.toArray()).toString("utf8"));
    if (query.includes("diagnosis {") && (lost += 1) === 1) return void response.destroy();
    response.end(JSON.stringify({ data: { request } }));
  });
  expect(await createClient({ url }).run("List authors")).toMatchObject({ status: "COMPLETED" });
  expect(lost).toBe(2);
});
