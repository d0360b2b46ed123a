/** Servers as they are: what bends the protocol, and is still understood or named. */
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { createToolClients, parseServers, type ToolClients, type ToolClientsOptions } from "../src/index.ts";
import {
  json,
  type Reaction,
  type SentMessage,
  startWildServer,
  usualAnswer,
  type WildBehaviour,
  type WildServer,
  wildProcess,
} from "./wild-server.ts";

/** Connects to one server, s. */
async function connected(entry: object, options: ToolClientsOptions = {}): Promise<ToolClients> {
  const clients = createToolClients(parseServers({ mcpServers: { s: entry } }), {
    startTimeoutMs: 60_000,
    connectTimeoutMs: 20_000,
    refreshMs: 600_000,
    maxListingAgeMs: 600_000,
    ...options,
  });
  onTestFinished(() => clients.close());
  await clients.start();
  return clients;
}

async function started(
  behaviour: WildBehaviour,
  { entry = {}, ...options }: ToolClientsOptions & { entry?: object } = {},
): Promise<{ clients: ToolClients; server: WildServer; methods: () => string[] }> {
  const server = await startWildServer(behaviour);
  onTestFinished(() => server.close());
  const clients = await connected({ url: server.url, ...entry }, options);
  return { clients, server, methods: () => server.seen.map(({ method }) => method) };
}

const call = (clients: ToolClients, timeoutMs = 20_000) =>
  clients.callTool({ tool: "t", server: "s", arguments: {}, timeoutMs });
const DONE = { type: "completed", output: "done" };
const names = (clients: ToolClients) => clients.catalogue().map(({ name }) => name);

const info = { name: "wild", version: "1" };
const schema = { type: "object" };

/** What a server writes in place of its usual answer, `${ID}` being the id of the request. */
const forms: [string, string, string][] = [
  [
    "a cursor that is null",
    "tools/list",
    result({ tools: [{ name: "t", inputSchema: schema }], nextCursor: null }),
  ],
  [
    "null in every field of a tool",
    "tools/list",
    result({
      tools: [
        {
          name: "t",
          title: null,
          description: null,
          inputSchema: schema,
          outputSchema: null,
          annotations: null,
          icons: null,
          execution: null,
          _meta: null,
        },
      ],
      _meta: null,
    }),
  ],
  [
    "null in the annotations of a tool",
    "tools/list",
    result({ tools: [{ name: "t", inputSchema: schema, annotations: { title: null, readOnlyHint: null } }] }),
  ],
  [
    "null in the handshake",
    "initialize",
    result({
      protocolVersion: "2025-06-18",
      capabilities: { tools: { listChanged: null }, prompts: null, logging: null, experimental: null },
      serverInfo: { ...info, title: null, icons: null, websiteUrl: null },
      instructions: null,
      _meta: null,
    }),
  ],
  [
    "a handshake that declares no tools",
    "initialize",
    result({ protocolVersion: "2025-06-18", capabilities: { tools: null }, serverInfo: info }),
  ],
  [
    "a handshake without capabilities and names",
    "initialize",
    result({ protocolVersion: "2025-06-18", capabilities: null, serverInfo: null }),
  ],
  [
    "an error that is null beside the result",
    "tools/list",
    `{"jsonrpc":"2.0","id":\${ID},"result":{"tools":[{"name":"t","inputSchema":{}}]},"error":null}`,
  ],
  [
    "an error that is empty beside the result",
    "tools/list",
    `{"jsonrpc":"2.0","id":\${ID},"result":{"tools":[{"name":"t","inputSchema":{}}]},"error":{}}`,
  ],
  ["no jsonrpc", "tools/list", `{"id":\${ID},"result":{"tools":[{"name":"t","inputSchema":{}}]}}`],
  [
    "fields that the protocol does not know",
    "tools/list",
    `{"jsonrpc":"2.0","id":\${ID},"time":3,"result":{"tools":[{"name":"t","inputSchema":{}}]}}`,
  ],
  [
    "a list of messages",
    "tools/list",
    `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":null,"data":null}},{"jsonrpc":"2.0","id":\${ID},"result":{"tools":[{"name":"t","inputSchema":{}}]}}]`,
  ],
  [
    "an id that is null",
    "tools/list",
    `{"jsonrpc":"2.0","id":null,"result":{"tools":[{"name":"t","inputSchema":{}}]}}`,
  ],
  [
    "an id that is a text",
    "tools/list",
    `{"jsonrpc":"2.0","id":"\${ID}","result":{"tools":[{"name":"t","inputSchema":{}}]}}`,
  ],
  [
    "null for the content of a call",
    "tools/call",
    result({ content: null, structuredContent: null, isError: null }),
  ],
  ["an empty cursor", "tools/list", result({ tools: [{ name: "t", inputSchema: schema }], nextCursor: "" })],
  [
    "the same cursor on each page",
    "tools/list",
    result({ tools: [{ name: "t", inputSchema: schema }], nextCursor: "7" }),
  ],
];

