import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { valueOfHeld } from "@planwright/plan";
import { bundledServices, testServers } from "@planwright/testing";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  createToolClients,
  parseServers,
  type ServerCatalogue,
  type ToolCall,
  type ToolClients,
} from "../src/index.ts";

const { resolve } = createRequire(import.meta.url);
const node = process.execPath;
const everythingMain = resolve("@modelcontextprotocol/server-everything/dist/index.js");
const filesystemMain = resolve("@modelcontextprotocol/server-filesystem/dist/index.js");
const blogMain = bundledServices("blog-tools")["blog-tools"];

let clients: ToolClients;
const call = (tool: string, args: ToolCall["arguments"] = {}, more: Partial<ToolCall> = {}) =>
  clients.callTool({ tool, arguments: args, timeoutMs: 60_000, ...more });

describe("third-party servers and blog-tools over stdio", () => {
  let folder: string;
  const catalogues: ServerCatalogue[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "real-"));
    const config = parseServers({
      mcpServers: {
        everything: { command: node, args: [everythingMain] },
        files: { command: node, args: [filesystemMain, folder] },
        files2: { command: node, args: [filesystemMain, folder], contracts: "known" },
        blog: {
          command: node,
          args: [blogMain, "--stdio"],
          env: { MONGODB_URL: testServers().mongodbUrl },
          trusted: true,
        },
      },
    });
    clients = createToolClients(config, {
      onCatalogue: (catalogue) => void catalogues.push(catalogue),
      startTimeoutMs: 60_000,
    });
    await clients.start();
  });
  afterAll(async () => {
    await clients.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("the reviewed contracts fit the pinned package, and only where the operator takes them", () => {
    const overrides = (server: string) =>
      clients.catalogue().flatMap((tool) => (tool.server === server && tool.override ? [tool.override] : []));
    expect(overrides("files")).toEqual([]);
    expect(overrides("files2").length).toBe(12);
    expect(overrides("files2").filter(({ side_effects }) => side_effects === false).length).toBe(10);
  });

  test("all tools are listed, with schemas and annotations", () => {
    expect(clients.status().map(({ server, state }) => [server, state])).toEqual([
      ["everything", "connected"],
      ["files", "connected"],
      ["files2", "connected"],
      ["blog", "connected"],
    ]);
    const tools = clients.catalogue();
    const echo = tools.find((tool) => tool.name === "echo");
    expect(echo).toMatchObject({ server: "everything", annotations: { readOnlyHint: true } });
    expect(tools.find((tool) => tool.name === "createAuthor")).toMatchObject({
      trusted: true,
      inputSchema: { required: ["name", "email"] },
      outputSchema: { type: "object" },
      _meta: { "x-orchestration": { idempotency: "key" } },
    });
  });

  test("each server's catalogue is published once, with the names on the server and digests", () => {
    expect(catalogues.map(({ server }) => server).toSorted()).toEqual([
      "blog",
      "everything",
      "files",
      "files2",
    ]);
    const blog = catalogues.find(({ server }) => server === "blog");
    expect(blog?.tools).toHaveLength(18);
    expect(blog?.tools[0]).toEqual({
      descriptor: expect.objectContaining({ name: "createAuthor", server: "blog" }),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("a name that two servers offer gets its server as a prefix", async () => {
    const names = clients.catalogue().map((tool) => tool.name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain("files/write_file");
    expect(names).toContain("files2/write_file");
    expect(names).not.toContain("write_file");
    const path = join(folder, "a.txt");
    expect(await call("files/write_file", { path, content: "hello" })).toMatchObject({ type: "completed" });
    expect(await readFile(path, "utf8")).toBe("hello");
    expect(await call("files2/read_text_file", { path })).toEqual({
      type: "completed",
      output: { content: "hello" },
    });
    expect(await call("write_file", { path, content: "x" })).toMatchObject({
      error: { code: "TOOL_NOT_FOUND" },
    });
  });

  test("a unique name may also be used with its server", async () => {
    expect(await call("everything/echo", { message: "hi" })).toEqual({
      type: "completed",
      output: "Echo: hi",
    });
    expect(await call("get-sum", { a: 2, b: 3 })).toMatchObject({ output: "The sum of 2 and 3 is 5." });
  });

  test("a refusal has the message of the tool", async () => {
    expect(await call("files/read_text_file", { path: "/etc/passwd" })).toMatchObject({
      type: "failed",
      effect: "reported",
      error: { code: "TOOL_FAILED", message: expect.stringContaining("outside allowed directories") },
    });
  });

  test("blog-tools answers, and refuses with a clear text", async () => {
    const author = { name: "Alice", email: "alice@example.com" };
    const first = await call("createAuthor", author, { idempotencyKey: "k" });
    expect(first).toMatchObject({ type: "completed", output: author });
    expect(await call("createAuthor", author, { idempotencyKey: "k" })).toEqual(first);
    expect(await call("createAuthor", author)).toMatchObject({
      error: { message: "An author with the email alice@example.com already exists" },
    });
  });

  test("arguments of any size arrive", async () => {
    const content = "0123456789".repeat(100_000);
    const path = join(folder, "large.txt");
    expect(await call("files/write_file", { path, content })).toMatchObject({ type: "completed" });
    const read = await call("files/read_text_file", { path });
    expect(read.type === "completed" && valueOfHeld(read.output)).toEqual({ content });
    await writeFile(path, "y".repeat(9 * 1_048_576));
    expect(await call("files/read_text_file", { path })).toMatchObject({
      error: { code: "TOOL_RESULT_TOO_LARGE" },
    });
  });
});

describe("a third-party server with sessions and event streams over HTTP", () => {
  let child: ChildProcess;
  let port: number;
  async function startEverything(): Promise<void> {
    child = spawn(node, [everythingMain, "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: "ignore",
    });
    await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/mcp`), { timeout: 20_000, interval: 50 });
  }
  beforeAll(async () => {
    port = await freePort();
    await startEverything();
    const config = parseServers({ mcpServers: { everything: { url: `http://127.0.0.1:${port}/mcp` } } });
    clients = createToolClients(config, { cancelGraceMs: 300 });
    await clients.start();
  });
  afterEach(() => vi.useRealTimers());
  afterAll(async () => {
    await clients.close();
    child.kill("SIGKILL");
  });

  test("tools are listed and called", async () => {
    expect(await call("echo", { message: "over SSE" })).toEqual({
      type: "completed",
      output: "Echo: over SSE",
    });
    const sums = await Promise.all(Array.from({ length: 64 }, (_, a) => call("get-sum", { a, b: 1 })));
    expect(sums.map((sum) => sum.type === "completed" && sum.output)).toEqual(
      Array.from({ length: 64 }, (_, a) => `The sum of ${a} and 1 is ${a + 1}.`),
    );
  });

  test("timeout and cancellation apply to calls whose answer is a stream", async () => {
    const long = { duration: 60, steps: 60 };
    expect(await call("trigger-long-running-operation", long, { timeoutMs: 300 })).toMatchObject({
      effect: "unknown",
      error: { code: "TOOL_TIMEOUT" },
    });
    const signal = AbortSignal.timeout(300);
    expect(await call("trigger-long-running-operation", long, { signal, timeoutMs: 60_000 })).toMatchObject({
      effect: "unknown",
      error: { code: "CANCELLED" },
    });
  });

  test("a stream that breaks is unknown long before the timeout; a new session is opened afterwards", async () => {
    const long = call("trigger-long-running-operation", { duration: 60, steps: 60 }, { timeoutMs: 600_000 });
    await call("echo", { message: "the long call is running by now" });
    child.kill("SIGKILL");
    expect(await long).toMatchObject({ effect: "unknown", error: { code: "TOOL_CONNECTION_LOST" } });
    await startEverything();
    await expect.poll(() => call("echo", { message: "again" })).toMatchObject({ output: "Echo: again" });
  });
});

test("a third-party server with only the older HTTP+SSE transport is called, and again after a restart", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/sse`;
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(node, [everythingMain, "sse"], {
      env: { ...process.env, PORT: String(port) },
      stdio: "ignore",
    });
    await vi.waitFor(async () => (await fetch(`http://127.0.0.1:${port}/`)).body?.cancel(), {
      timeout: 20_000,
      interval: 50,
    });
  };
  await start();
  onTestFinished(() => void child?.kill("SIGKILL"));
  clients = createToolClients(parseServers({ mcpServers: { everything: { url } } }), {
    startTimeoutMs: 60_000,
  });
  onTestFinished(() => clients.close());
  await clients.start();
  const sums = await Promise.all(Array.from({ length: 16 }, (_, a) => call("get-sum", { a, b: 1 })));
  expect(sums.map((sum) => sum.type === "completed" && sum.output)).toEqual(
    Array.from({ length: 16 }, (_, a) => `The sum of ${a} and 1 is ${a + 1}.`),
  );
  child?.kill("SIGKILL");
  await start();
  await expect.poll(() => call("echo", { message: "again" })).toMatchObject({ output: "Echo: again" });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === "object" && address !== null ? address.port : 0;
}
