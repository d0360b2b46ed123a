/** The roles in one process: what it serves, how it ends, and what it says about settings. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort, freePorts } from "@planwright/local";
import { createStore } from "@planwright/store";
import {
  type CountingToolServer,
  spawnService,
  startCountingToolServer,
  testAndProof,
  testServers,
} from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";

/** The process, with its log lines. */
interface Planwright {
  lines: { service: string; msg: string; url?: string; health?: string; planId?: string; reason?: string }[];
  /** Waits for a log line. */
  said(msg: string): Promise<Planwright["lines"][number]>;
  child: ChildProcess;
  exited: Promise<unknown[]>;
  mongodbUrl: string;
  /** The calls of its tool server. */
  ledger: CountingToolServer["ledger"];
}

async function start(env: Record<string, string> = {}, args: readonly string[] = []): Promise<Planwright> {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const folder = await mkdtemp(join(tmpdir(), "planwright-composed-"));
  const tools = await startCountingToolServer({ ledgerFile: join(folder, "ledger.jsonl") });
  const serversFile = join(folder, "mcp-servers.json");
  await writeFile(
    serversFile,
    JSON.stringify({ mcpServers: { counting: { url: tools.url, trusted: true } } }),
  );
  const child = spawnService(
    "planwright",
    {
      MONGODB_URL: mongodbUrl,
      REDIS_URL: redisUrl,
      QUEUE_PREFIX: redisPrefix,
      MCP_SERVERS_FILE: serversFile,
      PORT: "0",
      HEALTH_PORT: "0",
      SWEEP_EVERY_MS: "200",
      ...env,
    },
    args,
  );
  const exited = once(child, "exit");
  const lines: Planwright["lines"] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface(stream).on("line", (line) => {
      lines.push(line.startsWith("{") ? JSON.parse(line) : { service: "", msg: line });
      child.emit("line");
    });
  }
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
    await tools.close();
    await rm(folder, { recursive: true, force: true });
  });
  const said = async (msg: string) => {
    for (;;) {
      const line = lines.find((one) => one.msg === msg);
      if (line) return line;
      await Promise.race([once(child, "line"), exited]);
      if (child.exitCode !== null || child.signalCode !== null)
        throw new TypeError(`It ended: ${JSON.stringify(lines)}`);
    }
  };
  return { lines, said, child, exited, mongodbUrl, ledger: () => tools.ledger() };
}

/** Parsed JSON of any shape: a test checks the parts that it reads. */
type Answer = ReturnType<typeof JSON.parse>;

async function ask(url: string, query: string): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify({ query }) })).json();
}

const PLAN = `{ steps: [{ id: "read", tool: "read_value", arguments: { value: 1 } }] }`;
const SUBMIT = `mutation { submitPlan(plan: ${PLAN}, execute: true) { requestId } }`;

test("one process is ready when its last role is, accepts a plan, executes it, serves one health port and one registry, and ends in order", async () => {
  const { lines, said, child, exited, mongodbUrl } = await start({
    MONGODB_TIMEOUT_MS: "60000",
    FAILPOINT: "executor.live.before=pause:1000",
  });
  const { health } = await said("executor starting");
  const ready = async () => (await fetch(`${health}/readyz`)).json();
  await expect
    .poll(ready, { interval: 10 })
    .toMatchObject({ status: "not ready", failing: { executor: expect.stringMatching(/^(the|it)/) } });
  const [api, planner, executor] = [
    await said("api ready"),
    await said("planner ready"),
    await said("executor ready"),
  ];
  expect([api.service, planner.service, executor.service]).toEqual(["api", "planner", "executor"]);
  expect(planner.health).toBe(executor.health);
  const answer = await ask(api.url ?? "", SUBMIT);
  const { requestId } = answer.data.submitPlan;
  const status = async () =>
    (await ask(api.url ?? "", `{ request(requestId: "${requestId}") { status } }`)).data.request.status;
  await expect.poll(status).toBe("COMPLETED");

  const at = (path: string) => fetch(`${executor.health}${path}`);
  await expect.poll(ready).toEqual({ status: "ready" });
  const metrics = async () => (await at("/metrics")).text();
  await expect.poll(metrics).toMatch(/^planwright_workers\{kind="executor",service="planwright"\} 1$/m);
  const text = await metrics();
  for (const name of ["api_requests", "planner_runs", "executor_claims"])
    expect(text).toContain(`# TYPE planwright_${name}_total counter`);
  for (const name of ["planner", "executor"]) expect(text).toContain(`planwright_${name}_jobs_waiting`);
  expect(lines.filter(({ planId }) => planId !== undefined).map(({ service }) => service)).toContain(
    "executor",
  );

  const store = await createStore({ url: mongodbUrl, timeoutMs: 60_000 });
  onTestFinished(() => store.close());
  expect(await store.liveWorkers()).toMatchObject({ planner: 1, executor: 1 });
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(lines.at(-1)).toMatchObject({ service: "planwright", msg: "stopped", reason: "SIGTERM" });
  expect(await store.liveWorkers()).toMatchObject({ planner: 0, executor: 0 });
});