function result(value: object): string {
  return `{"jsonrpc":"2.0","id":\${ID},"result":${JSON.stringify(value)}}`;
}

/** `${DEEP 9}` is an object of 18 levels, and `${LISTS 9}` a list of 9. Self-contained: it also runs elsewhere. */
function expanded(text: string, id: unknown): string {
  const nested = (open: string, inner: string, close: string, levels: string) =>
    open.repeat(Number(levels)) + inner + close.repeat(Number(levels));
  return text
    .replaceAll("${ID}", String(id))
    .replace(/\$\{DEEP (\d+)\}/g, (_, levels) => nested('{"properties":{"a":', "{}", "}}", levels))
    .replace(/\$\{LISTS (\d+)\}/g, (_, levels) => nested("[", "", "]", levels));
}

/** Connects to a server that answers a method with this text. */
async function answering(how: string, method: string, text: string): Promise<ToolClients> {
  const react = (message: SentMessage): Reaction | undefined => {
    if (message.method !== method) return undefined;
    const body = expanded(text, message.id);
    return how === "stream"
      ? { headers: { "content-type": "text/event-stream" }, body: `event: message\ndata: ${body}\n\n` }
      : json(body);
  };
  return how === "stdio"
    ? connected(
        wildProcess(
          `print((message.method === ${JSON.stringify(method)}
            ? expanded(${JSON.stringify(text)}, message.id) : usual(message)) + "\\n");`,
          expanded.toString(),
        ),
      )
    : (await started({ react, isStream: how === "stream", isOlder: how === "older" })).clients;
}

const listed = (fields: string): [string, string] => [
  "tools/list",
  `{"jsonrpc":"2.0","id":\${ID},"result":{"tools":[{"name":"deep",${fields}},{"name":"t","inputSchema":{}}]}}`,
];
const answered = (fields: string): [string, string] => [
  "tools/call",
  `{"jsonrpc":"2.0","id":\${ID},${fields}}`,
];
const TOO_DEEP = {
  code: "TOOL_RESULT_TOO_LARGE",
  message: expect.stringMatching(/nested deeper than 64 levels/),
};

/** What is nested too deeply, and how the call of the tool `t` ends. */
const deep: [string, [string, string], object][] = [
  ["the schema of a tool", listed('"inputSchema":${DEEP N}'), DONE],
  ["a schema beside a null, which is removed", listed('"title":null,"inputSchema":${DEEP N}'), DONE],
  ["a schema beside an exact number", listed('"x":12345678901234567890,"inputSchema":${DEEP N}'), DONE],
  ["a type", listed('"inputSchema":{"type":${LISTS N}}'), DONE],
  ["a field of a tool", listed('"inputSchema":{},"other":${LISTS N}'), DONE],
  ["structured content", answered('"result":{"structuredContent":${DEEP N}}'), { error: TOO_DEEP }],
  ["a block", answered('"result":{"content":[${DEEP N}]}'), { error: TOO_DEEP }],
  ["a result that is a list", answered('"result":${LISTS N}'), { error: TOO_DEEP }],
  [
    "the data of an error",
    answered('"error":{"code":-32000,"message":"no","data":${DEEP N}}'),
    { error: { code: "TOOL_FAILED", message: "t: no", retryable: false } },
  ],
  ["the message of an error", answered('"error":{"message":${DEEP N}}'), { error: { code: "TOOL_FAILED" } }],
  ["an error that is a list", answered('"error":${LISTS N}'), { error: { code: "TOOL_FAILED" } }],
];

