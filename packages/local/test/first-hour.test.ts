/**
 * The first commands of a new user: `npm start`, `npm run demo` and the commands that they print, unchanged
 * and run by npm.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { testAndProof } from "@planwright/testing";
import { expect, test } from "vitest";
import { freePort } from "../src/index.ts";
import { env, folder, npm, ROOT, type Running, run } from "./typed-command.ts";

/** Expects a completed demo; the message of a failed test has its output. */
async function expectCompleted(demo: Running): Promise<void> {
  const code = await demo.ended;
  expect({ code, output: demo.output() }).toEqual({
    code: 0,
    output: expect.stringMatching(/createBlog {2}COMPLETED/),
  });
}

/**
 * The processes of the system below a process: MongoDB, Redis and the services, found by their command lines.
 */
function processesBelow(pid: number): Map<string, number> {
  const found = new Map<string, number>();
  for (const below of childrenOf(pid)) {
    const words = readFileSync(`/proc/${below}/cmdline`, "utf8").split("\0");
    const service = /services\/([a-z-]+)\/dist\/main\.js/.exec(words.join(" "))?.[1];
    const name = service ?? ["mongod", "redis-server"].find((server) => words[0]?.includes(server));
    if (name !== undefined) found.set(name, below);
    for (const [inner, innerPid] of processesBelow(below)) found.set(inner, innerPid);
  }
  return found;
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

const SERVICES = ["api", "blog-tools", "executor", "planner"];
/** Its processes: API, planner and executor are in one. */
const ALL = ["blog-tools", "planwright", "mongod"].toSorted();

/** A service and a server. */
const KILLED = ["planwright", "mongod"];

/** Kills a process of `npm start`, and expects that a demo that is typed meanwhile completes, and a new process. */
async function expectDemoAfterKill(
  start: Running,
  name: string,
  settings: NodeJS.ProcessEnv,
): Promise<Running> {
  const victim = processesBelow(start.child.pid ?? 0).get(name);
  if (victim === undefined) throw new TypeError(`${name} does not run`);
  const restarts = () => start.output().match(/was ended by SIGKILL; it is started again in/g)?.length ?? 0;
  const before = restarts();
  process.kill(victim, "SIGKILL");
  const demo = npm(["run", "demo"], settings);
  await expectCompleted(demo);
  expect(demo.output()).toContain("Using the running system at");
  await expect.poll(() => processesBelow(start.child.pid ?? 0).has(name)).toBe(true);
  expect(restarts()).toBe(before + 1);
  return demo;
}

/** Ends `npm start`, and expects that all its processes have ended in order. */
async function expectStops(start: Running, end: { signal: NodeJS.Signals; group: 1 | -1 }, dataDir: string) {
  const processes = processesBelow(start.child.pid ?? 0);
  expect([...processes.keys()].toSorted()).toEqual(ALL);
  process.kill(end.group * (start.child.pid ?? 0), end.signal);
  await start.ended;
  expect(start.output()).toContain("Stopping ...");
  expect(readFileSync(join(dataDir, "logs", "planwright.log"), "utf8")).toContain('"msg":"stopped"');
  for (const pid of processes.values()) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
}

/** A terminal signals every process of the group; a supervisor of npm signals only npm. */
const CTRL_C = { signal: "SIGINT", group: -1 } as const;
const SIGTERM = { signal: "SIGTERM", group: 1 } as const;

test("npm start prints commands that work, starts killed processes again, and Ctrl-C stops everything in order", async () => {
  const port = String(await freePort());
  const dataDir = folder();
  const start = npm(["start"], { PORT: port, DATA_DIR: dataDir });
  await start.printed("Ctrl-C stops everything");
  const curl = /^ {2}(curl .*)$/m.exec(start.output())?.[1] ?? "";
  // The shell passes the words of the line to a function instead of curl: the test needs no curl, and sees
  // the arguments that curl would get.
  const shell = spawn("sh", ["-c", `curl() { printf '%s\\0' "$@"; }; ${curl}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [, url = "", , header = "", , body = ""] = (await text(shell.stdout)).split("\0");
  const [name = "", value = ""] = header.split(": ");
  const response = await fetch(url, { method: "POST", headers: { [name]: value }, body });
  expect(await response.text()).toMatch(/"requestId":"req_.*"toolOrder":\["createAuthor","createBlog"\]/);
  const [, graphiql = ""] = /^ {2}GraphiQL (http.*)$/m.exec(start.output()) ?? [];
  expect(await (await fetch(graphiql)).text()).toContain("<!doctype html>");
  const [, exported = "", ran = ""] =
    /^ {2}(export .*)\n {2}(npx planwright run .*)$/m.exec(start.output()) ?? [];
  const cli = run("sh", ["-c", `${exported}\n${ran}`], {});
  expect(await cli.ended).toBe(0);
  expect(cli.output()).toContain("COMPLETED");

  const monitored = [...start.output().matchAll(/(http:\S+)\/readyz {2}(\S+)$/gm)];
  expect(monitored.map(([, , service = ""]) => service)).toEqual(expect.arrayContaining(SERVICES));
  for (const [, address] of monitored)
    for (const path of ["readyz", "metrics"]) expect((await fetch(`${address}/${path}`)).ok).toBe(true);

  // A demo in the folder of the system prints a command that works in a shell without PORT.
  let demo = start;
  for (const name of KILLED) demo = await expectDemoAfterKill(start, name, { DATA_DIR: dataDir });
  const [, debug = ""] = /^See all of it: (npx planwright debug req_.*)$/m.exec(demo.output()) ?? [];
  const debugged = run("sh", ["-c", debug], {});
  expect([await debugged.ended, debugged.output()]).toEqual([0, expect.stringContaining("COMPLETED")]);

  await expectStops(start, CTRL_C, dataDir);
});

test("any other process of npm start that is killed is started again", { tags: ["proof"] }, async () => {
  const settings = { PORT: String(await freePort()), DATA_DIR: folder() };
  const start = npm(["start"], settings);
  await start.printed("Ctrl-C stops everything");
  for (const name of ALL.filter((one) => !KILLED.includes(one)))
    await expectDemoAfterKill(start, name, settings);
});

const WRONG_SETTINGS: [wrong: Record<string, string>, line: string][] = [
  [
    { MODEL: "openai:gpt-4o" },
    "openai:gpt-4o needs a setting: set OPENAI_API_KEY, or MODEL=offline to plan without a model",
  ],
  [{ PORT: "abc" }, 'PORT is "abc": set it to a whole number from 1 to 65535, or unset it for 4000'],
  [
    { DATA_DIR: "/proc/x" },
    "Data cannot be stored in /proc/x (ENOENT: no such file or directory, mkdir '/proc/x'). Set DATA_DIR to a folder that this user may write.",
  ],
];
for (const { cases, options } of testAndProof(WRONG_SETTINGS, ([wrong]) => Object.keys(wrong).join(), [
  "MODEL",
]))
  test.each(cases)(
    "with the wrong setting %j npm start ends with one line before it starts anything",
    options,
    async (wrong, line) => {
      const child = spawn("npm", ["start"], {
        cwd: ROOT,
        env: { ...env, DATA_DIR: folder(), ...wrong },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [errors, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
      const lines = errors.split("\n").filter((line) => line !== "" && !line.startsWith("npm "));
      expect(lines).toEqual([line]);
      expect(code).toBe(1);
    },
  );

test("ANONYMOUS=refuse npm start becomes ready, prints how to make the key that its commands need, and SIGTERM stops everything in order", async () => {
  const dataDir = folder();
  const settings = { PORT: String(await freePort()), DATA_DIR: dataDir, ANONYMOUS: "refuse" };
  const start = npm(["start"], settings);
  await start.printed("Ctrl-C stops everything");
  const address = /GraphQL {2}(http\S+)/.exec(start.output())?.[1] ?? "";
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: '{"query":"{ getAvailableTools { name } }"}' };
  expect((await fetch(address, init)).status).toBe(401);
  const [, makesKey = ""] = /^ {2}(export PLANWRIGHT_API_KEY=.*)$/m.exec(start.output()) ?? [];
  const [, exported = "", ran = ""] =
    /^ {2}(export PLANWRIGHT_URL=.*)\n {2}(npx planwright run .*)$/m.exec(start.output()) ?? [];
  const cli = run("sh", ["-c", `${makesKey}\n${exported}\n${ran}`], {});
  expect(await cli.ended).toBe(0);
  expect(cli.output()).toContain("COMPLETED");
  const curl = /^ {2}(curl .*)$/m.exec(start.output())?.[1] ?? "";
  expect(curl).toContain('-H "authorization: Bearer $PLANWRIGHT_API_KEY"');
  await expectStops(start, SIGTERM, dataDir);
});

test("a system whose output is closed, as by a pager or a terminal that is gone, goes on and stops in order", async () => {
  const dataDir = folder();
  const start = npm(["start"], { PORT: String(await freePort()), DATA_DIR: dataDir });
  await start.printed("Ctrl-C stops everything");
  start.child.stdout.destroy();
  const processes = processesBelow(start.child.pid ?? 0);
  const killed = processes.get("blog-tools") ?? 0;
  process.kill(killed, "SIGKILL"); // a restart is told
  await expect.poll(() => processesBelow(start.child.pid ?? 0).get("blog-tools")).not.toBe(killed);
  await expect.poll(() => processesBelow(start.child.pid ?? 0).has("blog-tools")).toBe(true);
  process.kill(-(start.child.pid ?? 0), "SIGINT");
  await start.ended;
  expect(readFileSync(join(dataDir, "logs", "planwright.log"), "utf8")).toContain('"msg":"stopped"');
  for (const pid of processes.values()) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("ANONYMOUS=refuse npm run demo makes a key, and completes though all of its processes are killed at once", async () => {
  const demo = npm(["run", "demo"], { DATA_DIR: folder(), ANONYMOUS: "refuse" });
  await demo.printed("You ask:");
  for (const pid of processesBelow(demo.child.pid ?? 0).values()) process.kill(pid, "SIGKILL");
  await expectCompleted(demo);
});

test("a demo that needs no key, and whose processes are all killed at once, ends COMPLETED", {
  tags: ["proof"],
}, async () => {
  const demo = npm(["run", "demo"], { DATA_DIR: folder() });
  await demo.printed("You ask:");
  for (const pid of processesBelow(demo.child.pid ?? 0).values()) process.kill(pid, "SIGKILL");
  await expectCompleted(demo);
});
