/** `planwright doctor` over a running system, and on a machine where nothing runs. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "@planwright/local";
import { answer, type System, startSystem, testServers } from "@planwright/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { build, startProcess } from "./planwright.ts";

let system: System;
let folder: string;
beforeAll(async () => {
  build();
  folder = mkdtempSync(join(tmpdir(), "planwright-doctor-"));
  system = await startSystem({ mcpServers: { gone: { url: `http://127.0.0.1:${await freePort()}/mcp` } } });
  await system.startPlanner();
});
afterAll(async () => {
  await system?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As a process: it checks the environment of its own. */
const run = (words: string[], env: NodeJS.ProcessEnv) =>
  startProcess(["doctor", ...words], { env: { DATA_DIR: join(folder, "data"), ...env } }).ended;

/** What `doctor --json` found, by the names of its checks. */
async function doctor(env: NodeJS.ProcessEnv) {
  const ran = await run(["--json"], env);
  const { checks, ...counts } = JSON.parse(ran.stdout);
  const found: Record<string, { state: string; text: string; remedy?: string }> = {};
  for (const { name, ...rest } of checks) found[name] = rest;
  return { ...ran, ...counts, found };
}

const servers = () => {
  const { mongodbUrl, redisUrl } = testServers();
  return { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl };
};

test("each part of a running system is one line, and what is wrong with a tool server is its only problem", async () => {
  system.model.enqueue(answer("OK"));
  const before = system.model.requests.length;
  const { found, exitCode, problems } = await doctor({
    ...servers(),
    MONGODB_URL: system.mongodbUrl,
    PLANWRIGHT_URL: system.apiUrl,
    MODEL: "openai:test",
    OPENAI_BASE_URL: system.model.openAiUrl,
  });
  expect(found).toMatchObject({
    node: { state: "ok", text: process.versions.node },
    "data folder": { state: "ok", text: join(folder, "data") },
    "settings of the API": { state: "ok" },
    "settings of the planner": { state: "ok" },
    database: { state: "ok", text: expect.stringMatching(/^MongoDB \d.*of this version's format$/) },
    clock: { state: "ok" },
    "API keys": { state: "ok", text: "0 valid keys" },
    redis: { state: "ok", text: expect.stringContaining("evicts no keys") },
    model: { state: "ok", text: expect.stringMatching(/^openai:test answered a tiny call in \d+ ms$/) },
    API: { state: "ok" },
    version: { state: "ok" },
    "API key": { state: "ok" },
    "tool server counting": { state: "ok", text: expect.stringMatching(/^connected, \d+ tools/) },
    "tool server gone": { state: "problem", remedy: expect.stringContaining("--reload gone") },
  });
  expect(system.model.requests.length - before).toBe(1);
  expect({ exitCode, problems }).toEqual({ exitCode: 1, problems: 1 });
});

test("where nothing runs, the settings are checked, and doctor connects to the tool servers itself", async () => {
  const file = join(folder, "servers.json");
  const runs = (script: string) => ({ command: process.execPath, args: ["-e", script] });
  const mcpServers = {
    counting: { url: system.tools.url },
    broken: runs("console.error('no licence'); process.exit(3)"),
    signed: { url: "http://127.0.0.1:9/mcp", auth: {} },
  };
  writeFileSync(file, JSON.stringify({ mcpServers }));
  const { found, exitCode } = await doctor({ MCP_SERVERS_FILE: file });
  expect(found).toMatchObject({
    model: { state: "ok", text: expect.stringContaining("offline") },
    "settings of the executor": { state: "ok" },
    "tool server counting": { state: "ok", text: expect.stringMatching(/connected and listed in \d+ ms/) },
    "tool server broken": { state: "problem", text: expect.stringContaining("no licence") },
    "tool server signed": { state: "ok", text: expect.stringContaining("planwright sign-in") },
    API: { state: "warning", remedy: expect.stringContaining("planwright up") },
  });
  expect(exitCode).toBe(1);
});

const absent = async (protocol: string, rest = "") => `${protocol}://127.0.0.1:${await freePort()}${rest}`;

/** What is wrong, by the name of the check: the environment, and what doctor says. */
const WRONG: [check: string, env: () => Promise<NodeJS.ProcessEnv>, text: RegExp][] = [
  [
    "database",
    async () => ({ MONGODB_URL: await absent("mongodb", "/x?replicaSet=rs0") }),
    /MongoDB at 127\.0\.0\.1:\d+ does not answer/,
  ],
  ["redis", async () => ({ REDIS_URL: await absent("redis") }), /Redis at 127\.0\.0\.1:\d+ does not answer/],
  ["data folder", async () => ({ DATA_DIR: join(fileURLToPath(import.meta.url), "data") }), /Set DATA_DIR/],
  ["API", async () => ({ PLANWRIGHT_URL: await absent("http") }), /nothing answers/],
  // The key of a model is missing, and a model cannot be reached.
  ["settings of the planner", async () => ({ MODEL: "anthropic:claude-sonnet-4-5" }), /ANTHROPIC_API_KEY/],
  [
    "model",
    async () => ({ MODEL: "openai:test", OPENAI_BASE_URL: await absent("http", "/v1") }),
    /cannot be reached/,
  ],
  ["API key", async () => ({ PLANWRIGHT_URL: system.apiUrl, PLANWRIGHT_API_KEY: "pw_wrong" }), /API key/],
];
/** Checks of different settings: `npm test` gives them to one doctor, `npm run proof` each to one of its own. */
const TOGETHER = [
  ["database", "redis", "data folder", "API", "settings of the planner"],
  ["model", "API key"],
];
for (const { groups, options } of [
  { groups: TOGETHER, options: {} },
  { groups: WRONG.map(([check]) => [check]), options: { tags: ["proof"] } },
])
  test.each(groups.map((checks) => ({ checks })))("$checks is a problem", options, async ({ checks }) => {
    const wrong = WRONG.filter(([check]) => checks.includes(check));
    const envs = await Promise.all(wrong.map(([, env]) => env()));
    const { found, exitCode } = await doctor(Object.assign({}, ...envs));
    for (const [check, , text] of wrong) {
      expect(found[check]?.state).toBe("problem");
      expect(`${found[check]?.text} ${found[check]?.remedy}`).toMatch(text);
    }
    expect(exitCode).toBe(1);
  });

test("a port that is taken is a warning, and warnings alone end with 0; people get a line each, with what to do", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  const address = taken.address();
  const PORT = String(typeof address === "object" ? address?.port : 0);
  const { exitCode, stdout } = await run([], { PORT });
  expect(stdout).toMatch(
    new RegExp(`^! port {2}${PORT} is taken by another program\n {4}→ planwright up takes another`, "m"),
  );
  expect(stdout).toMatch(/\n0 problems, \d warnings?\.\n$/);
  expect(exitCode).toBe(0);
});