const TRANSPORTS = ["json", "stream", "older", "stdio"];
const TOO_MANY = [3_000, 100_000].flatMap((levels) => deep.map((each) => [levels, ...each] as const));
/** `npm test` takes each case over one transport, and each transport in turn; `npm run proof` the others. */
const PARTS = TRANSPORTS.flatMap((how, turn) =>
  [true, false].map((isTurn) => {
    const isOf = (_: unknown, index: number) => (index % TRANSPORTS.length === turn) === isTurn;
    const options = isTurn ? {} : { tags: ["proof"] };
    return { how, options, tooMany: TOO_MANY.filter(isOf), ofForms: forms.filter(isOf) };
  }),
);

describe.each(PARTS)("over $how", ({ how, options, tooMany, ofForms }) => {
  test.each(tooMany)(
    "%d levels of %s leave out the tool, or end the call by name, and the server stays connected",
    options,
    async (levels, _, [method, text], outcome) => {
      const clients = await answering(how, method, text.replace(" N}", ` ${levels}}`));
      expect(names(clients)).toEqual(["t"]);
      if (method === "tools/list") {
        const leftOut = [{ server: "s", tool: "deep", reason: "it is nested deeper than 64 levels" }];
        expect(clients.status()).toMatchObject([{ state: "connected", leftOut }]);
      }
      expect(await call(clients)).toMatchObject(outcome);
      expect(clients.status()).toMatchObject([{ state: "connected" }]);
    },
  );

  test.each(ofForms)("%s is understood", options, async (_, method, text) => {
    const clients = await answering(how, method, text);
    expect(clients.status()).toMatchObject([{ state: "connected" }]);
    expect(names(clients)).toEqual(["t"]);
    const output = method === "tools/call" ? null : "done";
    expect(await call(clients)).toMatchObject({ type: "completed", output });
  });
});

test("pages end with an empty cursor, and with one that was given before", async () => {
  const cursors = ["a", "b", "a", "b"];
  const { clients, methods } = await started({
    react: (message, seen) => {
      if (message.method !== "tools/list") return undefined;
      const page = seen.filter(({ method }) => method === "tools/list").length - 1;
      return json({ ...usualAnswer(message), result: { tools: [], nextCursor: cursors[page] } });
    },
  });
  expect(clients.status()).toMatchObject([{ state: "connected" }]);
  expect(methods().filter((method) => method === "tools/list")).toHaveLength(3);
});

const probes: [string, Reaction][] = [
  ["401", json({ error: "unauthorized" }, { status: 401 })],
  ["403", json({ error: "forbidden" }, { status: 403 })],
  ["404", { status: 404, body: "Not Found" }],
  ["405", { status: 405 }],
  ["500", { status: 500, headers: { "content-type": "text/plain" }, body: "Internal Server Error" }],
  [
    "502 and a page",
    { status: 502, headers: { "content-type": "text/html" }, body: "<html>Bad gateway</html>" },
  ],
  ["a page", { headers: { "content-type": "text/html" }, body: "<!doctype html><p>Welcome</p>" }],
  ["an empty body", json("")],
  ["202 and nothing", { status: 202 }],
  ["text that is not JSON", json("ok")],
  ["JSON that is no message", json({ ok: true })],
  [
    "an error whose id is null",
    json({ jsonrpc: "2.0", id: null, error: { code: -32_600, message: "Missing ID" } }),
  ],
  ["an error of another id", json({ jsonrpc: "2.0", id: 0, error: { code: -32_600, message: "Bad" } })],
  [
    "an event stream that says nothing",
    { headers: { "content-type": "text/event-stream" }, body: ": hi\n\n" },
  ],
  ["an unknown encoding", json("abc", { headers: { "content-encoding": "zstd" } })],
  ["nothing at all", "silent"],
  ["the end of the connection", "close"],
];
test.each(probes)(
  "a server that answers the question for the newest revision with %s is connected",
  async (_, reaction) => {
    const { clients, methods } = await started({
      react: ({ method }) => (method === "server/discover" ? reaction : undefined),
    });
    expect(clients.status()).toMatchObject([{ state: "connected" }]);
    expect(methods().slice(0, 2)).toEqual(["server/discover", "initialize"]);
    expect(await call(clients)).toEqual(DONE);
  },
);

