/** The answers of the service on loopback to callers without a credential, on every endpoint. */
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { text as readText } from "node:stream/consumers";
import { testServers } from "@planwright/testing";
import { beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { startApi } from "./api-process.ts";

/** Headers that show that the caller may be on another machine. */
const SIGNS_OF_A_PROXY: Record<string, string>[] = [
  { forwarded: "for=203.0.113.7" },
  { "x-forwarded-for": "203.0.113.7" },
  { "x-forwarded-host": "planwright.example.org" },
  { "x-forwarded-proto": "https" },
  { "x-forwarded-port": "443" },
  { "x-forwarded-prefix": "/api" },
  { "x-forwarded-server": "proxy" },
  { "X-Forwarded-Client-Cert": "Hash=1" },
  { "x-real-ip": "203.0.113.7" },
  { "x-client-ip": "203.0.113.7" },
  { "cf-connecting-ip": "203.0.113.7" },
  { "true-client-ip": "203.0.113.7" },
  { via: "1.1 proxy" },
  { "x-forwarded-for": "" },
  { host: "planwright.example.org" },
  { host: "127.0.0.1.example.org" },
];
/** Invalid Host headers that a URL parser reads as 127.0.0.1. */
const NO_HOSTS = ["evil@127.0.0.1", "127.0.0.1/evil", "evil:1@127.0.0.1:4000", "127.0.0.1?evil"];

let url: string;
beforeAll(async () => {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const stop: (() => Promise<void>)[] = [];
  url = await startApi(
    { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: redisPrefix, MCP: "on" },
    (end) => void stop.push(end),
  );
  return async () => {
    for (const end of stop) await end();
  };
});

/** The status of one HTTP request; the headers are sent unchanged. */
async function statusOf(
  { path, method = "POST", body = "" }: { path: string; method?: string; body?: string },
  headers: Record<string, string>,
): Promise<number | undefined> {
  const accept = "application/json, text/event-stream";
  const sent = { "content-type": "application/json", accept, ...headers };
  const request = httpRequest(new URL(path, url), { method, headers: sent }).end(body);
  const [response] = await once(request, "response");
  if (response.statusCode === 200) response.destroy();
  else await readText(response);
  return response.statusCode;
}

const FOLLOW = JSON.stringify({ query: 'subscription { requestUpdated(requestId: "x") { status } }' });
const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const HTTP_WAYS = [
  { path: "/graphql", body: JSON.stringify({ query: "{ __typename }" }) },
  { path: "/graphql?query=%7B__typename%7D", method: "GET" },
  { path: "/graphql/stream", body: FOLLOW },
  { path: "/mcp", body: PING },
  { path: "/metrics", method: "GET" },
];

/** The close code of a WebSocket that sends no subscription, or "accepted". */
async function webSocketEnd(headers: Record<string, string>): Promise<number | "accepted"> {
  const socket = new WebSocket(url.replace("http:", "ws:"), "graphql-transport-ws", { headers });
  await once(socket, "open");
  socket.send('{"type":"connection_init"}');
  const closed = once(socket, "close").then(([code]) => Number(code));
  const accepted = once(socket, "message").then(() => "accepted" as const);
  const end = await Promise.race([closed, accepted]);
  socket.terminate();
  return end;
}

describe.each(HTTP_WAYS)("$path", (way) => {
  test("answers callers without a credential that use a host name of this machine", async () => {
    for (const host of ["127.0.0.1:4000", "localhost", "[::1]:4000"])
      expect([host, await statusOf(way, { host })]).toEqual([host, 200]);
  });

  test("refuses callers without a credential behind a proxy", async () => {
    for (const headers of SIGNS_OF_A_PROXY)
      expect([headers, await statusOf(way, headers)]).toEqual([headers, 401]);
  });

  test("refuses an invalid Host header", async () => {
    for (const host of NO_HOSTS) expect([host, await statusOf(way, { host })]).toEqual([host, 400]);
  });
});

describe("a WebSocket", () => {
  test("is accepted without a credential by a host name of this machine", async () => {
    expect(await webSocketEnd({ host: "localhost:4000" })).toBe("accepted");
  });

  test("is closed without a credential if a proxy forwards it, or the Host header is invalid", async () => {
    for (const headers of [...SIGNS_OF_A_PROXY, ...NO_HOSTS.map((host) => ({ host }))])
      expect([headers, await webSocketEnd(headers)]).toEqual([headers, 4401]);
  });

  test("is refused to a page of another origin", async () => {
    await expect(webSocketEnd({ origin: "https://evil.example.org" })).rejects.toThrow("403");
  });
});

test("a page of another origin gets no readable answer, and cannot change anything", async () => {
  const origin = "https://evil.example.org";
  const [, , , mcp] = HTTP_WAYS;
  expect(await statusOf(mcp ?? { path: "/mcp" }, { origin })).toBe(403);
  const simple = { origin, "content-type": "text/plain" };
  expect(await statusOf({ path: "/graphql", body: '{"query":"{__typename}"}' }, simple)).toBe(415);
  const preflight = await fetch(url, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST" },
  });
  expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
});
