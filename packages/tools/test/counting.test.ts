import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BehaviourInput,
  type CountingToolServer,
  readLedger,
  startCountingToolServer,
} from "@planwright/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Clearance,
  createToolClients,
  parseServers,
  type ToolCall,
  type ToolClients,
} from "../src/index.ts";

let folder: string;
let ledgerFile: string;
let server: CountingToolServer;
let clients: ToolClients;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tools-"));
  ledgerFile = join(folder, "effects.jsonl");
  server = await startCountingToolServer({ ledgerFile });
  clients = createToolClients(parseServers({ mcpServers: { counting: { url: server.url } } }), {
    maxOutputBytes: 100_000,
  });
  await clients.start();
});
afterEach(async () => {
  await clients.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** With a long timeout; a test about timeouts sets a shorter one. */
const call = (tool: string, args: ToolCall["arguments"] = {}, more: Partial<ToolCall> = {}) =>
  clients.callTool({ tool, arguments: args, timeoutMs: 60_000, ...more });
const effects = async () => (await readLedger(ledgerFile)).length;

test("a call returns the output of the tool, and sends key and trace in its _meta", async () => {
  const meta = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
  const outcome = await call("keyed_effect", { value: { deep: [1] } }, { idempotencyKey: "k1", meta });
  expect(outcome).toEqual({
    type: "completed",
    output: { tool: "keyed_effect", effect: 1, value: { deep: [1] } },
  });
  const [entry] = await readLedger(ledgerFile);
  expect(entry).toMatchObject({ key: "k1", meta: { "dev.planwright/idempotencyKey": "k1", ...meta } });
});

describe("the outcome of a call", () => {
  const outcomes: [string, BehaviourInput, object, number][] = [
    [
      "a tool's own error is reported",
      { type: "tool-error", message: "no such author" },
      { effect: "reported", error: { code: "TOOL_FAILED", message: "no such author", retryable: false } },
      0,
    ],
    [
      "an answer lost after the effect is unknown",
      { type: "lose-answer" },
      { effect: "unknown", error: { code: "TOOL_CONNECTION_LOST", retryable: true } },
      1,
    ],
    [
      "a connection reset before the effect is unknown, because the caller cannot know",
      { type: "reset" },
      { effect: "unknown", error: { code: "TOOL_CONNECTION_LOST", retryable: true } },
      0,
    ],
    [
      "429 is no effect, with the time to wait",
      { type: "status", status: 429, retryAfterSeconds: 7 },
      { effect: "none", error: { code: "TOOL_RATE_LIMITED", retryable: true }, retryAfterMs: 7_000 },
      0,
    ],
    [
      "401 is no effect and terminal",
      { type: "status", status: 401 },
      { effect: "none", error: { code: "TOOL_UNAUTHORIZED", retryable: false } },
      0,
    ],
    [
      "403 is no effect and terminal",
      { type: "status", status: 403 },
      { effect: "none", error: { code: "TOOL_UNAUTHORIZED", retryable: false } },
      0,
    ],
    [
      "404 is no effect: the session or endpoint is gone",
      { type: "status", status: 404 },
      { effect: "none", error: { code: "TOOL_UNREACHABLE", retryable: true } },
      0,
    ],
    [
      "400 is no effect and terminal",
      { type: "status", status: 400 },
      { effect: "none", error: { code: "TOOL_FAILED", retryable: false } },
      0,
    ],
    [
      "500 is unknown",
      { type: "status", status: 500 },
      { effect: "unknown", error: { code: "TOOL_CONNECTION_LOST", retryable: true } },
      0,
    ],
    [
      "503 is unknown, with the time to wait",
      { type: "status", status: 503, retryAfterSeconds: 1 },
      { effect: "unknown", error: { code: "TOOL_CONNECTION_LOST", retryable: true }, retryAfterMs: 1_000 },
      0,
    ],
    [
      "an error reported after the effect is reported",
      { type: "error-after-effect" },
      { effect: "reported", error: { code: "TOOL_FAILED", retryable: false } },
      1,
    ],
    [
      "an internal error of the server is unknown: it may have come after the effect",
      { type: "protocol-error", code: -32_603 },
      { effect: "unknown", error: { code: "TOOL_FAILED", retryable: true } },
      0,
    ],
    [
      "another JSON-RPC error is reported",
      { type: "protocol-error", code: -32_042 },
      { effect: "reported", error: { code: "TOOL_FAILED", retryable: false } },
      0,
    ],
    [
      "a JSON-RPC error that means that the call was not processed is no effect",
      { type: "protocol-error", code: -32_600 },
      { effect: "none", error: { code: "TOOL_FAILED", retryable: false } },
      0,
    ],
    [
      "an answer that is not JSON is unknown",
      { type: "garbage" },
      { effect: "unknown", error: { code: "TOOL_RESULT_INVALID", retryable: true } },
      0,
    ],
    [
      "an output above the limit is reported: the tool did its work",
      { type: "huge", bytes: 150_000 },
      { effect: "reported", error: { code: "TOOL_RESULT_TOO_LARGE", retryable: false } },
      1,
    ],
    [
      "an answer that is far too large is not read completely",
      { type: "huge", bytes: 50_000_000 },
      { effect: "reported", error: { code: "TOOL_RESULT_TOO_LARGE", retryable: false } },
      1,
    ],
  ];
  test.each(outcomes)("%s", async (_title, behaviour, expected, made) => {
    server.script({ plain_effect: [behaviour] });
    expect(await call("plain_effect", { value: 1 })).toMatchObject({ type: "failed", ...expected });
    expect(await effects()).toBe(made);
    expect(await call("noop", { value: 2 })).toMatchObject({ type: "completed" });
  });

  test("no answer in time is unknown, and the server is notified", async () => {
    server.script({ plain_effect: [{ type: "hang", effect: true }] });
    expect(await call("plain_effect", {}, { timeoutMs: 200 })).toMatchObject({
      type: "failed",
      effect: "unknown",
      error: { code: "TOOL_TIMEOUT", retryable: true },
    });
    expect(await effects()).toBe(1);
    await expect.poll(() => server.stats()["plain_effect"]).toMatchObject({ cancelled: 1, active: 0 });
  });

  test("the timeout of the server applies when it is shorter", async () => {
    const limited = createToolClients(
      parseServers({ mcpServers: { counting: { url: server.url, timeoutMs: 100 } } }),
    );
    await limited.start();
    const args = { latencyMs: 60_000 };
    const outcome = await limited.callTool({ tool: "noop", arguments: args, timeoutMs: 60_000 });
    expect(outcome).toMatchObject({
      error: { code: "TOOL_TIMEOUT", message: "noop: no answer within 100 ms" },
    });
    await limited.close();
  });

  test("a call cancelled before it is sent is aborted", async () => {
    const signal = AbortSignal.abort();
    expect(await call("plain_effect", {}, { signal })).toEqual({ type: "aborted" });
    expect(server.stats()["plain_effect"]).toBeUndefined();
  });

  test("a call without clearance is aborted; a call with clearance is sent, however long the clearance took", async () => {
    expect(await call("plain_effect", {}, { beforeSend: async () => ({ type: "aborted" }) })).toEqual({
      type: "aborted",
    });
    expect(server.stats()["plain_effect"]).toBeUndefined();
    const beforeSend = () =>
      new Promise<Clearance>((resolve) =>
        setTimeout(resolve, 300, { type: "send", arguments: { latencyMs: 20 } }),
      );
    const outcome = await call("plain_effect", { latencyMs: 20 }, { beforeSend, timeoutMs: 250 });
    expect(outcome).toMatchObject({ type: "completed" });
  });

  test("a call cancelled while it runs is unknown, and the server is notified", async () => {
    const controller = new AbortController();
    const outcome = call(
      "plain_effect",
      { latencyMs: 60_000 },
      { signal: controller.signal, timeoutMs: 60_000 },
    );
    await expect.poll(() => server.stats()["plain_effect"]?.active).toBe(1);
    controller.abort();
    expect(await outcome).toMatchObject({ type: "failed", effect: "unknown", error: { code: "CANCELLED" } });
    await expect.poll(() => server.stats()["plain_effect"]).toMatchObject({ cancelled: 1, active: 0 });
    expect(await effects()).toBe(0);
  });

  test("a call of a tool that no server offers has no effect", async () => {
    const expected = { type: "failed", effect: "none", error: { code: "TOOL_NOT_FOUND", retryable: false } };
    expect(await call("nope")).toMatchObject(expected);
    expect(await call("counting/nope")).toMatchObject(expected);
  });
});

test("64 calls at once run at once", async () => {
  // The first call is still running when a busy machine has sent the last one.
  const latencyMs = 4_000;
  const outcomes = await Promise.all(
    Array.from({ length: 64 }, (_, value) => call("read_value", { value, latencyMs }, { timeoutMs: 25_000 })),
  );
  expect(outcomes.map((outcome) => outcome.type === "completed" && outcome.output)).toEqual(
    Array.from({ length: 64 }, (_, value) => ({ tool: "read_value", value })),
  );
  expect(server.stats()["read_value"]?.maxConcurrency).toBe(64);
});

test("a call of a server that is down has no effect, and the server is used again when it is back", async () => {
  const { port } = server;
  await server.close();
  expect(await call("plain_effect", {}, { timeoutMs: 1_000 })).toMatchObject({ type: "failed" });
  const refused = await call("plain_effect", {}, { timeoutMs: 1_000 });
  expect(refused).toMatchObject({ effect: "none", error: { code: "TOOL_UNREACHABLE", retryable: true } });
  expect(clients.status()).toMatchObject([{ server: "counting", tools: 10, error: expect.any(String) }]);
  expect(clients.catalogue()).toHaveLength(10);

  server = await startCountingToolServer({ ledgerFile, port });
  await expect.poll(() => clients.status()).toMatchObject([{ state: "connected" }]);
  expect(await call("plain_effect")).toMatchObject({ type: "completed" });
});

test("a call makes a waiting connection try again", async () => {
  const { port } = server;
  await server.close();
  await call("noop");
  await expect.poll(() => clients.status()).toMatchObject([{ state: "waiting" }]);
  server = await startCountingToolServer({ ledgerFile, port });
  expect(await call("noop")).toMatchObject({ type: "completed" });
});

test("calls that run when the server dies are unknown", async () => {
  const calls = Array.from({ length: 8 }, () => call("plain_effect", { latencyMs: 60_000 }));
  await expect.poll(() => server.stats()["plain_effect"]?.active).toBe(8);
  await server.close();
  for (const outcome of await Promise.all(calls)) {
    expect(outcome).toMatchObject({ effect: "unknown", error: { code: "TOOL_CONNECTION_LOST" } });
  }
});

test("calls after close have no effect", async () => {
  await clients.close();
  expect(await call("noop")).toMatchObject({ effect: "none", error: { code: "TOOL_UNREACHABLE" } });
});