test("a server that ends at the question for the newest revision is connected when it is back", async () => {
  let crashes = 0;
  const { clients, methods } = await started({
    react: ({ method }, seen) => {
      if (method === "server/discover") {
        crashes += 1;
        return "close";
      }
      // As if the server had ended: the request after the question is not answered either.
      return seen.at(-2)?.method === "server/discover" ? "close" : undefined;
    },
  });
  await expect.poll(() => clients.status()).toMatchObject([{ state: "connected" }]);
  expect(crashes).toBe(1);
  expect(methods().slice(0, 3)).toEqual(["server/discover", "initialize", "initialize"]);
});

test("a server of the newest revision that never begins to report changes of its tools is connected", async () => {
  const complete = { resultType: "complete", ttlMs: 60_000, cacheScope: "private" };
  const capabilities = { tools: { listChanged: true } };
  const results: Record<string, object> = {
    "server/discover": { ...complete, supportedVersions: ["2026-07-28"], capabilities, serverInfo: info },
    "tools/list": { ...complete, tools: [{ name: "t", inputSchema: schema }] },
    "tools/call": { ...complete, content: [{ type: "text", text: "done" }] },
  };
  const { clients, methods } = await started(
    {
      react({ id, method }) {
        if (method === "subscriptions/listen") return "silent";
        const result = results[method];
        return result && json({ jsonrpc: "2.0", id, result });
      },
    },
    { connectTimeoutMs: 3_000 },
  );
  expect(methods()).toContain("subscriptions/listen");
  expect(clients.status()).toMatchObject([{ state: "connected", tools: 1 }]);
  expect(await call(clients)).toEqual(DONE);
});

test("a reason phrase with a control character ends no process", async () => {
  const refusing = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () =>
      socket.end("HTTP/1.1 400 No\u0001\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno"),
    );
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void refusing.close());
  const { port } = refusing.address() as AddressInfo;
  const clients = await connected({ url: `http://127.0.0.1:${port}/mcp` });
  expect(clients.status()).toMatchObject([{ state: "waiting", error: "it answered with HTTP 400: no" }]);
});

test("a server that refuses initialize is not connected, and its calls are unauthorized", async () => {
  const { clients } = await started({ react: () => json({ error: "unauthorized" }, { status: 401 }) });
  expect(clients.status()).toMatchObject([
    {
      state: "waiting",
      error: "it refuses access (HTTP 401); check the headers of this server in the servers file",
    },
  ]);
  expect(await call(clients)).toMatchObject({
    effect: "none",
    error: { code: "TOOL_UNAUTHORIZED", retryable: false },
  });
});

const encodings: [string, (text: string) => Buffer][] = [
  ["gzip", (text) => gzipSync(text)],
  ["x-gzip", (text) => gzipSync(text)],
  ["GZIP", (text) => gzipSync(text)],
  ["deflate", (text) => deflateSync(text)],
  ["deflate", (text) => deflateRawSync(text)],
  ["br", (text) => brotliCompressSync(text)],
  ["gzip, br", (text) => brotliCompressSync(gzipSync(text))],
  ["identity", (text) => Buffer.from(text)],
  ["UTF-8", (text) => Buffer.from(text)],
];
describe.each(["application/json", "text/event-stream"])("answers as %s", (type) => {
  test.each(encodings)("in the encoding %s are decoded", async (encoding, encode) => {
    const { clients, server } = await started({
      react: (message) => {
        if (message.id === undefined || message.method === "server/discover") return undefined;
        const text = JSON.stringify(usualAnswer(message));
        const body = encode(type === "application/json" ? text : `data: ${text}\n\n`);
        return { headers: { "content-type": type, "content-encoding": encoding }, body };
      },
    });
    expect(await call(clients)).toEqual(DONE);
    expect(new Set(server.seen.map(({ headers }) => headers["accept-encoding"]))).toEqual(
      new Set(["identity"]),
    );
  });
});

