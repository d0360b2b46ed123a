import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { bundleWithCodeCache, testAndProof, testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineTool, type HttpToolServer, once, Refusal, serveHttp, type Tool } from "../src/index.ts";
import { effectsOf, shopTools } from "./shop-tools.ts";

const EFFECT = "dev.planwright/effect";
const KEY = "dev.planwright/idempotencyKey";
const UNKNOWN = (tool: string) => ({
  code: -32_603,
  message: expect.stringMatching(
    new RegExp(`${tool} failed for an internal reason; whether it changed anything is not known$`),
  ),
});

const OPEN = {
  code: -32_603,
  message: expect.stringMatching("call of orderOnceInMongo with this key has no answer; it may have acted$"),
};

const { mongodbUrl } = testServers();
const mongo = new MongoClient(mongodbUrl);
const db = mongo.db();
const effects = effectsOf(db);
const logged: { message: string; tool?: unknown; key?: unknown; error?: unknown }[] = [];
let folder: string;
let program: string;
let http: HttpToolServer;

beforeAll(async () => {
  const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "planwright-test-"));
  program = await bundleWithCodeCache(folder, fileURLToPath(new URL("shop-server.ts", import.meta.url)), []);
  http = await serve(shopTools(db));
});
afterAll(async () => {
  await http?.close();
  await mongo.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => void logged.splice(0));

const serve = (tools: readonly Tool[]) =>
  serveHttp(tools, {
    port: 0,
    name: "shop",
    version: "1.2.3",
    log: (message, facts) => void logged.push({ message, ...facts }),
  });

const NEWEST: ClientOptions = { versionNegotiation: { mode: "auto" } };

const toHttp = () => new StreamableHTTPClientTransport(new URL(http.url));
/** Starts the server as a process, as its first start or after a crash. */
const toStdio = (appName = "shop") =>
  new StdioClientTransport({
    command: process.execPath,
    args: [program],
    env: { MONGODB_URL: mongodbUrl, APP_NAME: appName },
    stderr: "ignore",
  });

async function connect(options: ClientOptions, transport: Transport): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(transport);
  return client;
}

async function forThisTest(transport: Transport): Promise<Client> {
  const client = await connect(NEWEST, transport);
  onTestFinished(() => client.close());
  return client;
}
const overHttp = () => forThisTest(toHttp());
const overStdio = (appName?: string) => forThisTest(toStdio(appName));

let keys = 0;
/** A key, and a product by which the effects of one test are counted. */
const unused = () => ({ key: `key-${++keys}`, product: `product-${keys}` });
const call = (client: Client, name: string, args: object, key?: string) =>
  client.callTool({ name, arguments: { ...args }, ...(key === undefined ? {} : { _meta: { [KEY]: key } }) });
const count = (product: string) => effects.countDocuments({ product });

const CLIENTS = [
  { transport: "HTTP", era: "newest", open: () => connect(NEWEST, toHttp()) },
  { transport: "HTTP", era: "older", open: () => connect({}, toHttp()) },
  { transport: "stdio", era: "newest", open: () => connect(NEWEST, toStdio()) },
  { transport: "stdio", era: "older", open: () => connect({}, toStdio()) },
];
const nameOf = ({ transport, era }: (typeof CLIENTS)[number]) => `${transport} ${era}`;

