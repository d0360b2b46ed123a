import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type BehaviourInput,
  bundledServices,
  countingToolServerCommand,
  readLedger,
} from "@planwright/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  createToolClients,
  parseServers,
  type ServerStatus,
  type ToolCall,
  type ToolClients,
} from "../src/index.ts";
import { plainTool } from "./changing-server.ts";

const main = bundledServices("counting-tools")["counting-tools"];
let folder: string;
let ledgerFile: string;
let clients: ToolClients;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tools-"));
  ledgerFile = join(folder, "effects.jsonl");
});
afterEach(async () => {
  await clients.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(plain_effect: BehaviourInput[] = [], more: object = {}): Promise<void> {
  const command = countingToolServerCommand({ main, ledgerFile, stdio: true, script: { plain_effect } });
  const config = parseServers({ mcpServers: { counting: { ...command, ...more } } });
  clients = createToolClients(config, {
    cancelGraceMs: 500,
    maxOutputBytes: 100_000,
    startTimeoutMs: 60_000,
  });
  await clients.start();
}

const call = (tool: string, args: ToolCall["arguments"] = {}, more: Partial<ToolCall> = {}) =>
  clients.callTool({ tool, arguments: args, timeoutMs: 10_000, ...more });

test("calls over stdio give outputs and carry the key", async () => {
  await start();
  const outcomes = await Promise.all(
    Array.from({ length: 64 }, (_, value) =>
      call("keyed_effect", { value }, { idempotencyKey: `k${value}` }),
    ),
  );
  expect(outcomes.every((outcome) => outcome.type === "completed")).toBe(true);
  const keys = (await readLedger(ledgerFile)).map((entry) => entry.key);
  expect(new Set(keys)).toEqual(new Set(Array.from({ length: 64 }, (_, value) => `k${value}`)));
});

test("calls that run when the process dies are unknown, and a new process is started", async () => {
  await start([{ type: "crash" }]);
  const [crashed, beside] = await Promise.all([call("plain_effect"), call("noop", { latencyMs: 60_000 })]);
  const lost = {
    type: "failed",
    effect: "unknown",
    error: { code: "TOOL_CONNECTION_LOST", retryable: true },
  };
  expect(crashed).toMatchObject(lost);
  expect(beside).toMatchObject(lost);
  expect(await readLedger(ledgerFile)).toHaveLength(1);
  expect(await call("noop", { value: "back" })).toMatchObject({ type: "completed" });
});

test("no answer in time is unknown", async () => {
  await start([{ type: "hang", effect: true }]);
  expect(await call("plain_effect", {}, { timeoutMs: 300 })).toMatchObject({
    effect: "unknown",
    error: { code: "TOOL_TIMEOUT" },
  });
  expect(await readLedger(ledgerFile)).toHaveLength(1);
});

test("a cancelled call that still finishes keeps its result", async () => {
  await start();
  const controller = new AbortController();
  // When the cancellation arrives, set_value has finished its wait and only has to write its effect, so it
  // still answers.
  const outcome = call("set_value", { value: 1 }, { signal: controller.signal });
  controller.abort();
  expect(["completed", "aborted"]).toContain((await outcome).type);
});

test("a cancelled call that does not finish is unknown after the grace period", async () => {
  await start();
  const controller = new AbortController();
  const outcome = call(
    "plain_effect",
    { latencyMs: 60_000 },
    { signal: controller.signal, timeoutMs: 60_000 },
  );
  await call("noop");
  controller.abort();
  expect(await outcome).toMatchObject({ effect: "unknown", error: { code: "CANCELLED" } });
  expect(await readLedger(ledgerFile)).toHaveLength(0);
});

test("an output above the limit is reported, and other calls are not affected", async () => {
  await start([{ type: "huge", bytes: 150_000 }]);
  const [huge, beside] = await Promise.all([call("plain_effect"), call("noop", { latencyMs: 300 })]);
  expect(huge).toMatchObject({ effect: "reported", error: { code: "TOOL_RESULT_TOO_LARGE" } });
  expect(beside).toMatchObject({ type: "completed" });
});

test("the process gets only the given variables and a few that describe its environment", async () => {
  vi.stubEnv("PLANWRIGHT_SECRET_CRM_KEY", "hidden");
  vi.stubEnv("NODE_OPTIONS", "--no-warnings");
  vi.stubEnv("LANG", "de_DE.UTF-8");
  vi.stubEnv("TZ", "Europe/Berlin");
  const print = `const seen = { ...process.env, PATH: undefined };
    process.stderr.write(JSON.stringify(seen) + '\\n', () => process.exit(1))`;
  const env = { GIVEN: "yes" };
  clients = createToolClients(
    parseServers({ mcpServers: { printer: { command: process.execPath, args: ["-e", print], env } } }),
  );
  await clients.start();
  const [status] = clients.status();
  const seen: unknown = JSON.parse(/\{.*\}/.exec(status?.stderrTail ?? "")?.[0] ?? "");
  expect(seen).toMatchObject({ GIVEN: "yes", LANG: "de_DE.UTF-8", TZ: "Europe/Berlin" });
  const known = ["GIVEN", "LANG", "TZ", "HOME", "USER", "LOGNAME", "SHELL", "TERM"];
  expect(Object.keys(Object(seen)).filter((name) => !known.includes(name))).toEqual([]);
  vi.unstubAllEnvs();
});

test("a character that a server writes to its standard error in two pieces is shown as it is", async () => {
  const print = `process.stderr.write(Buffer.from([0x63, 0x61, 0x66, 0xc3]));
    setTimeout(() => process.stderr.write(Buffer.from([0xa9]), () => process.exit(1)), 100)`;
  clients = createToolClients(
    parseServers({ mcpServers: { printer: { command: process.execPath, args: ["-e", print] } } }),
  );
  await clients.start();
  expect(clients.status()).toMatchObject([{ stderrTail: "café" }]);
});

test("a call that waits for a server when the connections are closed does not start it again", async () => {
  const file = join(folder, "starts");
  const print = `require("node:fs").appendFileSync(${JSON.stringify(file)}, "x"); process.exit(1)`;
  clients = createToolClients(
    parseServers({ mcpServers: { printer: { command: process.execPath, args: ["-e", print] } } }),
  );
  await clients.start();
  const waiting = clients.callTool({ tool: "t", server: "printer", arguments: {}, timeoutMs: 5_000 });
  await clients.close();
  expect(await waiting).toMatchObject({ effect: "none", error: { code: "TOOL_UNREACHABLE" } });
  expect(await readFile(file, "utf8")).toBe("x");
});

test("a server that cannot be started reports why, with its last output, and does not affect the others", async () => {
  const counting = countingToolServerCommand({ main, ledgerFile, stdio: true });
  const running = (script: string) => ({ command: process.execPath, args: ["-e", script] });
  const boom = running("console.error('\\x1b[31mno licence\\x1b[0m\\x07'); process.exit(3)");
  clients = createToolClients(
    parseServers({
      mcpServers: {
        missing: { command: "/does/not/exist" },
        elsewhere: { ...boom, cwd: "/does/not/exist" },
        boom,
        silent: running("process.exit(0)"),
        hangs: running("console.error('waiting for the database'); setInterval(() => {}, 1_000)"),
        refused: { url: "http://127.0.0.1:1/mcp" },
        off: { ...boom, disabled: true },
        counting,
      },
    }),
    { connectTimeoutMs: 10_000, startTimeoutMs: 60_000 },
  );
  await clients.start();
  expect(clients.status()).toMatchObject([
    { server: "missing", error: "its command /does/not/exist is not there" },
    { server: "elsewhere", error: "its folder /does/not/exist is not there" },
    { server: "boom", error: "its process ended before it answered", stderrTail: "no licence" },
    { server: "silent", error: "its process ended before it answered", stderrTail: undefined },
    { server: "hangs", error: "it gave no answer within 10 s", stderrTail: "waiting for the database" },
    { server: "refused", error: expect.stringContaining("ECONNREFUSED") },
    { server: "counting", state: "connected", tools: 10 },
  ]);
  expect(await call("noop")).toMatchObject({ type: "completed" });
});

test("no outcome contains the output of a server, and each change of its status is reported", async () => {
  const reported: ServerStatus[] = [];
  const boom = {
    command: process.execPath,
    args: ["-e", "console.error('token=hunter22'); process.exit(3)"],
  };
  clients = createToolClients(parseServers({ mcpServers: { boom } }), {
    onStatus: (status) => reported.push(status),
  });
  await clients.start();
  const outcome = await clients.callTool({ tool: "x", server: "boom", arguments: {}, timeoutMs: 1_000 });
  expect(outcome).toMatchObject({ effect: "none", error: { code: "TOOL_UNREACHABLE" } });
  expect(JSON.stringify(outcome)).not.toContain("hunter22");
  expect(reported.slice(0, 2)).toMatchObject([
    { server: "boom", state: "connecting" },
    { server: "boom", state: "waiting", stderrTail: "token=hunter22", nextAttemptAt: expect.any(Number) },
  ]);
});

/** A server whose tools are in a file, started with one tool that waits. */
async function startFromFile(): Promise<{ toolsFile: string; callsFile: string }> {
  const [toolsFile, callsFile] = [join(folder, "tools.json"), join(folder, "calls")];
  await writeFile(toolsFile, JSON.stringify([plainTool("wait")]));
  await writeFile(callsFile, "");
  const args = [fileURLToPath(new URL("file-tool-server.mjs", import.meta.url)), toolsFile, callsFile];
  const config = parseServers({ mcpServers: { file: { command: process.execPath, args } } });
  clients = createToolClients(config, { startTimeoutMs: 60_000 });
  await clients.start();
  return { toolsFile, callsFile };
}
const names = () => clients.catalogue().map(({ name }) => name);

test("a reloaded server has a new process with its tools of now, and a running call finishes on the earlier one", async () => {
  const { toolsFile, callsFile } = await startFromFile();
  const running = call("wait", {}, { timeoutMs: 60_000 });
  await expect.poll(() => readFile(callsFile, "utf8")).toBe("wait\n");
  await writeFile(toolsFile, JSON.stringify([plainTool("wait"), plainTool("added"), { name: "bare" }]));
  const reloads = await Promise.all([clients.reload("file"), clients.reload("file")]);
  expect(reloads).toEqual([{ type: "reloaded" }, { type: "reloaded" }]);
  expect(names()).toEqual(["wait", "added"]);
  expect(clients.status()).toMatchObject([{ state: "connected", leftOut: [{ tool: "bare" }] }]);
  expect(await call("added")).toEqual({ type: "completed", output: "added" });
  const next = call("wait", {}, { timeoutMs: 60_000 });
  await writeFile(`${callsFile}.go`, "");
  const [one, other] = [await running, await next];
  expect(one).toEqual({ type: "completed", output: expect.stringMatching(/^process \d+$/) });
  expect(other).toEqual({ type: "completed", output: expect.stringMatching(/^process \d+$/) });
  expect(one).not.toEqual(other);
});

test("a server that does not start again stays as it was, and what its process wrote is returned", async () => {
  const { toolsFile } = await startFromFile();
  await writeFile(toolsFile, "no JSON");
  expect(await clients.reload("file")).toEqual({
    type: "kept",
    reason: "its process ended before it answered",
    stderrTail: expect.stringContaining("SyntaxError"),
  });
  expect(clients.status()).toMatchObject([{ state: "connected", tools: 1 }]);
  await writeFile(toolsFile, JSON.stringify([plainTool("added")]));
  expect(await clients.reload("file")).toEqual({ type: "reloaded" });
  expect(names()).toEqual(["added"]);
  expect(await clients.reload("other")).toEqual({ type: "unknown" });
});

test("a server that could not be reached is tried at once when it is reloaded", async () => {
  const file = join(folder, "server.mjs");
  const config = parseServers({ mcpServers: { late: { command: process.execPath, args: [file] } } });
  clients = createToolClients(config, { startTimeoutMs: 60_000 });
  await clients.start();
  expect(await clients.reload("late")).toMatchObject({ type: "kept" });
  const server = new URL("file-tool-server.mjs", import.meta.url);
  await writeFile(join(folder, "tools.json"), JSON.stringify([plainTool("added")]));
  const values = JSON.stringify([join(folder, "tools.json"), join(folder, "calls")]);
  await writeFile(
    file,
    `process.argv.splice(2, 0, ...${values});\nawait import(${JSON.stringify(server.href)});`,
  );
  expect(await clients.reload("late")).toEqual({ type: "reloaded" });
  expect(names()).toEqual(["added"]);
});
