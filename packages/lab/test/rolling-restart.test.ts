// @module-tag proof
/** Every process of a system is replaced, one after another, while clients submit and follow. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { ApiRefusedError, type Client, createClient, type RequestRun } from "@planwright/client";
import {
  answer,
  type CountingToolServer,
  type ModelRequest,
  spawnService,
  startCountingToolServer,
  startModelServer,
  testServers,
} from "@planwright/testing";
import { expect, onTestFinished, test, vi } from "vitest";

/** The processes, in the order in which they are replaced. */
const ROLES = ["executor", "planner", "api", "executor", "planner", "api", "executor"] as const;
type RoleName = (typeof ROLES)[number];

/** A load balancer for TCP: a connection goes to the next API, and to another one when that does not accept it. */
async function startLoadBalancer(): Promise<{ url: string; ports: Map<ChildProcess, number> }> {
  const ports = new Map<ChildProcess, number>();
  const open = new Set<Socket>();
  let turn = 0;
  const forward = (inner: Socket, tries: number): void => {
    const all = [...ports.values()];
    turn += 1;
    const outer = connect(all[turn % all.length] ?? 0, "127.0.0.1");
    const refuse = (): void => {
      if (tries > 1) forward(inner, tries - 1);
      else inner.destroy();
    };
    outer.once("error", refuse);
    outer.once("connect", () => {
      outer.off("error", refuse).on("error", () => inner.destroy());
      open.add(outer);
      inner.pipe(outer).pipe(inner);
      outer.once("close", () => {
        open.delete(outer);
        inner.destroy();
      });
      inner.once("close", () => outer.destroy());
    });
  };
  const server = createServer((inner) => {
    inner.on("error", () => inner.destroy());
    forward(inner, 2 * ports.size);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/graphql`, ports };
}

/** Four calls one after another, each with an effect that the tool makes at every call, and long enough to be met. */
function planOf(value: string) {
  const latencyMs = 400;
  return {
    steps: [
      { id: "a", tool: "plain_effect", arguments: { value, latencyMs } },
      { id: "b", tool: "plain_effect", arguments: { value: "<<a.value>>b", latencyMs } },
      { id: "c", tool: "keyed_effect", arguments: { value: "<<b.value>>c", latencyMs } },
      { id: "d", tool: "read_value", arguments: { value: "<<c.value>>", latencyMs } },
    ],
  };
}

/** The model takes a moment, so that planners are replaced while it works. */
async function draft({ body }: ModelRequest) {
  const [, number = ""] = /Make the effects of (s\d+)/.exec(JSON.stringify(body)) ?? [];
  await delay(200);
  return answer(planOf(number));
}

/** What one follower was shown. */
interface Followed {
  requestId: string;
  states: RequestRun[];
}

/** Submits plans, and sentences now and then, without pause, and follows each until its end. */
function startLoad(client: Client): { stop(): Promise<Followed[]> } {
  let isOver = false;
  const following: Promise<Followed>[] = [];
  const follow = async (requestId: string): Promise<Followed> => {
    const states: RequestRun[] = [];
    for await (const state of client.follow(requestId, { until: "end", wasAccepted: true }))
      states.push(state);
    return { requestId, states };
  };
  const run = (async () => {
    for (let number = 0; !isOver; number += 1) {
      const input = number % 8 === 0 ? `Make the effects of s${number}` : planOf(`p${number}`);
      following.push(follow(await client.submit(input)));
      await delay(400);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await run;
      return Promise.all(following);
    },
  };
}

const activeCalls = ({ stats }: CountingToolServer): number =>
  Object.values(stats()).reduce((sum, { active }) => sum + active, 0);

test("a rolling restart of 3 executors, 2 planners and 2 APIs under load repeats nothing, refuses nothing, and every follower sees its request to the end", {
  timeout: 600_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), "planwright-rolling-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const tools = await startCountingToolServer({ ledgerFile: join(folder, "ledger.jsonl") });
  onTestFinished(() => tools.close());
  const model = await startModelServer({ script: draft });
  onTestFinished(() => model.close());
  const serversFile = join(folder, "mcp-servers.json");
  await writeFile(
    serversFile,
    JSON.stringify({ mcpServers: { counting: { url: tools.url, trusted: true } } }),
  );
  const balancer = await startLoadBalancer();

  async function start(role: RoleName): Promise<ChildProcess> {
    const child = spawnService(role, {
      MONGODB_URL: mongodbUrl,
      REDIS_URL: redisUrl,
      QUEUE_PREFIX: redisPrefix,
      MCP_SERVERS_FILE: serversFile,
      MODEL: "openai:test",
      OPENAI_BASE_URL: model.openAiUrl,
      [role === "api" ? "PORT" : "HEALTH_PORT"]: "0",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    child.stderr?.resume();
    await new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new TypeError(`${role} ended with ${code}`)));
      if (!child.stdout) return;
      createInterface(child.stdout).on("line", (line) => {
        if (!line.includes(`${role} ready`)) return;
        const port = /"url":"http:[^"]+:(\d+)/.exec(line)?.[1];
        if (role === "api") balancer.ports.set(child, Number(port));
        resolve();
      });
    });
    return child;
  }

  const processes = await Promise.all(ROLES.map(start));
  const client = createClient({ url: balancer.url });
  const sent = vi.spyOn(client, "execute");
  const load = startLoad(client);
  for (const [index, role] of ROLES.entries()) {
    // It ends while calls run.
    await expect.poll(() => activeCalls(tools)).toBeGreaterThan(2);
    const child = processes[index];
    if (!child) continue;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect([role, ...(await exited)]).toEqual([role, 0, null]);
    balancer.ports.delete(child);
    await start(role);
  }
  const followed = await load.stop();

  const refused = sent.mock.settledResults
    .map(({ value }: { value: unknown }) => value)
    .filter((value) => value instanceof ApiRefusedError);
  expect(refused).toEqual([]);
  for (const { requestId, states } of followed) {
    const last = states.at(-1);
    expect([requestId, last?.status]).toEqual([requestId, "COMPLETED"]);
    expect(last?.plan?.steps.map(({ status, attempts }) => [status, attempts.length])).toEqual(
      Array.from({ length: 4 }, () => ["COMPLETED", 1]),
    );
    // A state that was shown is never taken back.
    const completed = states.map(({ plan }) => plan?.counts.completed ?? 0);
    expect(completed).toEqual(completed.toSorted((one, other) => one - other));
  }
  const effects = (await tools.ledger()).map(({ arguments: args }) => String(args["value"]));
  expect(effects).toHaveLength(3 * followed.length);
  expect(new Set(effects).size).toBe(effects.length);
  const calls = Object.values(tools.stats()).reduce((sum, stats) => sum + stats.calls, 0);
  expect(calls).toBe(4 * followed.length);
});