/** Each transport, and each protocol. `npm run proof` takes the others. */
for (const { cases, options } of testAndProof(CLIENTS, nameOf, ["HTTP newest", "stdio older"]))
  describe.each(cases)("over $transport, for a client of the $era protocol", options, ({ open }) => {
    let client: Client;
    beforeAll(async () => void (client = await open()));
    afterAll(() => client.close());

    test("an answer is structured, as text too, and holds what the output schema names", async () => {
      expect(await call(client, "stock", {})).toMatchObject({
        structuredContent: { product: "lamp", left: 3 },
        content: [{ type: "text", text: '{"product":"lamp","left":3}' }],
      });
      expect(await call(client, "stock", {})).not.toHaveProperty("isError", true);
    });

    test("a refusal says that nothing happened", async () => {
      const { product } = unused();
      expect(await call(client, "order", { product, fault: "refuse" })).toMatchObject({
        isError: true,
        content: [{ type: "text", text: "sold out" }],
        structuredContent: { product, left: 0 },
        _meta: { [EFFECT]: "none" },
      });
      expect(await count(product)).toBe(0);
    });

    test("another exception leaves open what happened, and tells nothing of the inside", async () => {
      const { product } = unused();
      const answer = call(client, "order", { product, fault: "throw" });
      await expect(answer).rejects.toMatchObject(UNKNOWN("order"));
      await expect(answer).rejects.not.toThrow(/hunter2|bank/);
      expect(await count(product)).toBe(1);
    });

    test.each([
      ["a field that is missing", {}, "product: is missing"],
      ["a field of another type", { product: 5 }, "product: "],
      ["a field that does not exist", { product: "lamp", colour: "red" }, "colour"],
    ])("input with %s is refused before anything happens", async (_what, args, text) => {
      const before = await effects.countDocuments();
      expect(await call(client, "order", args)).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(`^Invalid arguments for order: .*${text}`) }],
        _meta: { [EFFECT]: "none" },
      });
      expect(await effects.countDocuments()).toBe(before);
    });

    test("a tool that does not exist is a protocol error", async () => {
      await expect(call(client, "steal", {})).rejects.toMatchObject({ code: -32_602 });
    });
  });

test("the message of a refusal carries its mark, and that of an exception is a JSON-RPC error", async () => {
  const post = async (params: object): Promise<unknown> => {
    const response = await fetch(http.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params }),
    });
    return JSON.parse((await response.text()).replace(/^[\s\S]*^data: /m, ""));
  };
  const { product } = unused();
  expect(await post({ name: "order", arguments: { product, fault: "refuse" } })).toEqual({
    jsonrpc: "2.0",
    id: 7,
    result: {
      isError: true,
      content: [{ type: "text", text: "sold out" }],
      structuredContent: { product, left: 0 },
      _meta: { [EFFECT]: "none" },
    },
  });
  expect(await post({ name: "order", arguments: { product, fault: "throw" } })).toEqual({
    jsonrpc: "2.0",
    id: 7,
    error: {
      code: -32_603,
      message: "order failed for an internal reason; whether it changed anything is not known",
    },
  });
});

test("tools are listed with their schemas, their contracts, and the hints that follow from these", async () => {
  const { tools } = await (await overHttp()).listTools();
  const listed = Object.fromEntries(tools.map(({ name, ...tool }) => [name, tool]));
  expect(listed["stock"]).toMatchObject({
    title: "Stock",
    inputSchema: { type: "object", properties: { product: { default: "lamp" } } },
    outputSchema: { type: "object", required: ["product", "left"] },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    _meta: { "x-orchestration": { side_effects: false } },
  });
  expect(listed["orderOnce"]).toMatchObject({
    title: "orderOnce",
    annotations: { readOnlyHint: false, idempotentHint: false },
    _meta: { "x-orchestration": { mode: "parallel-safe", side_effects: true, idempotency: "key" } },
  });
  expect(listed["order"]).toMatchObject({ annotations: { title: "order" } });
  expect(listed["order"]?.annotations).not.toHaveProperty("readOnlyHint");
  expect(listed["order"]?._meta?.["x-orchestration"]).toBeUndefined();
});

test("an answer of another shape is sent as it is and logged: the call has acted", async () => {
  const client = await overHttp();
  const answered = client.request({ method: "tools/call", params: { name: "odd", arguments: {} } });
  expect(await answered).toMatchObject({ structuredContent: { left: "none" } });
  expect(logged).toMatchObject([{ message: "the answer does not fit the output schema", tool: "odd" }]);
});

test("the log has what a tool writes and what it throws, with the tool and the key", async () => {
  const { product, key } = unused();
  const client = await overHttp();
  await expect(call(client, "order", { product, fault: "throw" }, key)).rejects.toThrow();
  expect(logged).toEqual([
    { message: "acted", tool: "order", key, product },
    { message: "a tool failed", tool: "order", key, error: expect.objectContaining({ name: "TypeError" }) },
  ]);
});

