/** Requests that are sent late, or a second time: after a cancel, after a token was renewed or a server redirected. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import {
  createToolClients,
  parseServers,
  type SignIn,
  type SignIns,
  type ToolClients,
} from "../src/index.ts";

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "vault", version: "1" },
  },
  "tools/list": { tools: [{ name: "pay", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "paid" }] },
};

/** Paths and tokens of the calls that reached the server. */
let calls: string[];
/** Answers a call instead of its result. */
let onCall: (request: IncomingMessage, response: ServerResponse) => boolean;
let url: string;

/** The open stream of the older transport; undefined while only streamable HTTP is offered. */
let stream: ServerResponse | undefined;
let isOlder: boolean;
/** The server keeps state for a connection. */
let hasSession: boolean;

function answer(body: string, request: IncomingMessage, response: ServerResponse): void {
  if (request.method === "GET" && isOlder) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("event: endpoint\ndata: /mcp\n\n");
    stream = response;
    return;
  }
  if (request.method !== "POST") return void response.writeHead(405).end();
  const { id, method } = JSON.parse(body);
  if (id === undefined) return void response.writeHead(202).end();
  if (method === "tools/call") {
    calls.push(`${request.url} ${request.headers.authorization}`);
    if (onCall(request, response)) return;
  }
  const result = RESULTS[method];
  const said = result ? { result } : { error: { code: -32_601, message: "no" } };
  const text = JSON.stringify({ jsonrpc: "2.0", id, ...said });
  if (stream) {
    response.writeHead(202).end();
    return void stream.write(`data: ${text}\n\n`);
  }
  const session = hasSession && { "mcp-session-id": "s" };
  response.writeHead(200, { "content-type": "application/json", ...session });
  response.end(text);
}