/** Without Redis: the process reads an empty variable as none. */
const ALONE = { REDIS_URL: "" };
const testDatabase = () => ({ MONGODB_URL: testServers().mongodbUrl });

test("without Redis one process accepts a plan, executes it, and says what needs Redis; a second one does not start", async () => {
  const env = { ...ALONE, ...testDatabase() };
  const { lines, said } = await start({ ...env, SWEEP_EVERY_MS: "60000" });
  const [{ url = "" }] = [await said("api ready"), await said("executor ready"), await said("planner ready")];
  const { requestId } = (await ask(url, SUBMIT)).data.submitPlan;
  const status = async () =>
    (await ask(url, `{ request(requestId: "${requestId}") { status } }`)).data.request.status;
  await expect.poll(status).toBe("COMPLETED");
  expect(lines.map(({ msg }) => msg)).toContain(
    "works alone, without Redis: limits of tools and callers are in memory; a second process, or roles apart, need REDIS_URL",
  );
  const second = await start(env);
  expect(await second.exited).toEqual([1, null]);
  expect(second.lines.map(({ msg }) => msg)).toContainEqual(
    expect.stringMatching(/^Wrong setting in the environment: REDIS_URL: is missing: .* same database/),
  );
});

test("a process without Redis that was killed continues its plans at its next start", async () => {
  const env = { ...ALONE, ...testDatabase(), HEALTH_PORT: String(await freePort()) };
  const first = await start({ ...env, FAILPOINT: "executor.finish.before=kill" });
  await first.said("executor ready");
  const { url = "" } = await first.said("api ready");
  const { requestId } = (await ask(url, SUBMIT)).data.submitPlan;
  expect(await first.exited).toEqual([null, "SIGKILL"]);
  const second = await start(env);
  const { url: again = "" } = await second.said("api ready");
  const status = async () =>
    (await ask(again, `{ request(requestId: "${requestId}") { status } }`)).data.request.status;
  await expect.poll(status).toBe("COMPLETED");
});

/** Around the write of a plan that is stored as claimed, and around the claim without a write that follows. */
const CLAIM_POINTS = ["api.submit", "executor.claim"].flatMap((point) =>
  ["before", "after"].map((side) => `${point}.${side}`),
);

for (const { cases, options } of testAndProof(CLAIM_POINTS, (point) => point, ["api.submit.after"]))
  test.for(cases)(
    "a process that was killed at %s has accepted a plan once, and executes it once after its next start",
    options,
    async (point) => {
      const env = { ...ALONE, ...testDatabase(), HEALTH_PORT: String(await freePort()) };
      const submit = SUBMIT.replace("execute: true", 'execute: true, idempotencyKey: "k"').replace(
        "read_value",
        "keyed_effect",
      );
      const first = await start({ ...env, FAILPOINT: `${point}=kill` });
      await first.said("executor ready");
      const { url = "" } = await first.said("api ready");
      await ask(url, submit).catch(() => undefined);
      expect(await first.exited).toEqual([null, "SIGKILL"]);
      const second = await start(env);
      await second.said("executor ready");
      const { url: again = "" } = await second.said("api ready");
      const { requestId } = (await ask(again, submit)).data.submitPlan;
      const status = async () =>
        (await ask(again, `{ request(requestId: "${requestId}") { status } }`)).data.request.status;
      await expect.poll(status).toBe("COMPLETED");
      const { data } = await ask(again, "{ requests { edges { node { requestId } } } }");
      expect(data.requests.edges).toHaveLength(1);
      const ledgers = await Promise.all([first.ledger(), second.ledger()]);
      expect(ledgers.flat().filter(({ tool }) => tool === "keyed_effect")).toHaveLength(1);
    },
  );

