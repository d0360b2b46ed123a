/** `npm start` and `planwright tools` report the servers that do not become ready. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../src/index.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const { MONGODB_URL: _mongodb, REDIS_URL: _redis, MODEL: _model, ...env } = process.env;
const runs = (script: string) => ({ command: process.execPath, args: ["-e", script] });

const MCP_SERVERS = {
  shop: { command: "/no/such/command" },
  mail: {
    ...runs("console.error('\\x1b[31mError: no licence for ' + process.env.MAIL_TOKEN); process.exit(3)"),
    env: { MAIL_TOKEN: "hunter22hunter" },
  },
  crm: runs("console.error('waiting for the database'); setInterval(() => {}, 1_000)"),
};

/** Runs `npm start` and returns its output up to `lastPart`. */
async function start(settings: NodeJS.ProcessEnv, lastPart: string) {
  const child = spawn("npm", ["start"], {
    cwd: ROOT,
    env: { ...env, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), "SIGTERM");
    await ended;
  });
  let printed = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    printed += String(chunk);
    if (printed.includes(lastPart)) break;
  }
  child.stdout.resume();
  return printed;
}

async function planwrightTools(port: number): Promise<string> {
  const child = spawn("npx", ["planwright", "tools"], {
    cwd: ROOT,
    env: { ...env, PLANWRIGHT_URL: `http://127.0.0.1:${port}/graphql` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return text(child.stdout);
}

test("servers that do not become ready are named with the reason and their last lines, and the start continues", async () => {
  const folder = mkdtempSync(join(tmpdir(), "planwright-missing-"));
  // npm has ended before the servers that it started, which write until then.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  const serversFile = join(folder, "mine.json");
  writeFileSync(serversFile, JSON.stringify({ mcpServers: MCP_SERVERS }));
  const port = await freePort();
  const settings = {
    DATA_DIR: join(folder, "data"),
    PORT: String(port),
    MCP_SERVERS_FILE: serversFile,
    CONNECT_TIMEOUT_MS: "3000",
  };
  const printed = await start(settings, "Ctrl-C stops everything");
  expect(printed).toContain("Tool servers that are not connected; each is tried again by itself:\n");
  expect(printed).toContain("\n  shop  its command /no/such/command is not there\n");
  expect(printed).toContain(
    "\n  mail  its process ended before it answered\n    | Error: no licence for [redacted]\n",
  );
  expect(printed).toMatch(/\n {2}crm {2}(has not answered yet|it gave no answer within 3 s)\n/);

  await expect
    .poll(() => planwrightTools(port), { timeout: 60_000, interval: 500 })
    .toMatch(/\n {2}crm {2}it gave no answer within 3 s, for .*\n {4}\| waiting for the database\n/);
  const listed = await planwrightTools(port);
  expect(listed).toContain("createBlog");
  expect(listed).toMatch(
    /\n {2}mail {2}its process ended before it answered, for .*\n {4}\| Error: no licence for \[redacted\]\n/,
  );
  expect(listed).toMatch(/\n {2}shop {2}its command \/no\/such\/command is not there, for /);
  expect(printed + listed).not.toContain("hunter22");
});