beforeEach(async () => {
  calls = [];
  onCall = () => false;
  stream = undefined;
  isOlder = false;
  hasSession = false;
  const server = createServer((request, response) => {
    text(request).then(
      (body) => answer(body, request, response),
      () => response.destroy(),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return () => {
    server.closeAllConnections();
    server.close();
  };
});

const tokens = (name: string) => ({
  access_token: name,
  refresh_token: "r",
  token_type: "Bearer",
  expires_in: 3_600,
});

async function start(signIns: Partial<SignIns>): Promise<ToolClients> {
  const vault = { url, auth: {}, ...(isOlder && { type: "sse" }) };
  const clients = createToolClients(parseServers({ mcpServers: { vault } }), {
    cancelGraceMs: 50,
    signIns: {
      redirectUrl: "http://planwright.test/sign-in/callback",
      fetch,
      read: async () => undefined,
      change: async (_server, work) => work(undefined),
      ...signIns,
    },
  });
  onTestFinished(() => clients.close());
  await clients.start();
  return clients;
}

test.each([
  ["streamable HTTP", false],
  ["the older transport", true],
])("over %s, a call that ended while its token was renewed is not sent later", async (_, older) => {
  isOlder = older;
  const signIn: SignIn = { url, tokens: tokens("old"), tokensEndAt: Date.now() + 3_600_000 };
  let endRenewal: (renewed: SignIn) => void = () => {};
  const renewal = new Promise<SignIn>((resolve) => {
    endRenewal = resolve;
  });
  const clients = await start({ read: async () => signIn, change: () => renewal });
  const call = { tool: "pay", arguments: {}, timeoutMs: 5_000 };
  // A call in progress keeps the connection open.
  let answerFirst = (): void => {};
  const isHeld = new Promise<void>((hold) => {
    onCall = (_request, response) => {
      answerFirst = () => void response.writeHead(403).end();
      hold();
      return true;
    };
  });
  const first = clients.callTool(call);
  await isHeld;
  onCall = () => false;
  signIn.tokensEndAt = Date.now() + 1_000;
  const cancelled = clients.callTool({ ...call, signal: AbortSignal.timeout(100) });
  expect(await clients.callTool({ ...call, timeoutMs: 200 })).toMatchObject({ effect: "none" });
  expect(await cancelled).toEqual({ type: "aborted" });
  endRenewal({ url, tokens: tokens("new"), tokensEndAt: Date.now() + 3_600_000 });
  expect(await clients.callTool(call)).toMatchObject({ type: "completed" });
  answerFirst();
  await first;
  expect(calls).toEqual(["/mcp Bearer old", "/mcp Bearer new"]);
});

test("a call that was refused, sent again with a new token, and lost may have acted", async () => {
  const signIn = { url, tokens: tokens("old") };
  const clients = await start({
    read: async () => signIn,
    change: async () => ({ url, tokens: tokens("new") }),
  });
  onCall = ({ headers, socket }, response) => {
    if (headers.authorization === "Bearer old") response.writeHead(401).end();
    else socket.destroy();
    return true;
  };
  const call = { tool: "pay", arguments: {}, timeoutMs: 5_000 };
  expect(await clients.callTool(call)).toMatchObject({ type: "failed", effect: "unknown" });
  expect(calls).toEqual(["/mcp Bearer old", "/mcp Bearer new"]);
});

test("a call that was refused while no other token can be had is made again later", async () => {
  const signIn = { url, tokens: tokens("old") };
  const clients = await start({
    read: async () => signIn,
    change: () => Promise.reject(new TypeError("the authorization server is away")),
  });
  onCall = (_request, response) => {
    response.writeHead(401).end();
    return true;
  };
  const call = { tool: "pay", arguments: {}, timeoutMs: 5_000 };
  expect(await clients.callTool(call)).toMatchObject({
    type: "failed",
    effect: "none",
    error: {
      code: "TOOL_UNREACHABLE",
      message:
        "Server vault cannot be reached: it refuses the token, and there is no other one: the authorization server is away",
      retryable: true,
    },
  });
});

test("a call that was redirected and then lost may have acted", async () => {
  const clients = await start({});
  onCall = (request, response) => {
    if (request.url === "/mcp") response.writeHead(307, { location: "/moved" }).end();
    else request.socket.destroy();
    return true;
  };
  const call = { tool: "pay", arguments: {}, timeoutMs: 5_000 };
  expect(await clients.callTool(call)).toMatchObject({ type: "failed", effect: "unknown" });
  expect(calls.map((line) => line.split(" ")[0])).toEqual(["/mcp", "/moved"]);
});

test("a call that is sent again because its session was lost has the rest of its time", async () => {
  hasSession = true;
  const clients = await start({});
  onCall = (_request, response) => {
    // The second one gets no answer.
    if (calls.length === 1) setTimeout(() => response.writeHead(404).end(), 1_000);
    return true;
  };
  const startedAt = performance.now();
  const call = { tool: "pay", arguments: {}, timeoutMs: 1_500 };
  expect(await clients.callTool(call)).toMatchObject({ effect: "unknown", error: { code: "TOOL_TIMEOUT" } });
  expect(performance.now() - startedAt).toBeLessThan(2_300);
  expect(calls).toHaveLength(2);
});

test("a call that is cancelled while it is cleared is not sent", async () => {
  const clients = await start({});
  const cancel = new AbortController();
  const outcome = await clients.callTool({
    tool: "pay",
    arguments: {},
    timeoutMs: 5_000,
    signal: cancel.signal,
    async beforeSend() {
      cancel.abort();
      return { type: "send", arguments: {} };
    },
  });
  expect(outcome).toEqual({ type: "aborted" });
  expect(calls).toEqual([]);
});

test("a call that is cancelled while it waits to be cleared ends at once", async () => {
  const clients = await start({});
  const outcome = await clients.callTool({
    tool: "pay",
    arguments: {},
    timeoutMs: 5_000,
    signal: AbortSignal.timeout(100),
    beforeSend: () => new Promise(() => {}),
  });
  expect(outcome).toEqual({ type: "aborted" });
  expect(calls).toEqual([]);
});