test("roles apart need Redis", async () => {
  const { lines, exited } = await start(ALONE, ["--roles", "api,executor"]);
  expect(await exited).toEqual([1, null]);
  expect(lines.map(({ msg }) => msg)).toEqual([
    "api: Wrong setting in the environment: REDIS_URL: is missing",
  ]);
});

const FAILING: [role: string, env: Record<string, string>][] = [
  ["planner", { FAILPOINT: "planner.live.before=error" }],
  // The others are still starting then.
  ["api", { HOST: "127.0.0.1", PORT: new URL(testServers().redisUrl).port }],
];

for (const { cases, options } of testAndProof(FAILING, ([role]) => role, ["planner"]))
  test.each(cases)(
    "%s that cannot start ends the process with one fatal line that names it",
    options,
    async (role, env) => {
      const { lines, exited } = await start(env);
      expect(await exited).toEqual([1, null]);
      expect(lines.filter((line) => "level" in line && line.level === "fatal")).toEqual([
        expect.objectContaining({ service: role, msg: `${role} could not start` }),
      ]);
    },
  );

const TWO = ["--processes", "2"];

test("two processes share the port of the API, one that is killed is started again, and a signal ends both in order", async () => {
  const healthPort = await freePorts(2);
  const { lines, child, exited, mongodbUrl } = await start({ HEALTH_PORT: String(healthPort) }, TWO);
  const ready = (role: string) => lines.filter(({ msg }) => msg === `${role} ready`);
  const counts = () => ["api", "planner", "executor"].map((role) => ready(role).length);
  await expect.poll(counts).toEqual([2, 2, 2]);
  const [url = "", ...others] = new Set(ready("api").map((line) => line.url));
  expect(others).toEqual([]);
  const health = [0, 1].map((index) => `http://127.0.0.1:${healthPort + index}`);
  expect(new Set(ready("executor").map((line) => line.health))).toEqual(new Set(health));
  const submitted = async () => (await ask(url, SUBMIT)).data.submitPlan.requestId;
  const status = async (id: string) =>
    (await ask(url, `{ request(requestId: "${id}") { status } }`)).data.request.status;
  const first = await Promise.all(Array.from({ length: 20 }, submitted));
  const [victim = 0] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")
    .split(" ")
    .map(Number);
  process.kill(victim, "SIGKILL");
  await expect.poll(counts).toEqual([3, 3, 3]);
  const second = await Promise.all(Array.from({ length: 20 }, submitted));
  for (const id of [...first, ...second]) await expect.poll(() => status(id)).toBe("COMPLETED");
  expect(lines).toContainEqual(
    expect.objectContaining({
      service: "planwright",
      msg: "a process ended and is started again",
      how: "was ended by SIGKILL",
    }),
  );

  const store = await createStore({ url: mongodbUrl, timeoutMs: 60_000 });
  onTestFinished(() => store.close());
  expect(await store.liveWorkers()).toMatchObject({ planner: 2, executor: 2 });
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(lines.filter(({ msg }) => msg === "stopped")).toHaveLength(2);
  expect(await store.liveWorkers()).toMatchObject({ planner: 0, executor: 0 });
});

test("two processes that are signalled with the first one while they start, as by a terminal, end in order", async () => {
  const { lines, child, exited } = await start({ FAILPOINT: "executor.live.before=pause:3000" }, TWO);
  const starting = () => lines.filter(({ msg }) => msg === "executor starting").length;
  await expect.poll(starting, { interval: 10 }).toBe(2);
  const others = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ");
  for (const pid of [...others.map(Number), child.pid ?? 0]) process.kill(pid, "SIGINT");
  expect(await exited).toEqual([0, null]);
});

test("two processes end when one cannot start", async () => {
  const { lines, exited } = await start(
    { HOST: "127.0.0.1", PORT: new URL(testServers().redisUrl).port },
    TWO,
  );
  expect(await exited).toEqual([1, null]);
  expect(lines).toContainEqual(expect.objectContaining({ service: "api", msg: "api could not start" }));
});

test.each([
  [
    ALONE,
    TWO,
    "Wrong setting in the environment: REDIS_URL: is missing: 2 processes need Redis to share limits and work",
  ],
  [{}, ["--processes", "0"], '--processes is "0": use a whole number from 1 to 64'],
])("with %j and %j nothing is started", async (env, args, message) => {
  const { lines, exited } = await start(env, args);
  expect(await exited).toEqual([1, null]);
  expect(lines.map(({ msg }) => msg)).toEqual([message]);
});