test("an answer without a content type is JSON also when its first piece is blank", async () => {
  const { clients } = await started({
    react: (message) =>
      message.method === "tools/call"
        ? { beginning: " \n", body: JSON.stringify(usualAnswer(message)) }
        : undefined,
  });
  expect(await call(clients)).toEqual(DONE);
});

const unreadable: [string, Reaction, object][] = [
  [
    "an unknown encoding is named",
    json("abc", { headers: { "content-encoding": "zstd" } }),
    { effect: "unknown", error: { code: "TOOL_RESULT_INVALID", message: expect.stringContaining('"zstd"') } },
  ],
  [
    "bytes in another encoding than they say show no bytes",
    json(gzipSync("{}").toString("latin1"), { headers: { "content-encoding": "br" } }),
    { error: { code: "TOOL_RESULT_INVALID", message: expect.stringContaining("cannot be decoded") } },
  ],
  [
    "bytes that are not JSON show no bytes",
    { headers: { "content-type": "application/json" }, body: gzipSync("{}") },
    { error: { code: "TOOL_RESULT_INVALID", message: "t: What the server sent is not JSON: (binary data)" } },
  ],
  [
    "an answer of a megabyte that becomes a gigabyte is not read to its end",
    {
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      body: gzipSync(Buffer.alloc(64_000_000)),
    },
    { effect: "reported", error: { code: "TOOL_RESULT_TOO_LARGE" } },
  ],
  [
    "a stream that grows when it is decoded is not read to its end",
    {
      headers: { "content-type": "text/event-stream", "content-encoding": "gzip" },
      body: gzipSync(Buffer.alloc(64_000_000, "data: a\n")),
    },
    { effect: "reported", error: { code: "TOOL_RESULT_TOO_LARGE" } },
  ],
  [
    "a page is named",
    json("<!DOCTYPE html><html></html>"),
    { error: { code: "TOOL_RESULT_INVALID", message: expect.stringContaining("is a web page, not JSON") } },
  ],
  [
    "an empty body is named",
    json(""),
    { error: { code: "TOOL_RESULT_INVALID", message: "t: What the server sent is empty" } },
  ],
  [
    "NaN in an event ends the call at once",
    {
      headers: { "content-type": "text/event-stream" },
      body: 'data: {"jsonrpc":"2.0","id":3,"result":{"content":[],"structuredContent":{"mean":NaN}}}\n\n',
    },
    { effect: "unknown", error: { code: "TOOL_RESULT_INVALID", message: expect.stringContaining("(NaN)") } },
  ],
];
test.each(unreadable)("as the answer of a call, %s", async (_, reaction, outcome) => {
  const { clients } = await started(
    { react: ({ method }) => (method === "tools/call" ? reaction : undefined) },
    { maxOutputBytes: 100_000 },
  );
  const answer = await call(clients);
  expect(answer).toMatchObject({ type: "failed", ...outcome });
  expect(JSON.stringify(answer)).not.toMatch(/\\u00|\uFFFD/);
});

const inSession = (message: SentMessage) =>
  json(usualAnswer(message), { headers: { "mcp-session-id": "a" } });