test.each([
  ["too long", "k".repeat(513)],
  ["empty", ""],
  ["no text", 7],
])("an idempotency key that is %s is refused", async (_what, key) => {
  const client = await overHttp();
  const refused = client.callTool({
    name: "order",
    arguments: { product: "lamp" },
    _meta: { [KEY]: key },
  });
  expect(await refused).toMatchObject({ isError: true, _meta: { [EFFECT]: "none" } });
});

test("a cancelled call is told so by its signal", async () => {
  const { product } = unused();
  const client = await overHttp();
  const cancel = new AbortController();
  const answered = client.callTool(
    { name: "order", arguments: { product, fault: "wait" } },
    { signal: cancel.signal },
  );
  const cancelWhenActing = async () => {
    await expect.poll(() => count(product)).toBe(1);
    cancel.abort();
  };
  await Promise.all([expect(answered).rejects.toThrow(), cancelWhenActing()]);
  await expect.poll(() => logged.at(-1)).toMatchObject({ error: { message: "stopped" } });
});

test("at the deadline of the contract the signal is aborted", async () => {
  const { product } = unused();
  const answered = call(await overHttp(), "orderSoon", { product, fault: "wait" });
  await expect(answered).rejects.toMatchObject(UNKNOWN("orderSoon"));
});

test("two tools of one name are an error of the server", async () => {
  const tool = defineTool({
    name: "twice",
    description: "",
    input: z.object({}),
    output: z.object({}),
    run: () => {
      throw new Refusal("no");
    },
  });
  await expect(serve([tool, tool])).rejects.toThrow("same name");
});

describe.each(["orderOnce", "orderOnceInMongo", "orderInTransaction"])("%s", (name) => {
  test("acts once for a key, and answers its repeats with the first answer", async () => {
    const { product, key } = unused();
    const client = await overHttp();
    const first = await call(client, name, { product }, key);
    await call(client, "order", { product: "another" });
    expect(await call(client, name, { product }, key)).toEqual(first);
    expect(await count(product)).toBe(1);
  });

  test("acts once for concurrent calls with one key", async () => {
    const { product, key } = unused();
    const client = await overHttp();
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(client, name, { product }, key)));
    expect(new Set(answers.map(({ structuredContent }) => JSON.stringify(structuredContent))).size).toBe(1);
    expect(answers.every(({ isError }) => isError !== true)).toBe(true);
    expect(await count(product)).toBe(1);
  });

  test("acts for each call without a key, and for each key", async () => {
    const { product, key } = unused();
    const client = await overHttp();
    for (const each of [undefined, undefined, key, `${key}-other`])
      await call(client, name, { product }, each);
    expect(await count(product)).toBe(4);
  });

  test("keeps no refusal: its key is free", async () => {
    const { product, key } = unused();
    const client = await overHttp();
    const refused = await call(client, name, { product, fault: "refuse" }, key);
    expect(refused).toMatchObject({ isError: true, _meta: { [EFFECT]: "none" } });
    expect(await call(client, name, { product }, key)).not.toHaveProperty("isError", true);
    expect(await count(product)).toBe(1);
  });

  test("does not act for a key of a call with other arguments, and says that the other may have acted", async () => {
    const { product, key } = unused();
    const client = await overHttp();
    await call(client, name, { product }, key);
    await expect(call(client, name, { product: `${product}b` }, key)).rejects.toMatchObject({
      code: -32_603,
      message: expect.stringMatching(`used for another call of ${name}, which may have acted`),
    });
    expect(await count(`${product}b`)).toBe(0);
  });
});

