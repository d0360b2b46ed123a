import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { countingToolServerCommand, eventually, readLedger, startCountingToolServer } from "../src/index.ts";

let folder: string;
let ledgerFile: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "counting-"));
  ledgerFile = join(folder, "effects.jsonl");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A call in the older form of MCP over HTTP, which needs no handshake with a stateless server. */
async function call(url: string, name: string, args: object, key?: string): Promise<Response> {
  const _meta = key === undefined ? {} : { "dev.planwright/idempotencyKey": key };
  return await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args, _meta },
    }),
  });
}

async function resultOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const data = text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "null");
  const { result } = JSON.parse(data) as { result: { structuredContent: unknown } };
  return result.structuredContent;
}

test("effects are in the ledger when the call is answered, with key and arguments", async () => {
  const server = await startCountingToolServer({ ledgerFile });
  const answer = await resultOf(await call(server.url, "plain_effect", { value: 7 }, "k1"));
  expect(answer).toEqual({ tool: "plain_effect", effect: 1, value: 7 });
  expect(await readLedger(ledgerFile)).toMatchObject([
    { tool: "plain_effect", key: "k1", arguments: { value: 7 }, effect: 1 },
  ]);
  await server.close();
});

test("a repeated key makes one effect, also at the same time and after a restart", async () => {
  const first = await startCountingToolServer({ ledgerFile });
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () =>
      resultOf(await call(first.url, "keyed_effect", { value: "a" }, "k")),
    ),
  );
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  await first.close();

  const second = await startCountingToolServer({ ledgerFile });
  expect(await resultOf(await call(second.url, "keyed_effect", { value: "a" }, "k"))).toEqual(answers[0]);
  expect(await readLedger(ledgerFile)).toHaveLength(1);
  expect(second.stats()["keyed_effect"]).toMatchObject({ calls: 1, effects: 0, repeats: 1 });
  await second.close();
});

test("an effect can be found by its reference", async () => {
  const server = await startCountingToolServer({ ledgerFile });
  expect(await resultOf(await call(server.url, "find_effect", { reference: "r" }))).toEqual({ found: false });
  await call(server.url, "looked_up_effect", { reference: "r", value: 1 });
  expect(await resultOf(await call(server.url, "find_effect", { reference: "r" }))).toEqual({
    found: true,
    result: { tool: "looked_up_effect", effect: 1, value: 1 },
  });
  await server.close();
});

test("scripted behaviours are used up one call at a time", async () => {
  const server = await startCountingToolServer({ ledgerFile });
  server.script({
    plain_effect: [
      { type: "status", status: 429, retryAfterSeconds: 3 },
      { type: "lose-answer" },
      { type: "reset" },
      { type: "tool-error", message: "no" },
      { type: "garbage" },
    ],
  });
  const limited = await call(server.url, "plain_effect", {});
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "3"]);
  await expect(call(server.url, "plain_effect", { value: "lost" }).then(resultOf)).rejects.toThrow();
  await expect(call(server.url, "plain_effect", { value: "cut" }).then(resultOf)).rejects.toThrow();
  expect(await (await call(server.url, "plain_effect", {})).text()).toContain('"isError":true');
  expect(await (await call(server.url, "plain_effect", {})).text()).toBe("{ this is not JSON");
  expect(await resultOf(await call(server.url, "plain_effect", { value: "last" }))).toMatchObject({
    effect: 2,
  });
  const values = (await server.ledger()).map((entry) => entry.arguments["value"]);
  expect(values).toEqual(["lost", "last"]);
  await server.close();
});

test("an answer may come later than its effect", async () => {
  const server = await startCountingToolServer({ ledgerFile });
  const late = { value: 1, answerAfterMs: 600_000 };
  const answer = call(server.url, "plain_effect", late)
    .then(resultOf)
    .catch(() => "none");
  await eventually(async () => (await server.ledger()).length === 1);
  await server.close();
  expect(await answer).toBe("none");
});

test("the maximum of concurrent calls of each tool is counted", async () => {
  const server = await startCountingToolServer({ ledgerFile });
  await Promise.all(
    Array.from({ length: 5 }, () => call(server.url, "limited_read", { latencyMs: 300 }).then(resultOf)),
  );
  expect(server.stats()["limited_read"]).toMatchObject({ calls: 5, active: 0, maxConcurrency: 5 });
  await server.close();
});

test("it runs as a separate process and receives scripts over HTTP", async () => {
  const { command, args } = countingToolServerCommand({ ledgerFile });
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const { url } = JSON.parse(line) as { url: string };
    const script = { plain_effect: [{ type: "crash" }] };
    await fetch(new URL("/script", url), { method: "POST", body: JSON.stringify(script) });
    await expect(call(url, "plain_effect", { value: "before the crash" }).then(resultOf)).rejects.toThrow();
    expect(await readLedger(ledgerFile)).toHaveLength(1);
  } finally {
    child.kill("SIGKILL");
  }
});