const lostSessions: [string, Reaction][] = [
  ["401", { status: 401, body: "Unauthorized: Session not found" }],
  ["404", { status: 404 }],
  ["410", { status: 410 }],
  ["422", { status: 422, body: "unknown session" }],
  ["400", { status: 400, body: "Bad Request: No valid session ID provided" }],
  ["503 and words", { status: 503, body: '{"error":{"code":-32000,"message":"Session not found"}}' }],
  ...[
    [-32_001, "Session not found"],
    [-32_001, "Session expired, please reinitialize"],
    [-32_000, "Bad Request: No valid session ID provided"],
    [-32_000, "Bad Request: Server not initialized"],
    [-32_600, "Session terminated"],
    [-32_004, 'Session "a-1" was not found'],
    [-32_000, "Bad Request: Mcp-Session-Id header is required"],
  ].map(([code, message]): [string, Reaction] => [
    `status 200 and the error ${code} ${message}`,
    json({ jsonrpc: "2.0", id: null, error: { code, message } }),
  ]),
];
test.each(lostSessions)(
  "a session that is lost with %s is opened again, and the call is made once",
  async (_, reaction) => {
    let executed = 0;
    const { clients, methods } = await started({
      react: (message, seen) => {
        if (message.method === "initialize") return inSession(message);
        if (message.method !== "tools/call") return undefined;
        if (seen.filter(({ method }) => method === "tools/call").length === 1) return reaction;
        executed += 1;
        return undefined;
      },
    });
    expect(await call(clients)).toEqual(DONE);
    expect(executed).toBe(1);
    expect(methods().filter((method) => method === "initialize")).toHaveLength(2);
  },
);

test.each([
  ["401", { status: 401 }, { effect: "none", error: { code: "TOOL_UNAUTHORIZED", retryable: false } }],
  ["422", { status: 422 }, { effect: "none", error: { code: "TOOL_FAILED", retryable: false } }],
])("in a new session too, %s is a refusal", async (_, reaction, outcome) => {
  const { clients, methods } = await started({
    react: (message) => {
      if (message.method === "initialize") return inSession(message);
      return message.method === "tools/call" ? reaction : undefined;
    },
  });
  expect(await call(clients)).toMatchObject(outcome);
  expect(methods().filter((method) => method === "tools/call")).toHaveLength(2);
});

test.each([
  ["the time of a request that ended", -32_001, "Request timed out", true],
  ["a session of the tool", -32_602, "Session not found", true],
  ["a session where the server keeps none", -32_001, "Session not found", false],
])("an error about %s is not a lost session", async (_, code, message, hasSession) => {
  const { clients, methods } = await started({
    react: (sent) => {
      if (sent.method === "initialize" && hasSession) return inSession(sent);
      if (sent.method !== "tools/call") return undefined;
      return json({ jsonrpc: "2.0", id: sent.id, error: { code, message } });
    },
  });
  expect(await call(clients)).toMatchObject({ type: "failed", error: { code: "TOOL_FAILED" } });
  expect(methods().filter((method) => method === "initialize")).toHaveLength(1);
});

test("a server without the older transport, of which the file says that it has it, is connected", async () => {
  const { clients } = await started({}, { entry: { type: "sse" } });
  expect(await call(clients)).toEqual(DONE);
});

test("an error without an id, such as about a notification, ends no call over stdio", async () => {
  const error = '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}';
  const clients = await connected(wildProcess(`print('${error}\\n' + usual(message) + '\\n');`));
  expect(await call(clients)).toEqual(DONE);
});

test.each([
  ["streamable HTTP", {}],
  ["the older transport", { isOlder: true }],
] as const)(
  "over %s, a refused answer to a question of the server says nothing about a call with the same id",
  async (_, transport) => {
    let lose = (): void => {};
    let calls = 0;
    const { clients, server } = await started({
      ...transport,
      react({ id, method }) {
        if (method === "tools/call") {
          calls += 1;
          const ping = JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
          if ("isOlder" in transport) return { body: ping };
          const headers = { "content-type": "text/event-stream" };
          return { headers, beginning: `data: ${ping}\n\n`, body: ": \n\n" };
        }
        if (method !== undefined) return undefined;
        // The answer to the question.
        setTimeout(() => lose(), 50);
        return { status: 404 };
      },
    });
    lose = () => server.breakStreams();
    expect(await call(clients)).toMatchObject({ effect: "unknown", error: { code: "TOOL_CONNECTION_LOST" } });
    expect(calls).toBe(1);
  },
);