describe.each(["orderOnceInMongo", "orderInTransaction"])("%s in several processes", (name) => {
  test("acts once for concurrent calls with one key", async () => {
    const { product, key } = unused();
    const clients = await Promise.all([overStdio(), overStdio(), overHttp()]);
    const answers = await Promise.all(
      [...clients, ...clients].map((client) => call(client, name, { product }, key)),
    );
    expect(new Set(answers.map(({ structuredContent }) => JSON.stringify(structuredContent))).size).toBe(1);
    expect(await count(product)).toBe(1);
  });

  test("answers a repeat after a restart with the first answer", async () => {
    const { product, key } = unused();
    const before = await overStdio();
    const first = await call(before, name, { product }, key);
    await before.close();
    expect(await call(await overStdio(), name, { product }, key)).toEqual(first);
    expect(await count(product)).toBe(1);
  });
});

describe("when the store of the answers fails at the end of a call", () => {
  const kept = {
    take: async () => undefined,
    settle: async () => Promise.reject(new TypeError("store down")),
  };
  const tool = defineTool({
    name: "buy",
    description: "Buys",
    input: z.object({ isSoldOut: z.boolean() }),
    output: z.object({}),
    run: once(kept, ({ isSoldOut }) => {
      if (isSoldOut) throw new Refusal("sold out");
      return {};
    }),
  });
  let server: HttpToolServer;
  let client: Client;
  beforeAll(async () => {
    server = await serve([tool]);
    client = await connect(NEWEST, new StreamableHTTPClientTransport(new URL(server.url)));
  });
  afterAll(async () => {
    await client.close();
    await server.close();
  });

  test("a call that has acted leaves open what happened", async () => {
    const answered = call(client, "buy", { isSoldOut: false }, "key");
    await expect(answered).rejects.toMatchObject(UNKNOWN("buy"));
  });

  test("a refusal stays a refusal, and the failure is logged", async () => {
    const refused = { isError: true, content: [{ text: "sold out" }], _meta: { [EFFECT]: "none" } };
    expect(await call(client, "buy", { isSoldOut: true }, "key")).toMatchObject(refused);
    expect(logged).toMatchObject([{ message: expect.stringMatching("still taken"), tool: "buy" }]);
  });
});

test("a crash between the effect and its answer leaves the key taken: no repeat acts, and each says that the effect is not known", async () => {
  const { product, key } = unused();
  const args = { product, fault: "die" };
  await expect(call(await overStdio(), "orderOnceInMongo", args, key)).rejects.toThrow();
  const after = await overStdio();
  await expect(call(after, "orderOnceInMongo", args, key)).rejects.toMatchObject(OPEN);
  expect(await count(product)).toBe(1);
});

test("an exception leaves the key taken: no repeat acts", async () => {
  const { product, key } = unused();
  const client = await overHttp();
  for (const error of [UNKNOWN("orderOnceInMongo"), OPEN]) {
    const answered = call(client, "orderOnceInMongo", { product, fault: "throw" }, key);
    await expect(answered).rejects.toMatchObject(error);
  }
  expect(logged.at(-1)).toMatchObject({ error: { name: "CallOpenError" } });
  expect(await count(product)).toBe(1);
});

test("a crash or an exception inside a transaction leaves nothing, and a repeat acts", async () => {
  const { product, key } = unused();
  const args = { product };
  const dying = await overStdio("dying");
  await expect(call(dying, "orderInTransaction", { ...args, fault: "die" }, key)).rejects.toThrow();
  await endSessionsOf("dying");
  const after = await overHttp();
  const failed = call(after, "orderInTransaction", { ...args, fault: "throw" }, key);
  await expect(failed).rejects.toMatchObject(UNKNOWN("orderInTransaction"));
  expect(await count(product)).toBe(0);
  expect(await call(after, "orderInTransaction", args, key)).not.toHaveProperty("isError", true);
  expect(await count(product)).toBe(1);
});

/** What MongoDB does by itself a minute after the crash of a client. */
async function endSessionsOf(appName: string): Promise<void> {
  const admin = mongo.db("admin");
  const sessions = await admin
    .aggregate([{ $currentOp: { allUsers: true, idleSessions: true } }, { $match: { appName } }])
    .toArray();
  const open = sessions.flatMap(({ lsid }) => (lsid === undefined ? [] : [{ lsid }]));
  expect(open.length).toBeGreaterThan(0);
  await admin.command({ killAllSessionsByPattern: open });
}