describe("a server with only the older HTTP+SSE transport", () => {
  test.each([
    ["by itself", {}],
    ["as the file says", { type: "sse" }],
  ])("is connected %s", async (_, entry) => {
    const { clients, methods } = await started({ isOlder: true }, { entry });
    expect(clients.status()).toMatchObject([{ state: "connected", tools: 1 }]);
    expect(await Promise.all([call(clients), call(clients), call(clients)])).toEqual([DONE, DONE, DONE]);
    expect(methods().filter((method) => method === "tools/call")).toHaveLength(3);
  });

  test("is connected again after its stream broke, and the calls then are unknown", async () => {
    const { clients, server } = await started({
      isOlder: true,
      react: (message, seen) =>
        message.method === "tools/call" && seen.filter(({ method }) => method === "tools/call").length === 1
          ? { body: "[]" }
          : undefined,
    });
    const waiting = call(clients);
    await expect.poll(() => server.seen.at(-1)?.method).toBe("tools/call");
    server.breakStreams();
    expect(await waiting).toMatchObject({ effect: "unknown", error: { code: "TOOL_CONNECTION_LOST" } });
    expect(await call(clients)).toEqual(DONE);
  });

  test("is asked for its session again when it lost it", async () => {
    const { clients } = await started({
      isOlder: true,
      react: (message, seen) =>
        message.method === "tools/call" && seen.filter(({ method }) => method === "tools/call").length === 1
          ? { status: 404, body: "Could not find session" }
          : undefined,
    });
    expect(await call(clients)).toEqual(DONE);
  });
});

const FRAME = "print(`Content-Length: ${Buffer.byteLength(usual(message))}\\r\\n\\r\\n${usual(message)}`);";
const LINE = "print(usual(message) + '\\n');";
const readable: [string, string, string?][] = [
  ["a byte order mark", LINE, "print('\\uFEFF');"],
  ["frames with Content-Length", FRAME],
  [
    "frames with two headers, in pieces",
    "const text = `Content-Length: ${Buffer.byteLength(usual(message))}\\r\\nContent-Type: application/json\\r\\n\\r\\n${usual(message)}`; for (const one of text) print(one);",
  ],
  ["a greeting", LINE, "print('Server started on stdio\\n\\x1b[32mReady.\\x1b[0m\\n');"],
  ["text before a message in its line", "print('ready> ' + usual(message) + '\\n');"],
  ["messages that end no line", "print(usual(message));"],
  [
    "two messages in one write that end no line",
    "const text = usual(message); if (message.method !== 'tools/call') print(text); else if (globalThis.first) print(globalThis.first + text); else globalThis.first = text;",
  ],
  ["colours around a message", "print('\\x1b[2m' + usual(message) + '\\x1b[0m\\n');"],
  ["lines that end with a carriage return", "print(usual(message) + '\\r\\n');"],
  [
    "log lines between messages",
    "print('calling ' + message.method + '\\n{\"level\":\"info\",\"id\":' + message.id + '}\\n' + usual(message) + '\\n{ done: 1 }\\n');",
  ],
  [
    "a header of HTTP in a log",
    "print('Content-Length: 12\\r\\nServer: x\\r\\n\\r\\n' + usual(message) + '\\n');",
  ],
];
test.each(readable)("%s in the standard output of a server is understood", async (_, body, begin) => {
  const clients = await connected(wildProcess(body, begin), { connectTimeoutMs: 10_000 });
  expect(clients.status()).toMatchObject([{ state: "connected", tools: 1 }]);
  expect(await Promise.all([call(clients), call(clients)])).toEqual([DONE, DONE]);
});

const badLines: [string, string, string][] = [
  [
    "NaN",
    '{"jsonrpc":"2.0","id":${message.id},"result":{"content":[],"structuredContent":{"mean":NaN}}}',
    "(NaN)",
  ],
  [
    "its id at the end",
    '{"result":{"content":[],"structuredContent":{"id":1,"mean":-Infinity}},"jsonrpc":"2.0","id":${message.id}}',
    "(-Infinity)",
  ],
  ["half a message", '{"jsonrpc":"2.0","result":{"content":[{"type":"te', "is not JSON"],
  ["neither result nor error", '{"jsonrpc":"2.0","id":${message.id}}', "is not a JSON-RPC message"],
];
test.each(badLines)("a line with %s ends the call that waits for it at once", async (_, line, reason) => {
  const clients = await connected(
    wildProcess(`print((message.method === "tools/call" ? \`${line}\` : usual(message)) + "\\n");`),
  );
  // Not at the timeout, which is another error.
  expect(await call(clients, 30_000)).toMatchObject({
    effect: "unknown",
    error: { code: "TOOL_RESULT_INVALID", message: expect.stringContaining(reason) },
  });
});

test("an unreadable answer to initialize ends the attempt at once, and says what came", async () => {
  const clients = await connected(
    wildProcess(`print('{"jsonrpc":"2.0","id":' + message.id + ',"result":{"protocolVersion":None}}\\n');`),
  );
  expect(clients.status()).toMatchObject([
    { state: "waiting", error: expect.stringMatching(/is not JSON \(None\): \{"jsonrpc":"2.0","id":0/) },
  ]);
});

test("what a process writes instead of messages is shown to operators, and in no outcome", async () => {
  const clients = await connected(wildProcess("", "print('Listening on port 3000\\n');"), {
    connectTimeoutMs: 1_000,
  });
  expect(clients.status()).toMatchObject([
    { error: expect.stringMatching(/^it gave no answer within 1 s; .* it wrote: Listening on port 3000$/) },
  ]);
  const outcome = await call(clients, 100);
  expect(outcome).toMatchObject({ error: { code: "TOOL_UNREACHABLE" } });
  expect(JSON.stringify(outcome)).not.toContain("Listening");
});

test("no reason of a server that is not connected is a dump of a validator", async () => {
  const { clients } = await started({
    react: (message) =>
      message.method === "initialize"
        ? json({ jsonrpc: "2.0", id: message.id, result: { protocolVersion: 5 } })
        : undefined,
  });
  const [status] = clients.status();
  expect(status?.state).toBe("waiting");
  expect(status?.error).not.toMatch(/[[\]{}\n]|invalid_type/);
});

test("a stdio server runs in a folder of its own, or in its cwd", async () => {
  const serversFolder = mkdtempSync(join(tmpdir(), "wild-"));
  onTestFinished(() => rmSync(serversFolder, { recursive: true, force: true }));
  const begin =
    'require("node:fs").writeFileSync("left.txt", ""); RESULTS["tools/call"].content[0].text = process.cwd();';
  const own = await connected(wildProcess(LINE, begin), { serversFolder });
  expect(await call(own)).toEqual({ type: "completed", output: join(realpathSync(serversFolder), "s") });
  expect(existsSync(join(serversFolder, "s", "left.txt"))).toBe(true);
  const other = mkdtempSync(join(tmpdir(), "wild-"));
  onTestFinished(() => rmSync(other, { recursive: true, force: true }));
  const given = await connected({ ...wildProcess(LINE, begin), cwd: other }, { serversFolder });
  expect(await call(given)).toEqual({ type: "completed", output: realpathSync(other) });
});

test.runIf(process.platform === "linux")(
  "a folder that cannot be made is named, also below a folder of the system",
  async () => {
    const clients = await connected(wildProcess(LINE), { serversFolder: "/proc/x", startTimeoutMs: 2_000 });
    expect(clients.status()[0]?.error).toContain(
      "its folder /proc/x/s cannot be made (ENOENT); set DATA_DIR",
    );
  },
);

test("a file in place of the folder of a server is named", async () => {
  const serversFolder = mkdtempSync(join(tmpdir(), "wild-"));
  onTestFinished(() => rmSync(serversFolder, { recursive: true, force: true }));
  writeFileSync(join(serversFolder, "s"), "");
  const clients = await connected(wildProcess(LINE), { serversFolder, startTimeoutMs: 2_000 });
  expect(clients.status()[0]?.error).toContain("cannot be made (EEXIST); set DATA_DIR");
});
