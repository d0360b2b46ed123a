import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  freePort,
  freePorts,
  type ManagedProcess,
  type SuperviseOptions,
  type Supervision,
  startChild,
  startMongo,
  startRedis,
  supervise,
  type UnexpectedEnd,
} from "@planwright/local";
import { createQueues } from "@planwright/queue";
import { createStore } from "@planwright/store";
import {
  countingToolServerCommand,
  type ScriptInput,
  startTcpProxy,
  type TcpProxy,
} from "@planwright/testing";
import { Redis } from "ioredis";
import type { Random } from "../random/random.ts";
import { CHAOS_TOOLS, STEP_TIMEOUT_MS, TENANTS, type Tenant } from "./chaos-plan.ts";

/** The whole system as processes. Each process of services connects through separate proxies. */
export interface ChaosSystem {
  /** Of each process with an API. */
  apiUrls: readonly [string, ...string[]];
  /** URL without a proxy, with the name of the database. */
  mongodbUrl: string;
  /** URL without a proxy. */
  redisUrl: string;
  ledgerFile: string;
  /** File with every call that a tool received. */
  callsFile: string;
  /** The API key of each tenant. Its name is that of the tenant. */
  keys: Readonly<Record<Tenant, string>>;
  /** The process of each name; services that share one have the same. */
  victims: Readonly<Record<VictimName, Victim>>;
  /** The name of a service's process. */
  processOf(name: VictimName): string;
  proxy(service: ServiceName, link: Link): TcpProxy;
  stop(): Promise<void>;
}

/** Options of {@link startSystem}. */
interface SystemOptions {
  /** Folder for data, logs and the ledger. */
  folder: string;
  layout: Layout;
  /** A worker without heartbeats for this time is declared dead, in milliseconds. */
  deadAfterMs: number;
  planTimeoutMs: number;
  /** `OPENAI_BASE_URL` of the planners. */
  modelUrl: string;
  /** Called at each start of the tool server. */
  toolScript: () => ScriptInput;
  onCrash: (crash: UnexpectedEnd) => void;
}

/** Prefix of the keys in Redis. */
export const QUEUE_PREFIX = "chaos";
const DATABASE = "chaos";
/** Pause before a process that ended by itself is restarted, in milliseconds. */
const RESTART_DELAY_MS = 300;
/** A process that is not ready after this time never will be: no fault lasts that long. */
const READY_TIMEOUT_MS = 90_000;
const SERVICES_FOLDER = new URL("../../../../services/", import.meta.url);

/** Starts all processes and waits until each is ready. */
export async function startSystem(options: SystemOptions): Promise<ChaosSystem> {
  const { folder, layout, onCrash, toolScript } = options;
  const supervision: Supervision = { onUnexpectedEnd: onCrash, restartDelayMs: () => RESTART_DELAY_MS };
  mkdirSync(folder, { recursive: true });
  const [mongo, redis] = await Promise.all([
    startMongo({ dataDir: folder }),
    startRedis({ dataDir: folder }),
  ]);
  const ledgerFile = join(folder, "ledger.jsonl");
  const callsFile = join(folder, "calls.jsonl");
  const tools = await startTools({ folder, ledgerFile, callsFile, toolScript, supervision });
  const mongodbUrl = mongo.url.replace("/?", `/${DATABASE}?`);
  const keys = await addTenants(mongodbUrl);
  const serversFile = join(folder, "mcp-servers.json");
  // Plans of a planner set no timeouts, so a tool that hangs would hold them for a minute.
  const overrides = Object.keys(CHAOS_TOOLS).map((name) => [name, { timeout_ms: STEP_TIMEOUT_MS }] as const);
  const counting = {
    type: "http",
    url: `${tools.url}/mcp`,
    trusted: true,
    tools: Object.fromEntries(overrides),
  };
  writeFileSync(serversFile, JSON.stringify({ mcpServers: { counting } }));

  const proxies = new Map<string, TcpProxy>();
  const portOf = (url: string): number => Number(/:(\d+)/.exec(url.replace(/^\w+:\/\//, ""))?.[1]);
  const start = async (name: string, hasApi: boolean) => {
    const toMongo = await startTcpProxy(portOf(mongo.url));
    const toRedis = await startTcpProxy(portOf(redis.url));
    proxies.set(`${name}/mongo`, toMongo).set(`${name}/redis`, toRedis);
    const port = await freePorts(2);
    const healthPort = name === "api" ? port : port + 1;
    const victim = await startVictim({
      ...supervision,
      name,
      command: process.execPath,
      args: [fileURLToPath(new URL(`${name.replace(/-\d+$/, "")}/dist/main.js`, SERVICES_FOLDER))],
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        NODE_ENV: "production",
        HOST: "127.0.0.1",
        PORT: String(port),
        HEALTH_PORT: String(healthPort),
        // Without directConnection the driver would use the address that the replica set reports, which is
        // not the proxy.
        MONGODB_URL: `mongodb://127.0.0.1:${toMongo.port}/${DATABASE}?directConnection=true`,
        REDIS_URL: `redis://127.0.0.1:${toRedis.port}`,
        QUEUE_PREFIX,
        MCP_SERVERS_FILE: serversFile,
        SWEEP_EVERY_MS: "300",
        DEAD_AFTER_MS: String(options.deadAfterMs),
        PLAN_TIMEOUT_MS: String(options.planTimeoutMs),
        MODEL: "openai:scripted",
        OPENAI_BASE_URL: options.modelUrl,
        OPENAI_API_KEY: "scripted",
        // All clients of a tenant have one key.
        REQUESTS_PER_MINUTE: "0",
        MODEL_TIMEOUT_MS: "10000",
      },
      logFile: join(folder, "logs", `${name}.log`),
      isReady: () => answersOk(`http://127.0.0.1:${healthPort}/readyz`),
    });
    return { victim, apiUrls: hasApi ? [`http://127.0.0.1:${port}/graphql`] : [] };
  };
  const processes: Record<ServiceName, string> = LAYOUTS[layout];
  const processOf = (name: VictimName): string => (name in processes ? processes[name as ServiceName] : name);
  const names = [...new Set(Object.values(processes))];
  const started = new Map(
    await Promise.all(
      names.map(async (name) => [name, await start(name, /^(api|planwright)/.test(name))] as const),
    ),
  );
  const service = (name: ServiceName): Victim => {
    const found = started.get(processOf(name));
    if (found === undefined) throw new TypeError(`${name} was never started`);
    return found.victim;
  };
  const victims: Record<VictimName, Victim> = {
    api: service("api"),
    "planner-1": service("planner-1"),
    "planner-2": service("planner-2"),
    "executor-1": service("executor-1"),
    "executor-2": service("executor-2"),
    "executor-3": service("executor-3"),
    tools: tools.victim,
    mongo: victimOf(mongo),
    redis: victimOf(redis),
  };
  const [firstUrl, ...otherUrls] = [...started.values()].flatMap(({ apiUrls }) => apiUrls);
  if (firstUrl === undefined) throw new TypeError("no API was started");
  return {
    apiUrls: [firstUrl, ...otherUrls],
    mongodbUrl,
    redisUrl: redis.url,
    ledgerFile,
    callsFile,
    keys,
    victims,
    processOf,
    proxy(name, link) {
      const found = proxies.get(`${processOf(name)}/${link}`);
      if (found === undefined) throw new TypeError(`There is no proxy from ${name} to ${link}`);
      return found;
    },
    async stop() {
      // By SIGKILL, because the evidence is complete and no data is needed later.
      await Promise.all([...started.values()].map(({ victim }) => victim.kill()));
      await tools.victim.kill();
      await Promise.all([victims.mongo.kill(), victims.redis.kill()]);
      await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
    },
  };
}

/** Sets the weight of each tenant, and makes its API key. */
async function addTenants(url: string): Promise<ChaosSystem["keys"]> {
  const store = await createStore({ url });
  const add = async (tenant: Tenant): Promise<string> => {
    await store.setTenantLimits(tenant, { weight: TENANTS[tenant].weight });
    return (await store.createApiKey({ tenant, name: tenant, scopes: ["read", "execute", "operate"] }))
      .secret;
  };
  try {
    return { large: await add("large"), middle: await add("middle"), small: await add("small") };
  } finally {
    await store.close();
  }
}

async function startTools(options: {
  folder: string;
  ledgerFile: string;
  callsFile: string;
  toolScript: () => ScriptInput;
  supervision: Supervision;
}): Promise<{ victim: Victim; url: string }> {
  const { folder, ledgerFile, callsFile, toolScript, supervision } = options;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const victim = await startVictim({
    ...supervision,
    name: "tools",
    ...countingToolServerCommand({ ledgerFile, callsFile, lists: true, port }),
    env: process.env,
    logFile: join(folder, "logs", "tools.log"),
    isReady: async () => {
      if (!(await answersOk(`${url}/healthz`))) return false;
      const body = JSON.stringify(toolScript());
      const answer = await fetch(`${url}/script`, {
        method: "POST",
        body,
        signal: AbortSignal.timeout(5_000),
      });
      await answer.arrayBuffer();
      return answer.ok;
    },
  });
  return { victim, url };
}

type VictimOptions = Parameters<typeof startChild>[0] & Omit<SuperviseOptions, "spawn">;

/** A supervised process: when it ends by itself it is restarted, as an orchestrator would do. */
async function startVictim({
  isReady,
  onUnexpectedEnd,
  restartDelayMs,
  ...child
}: VictimOptions): Promise<Victim> {
  const managed = await supervise({
    name: child.name,
    spawn: () => startChild(child),
    isReady,
    onUnexpectedEnd,
    restartDelayMs,
    readyTimeoutMs: READY_TIMEOUT_MS,
    stopTimeoutMs: 5_000,
  });
  return victimOf(managed);
}

async function answersOk(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await response.arrayBuffer();
  return response.ok;
}

/** A process that faults can hit. After a kill it stays down until `restart`. */
interface Victim extends ManagedProcess {
  /** SIGSTOP. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
}

/** Makes a supervised process a victim. */
function victimOf(managed: ManagedProcess): Victim {
  return {
    ...managed,
    pause: () => signal(managed.pid(), "SIGSTOP"),
    resume: () => signal(managed.pid(), "SIGCONT"),
  };
}

/** Sends a signal to the process group; does nothing when the process has ended. */
function signal(pid: number | undefined, name: "SIGSTOP" | "SIGCONT"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Processes that faults can hit. */
export const EXECUTORS = ["executor-1", "executor-2", "executor-3"] as const;
export const PLANNERS = ["planner-1", "planner-2"] as const;
export const SERVICES = ["api", ...PLANNERS, ...EXECUTORS] as const;
type ServiceName = (typeof SERVICES)[number];
type VictimName = ServiceName | "mongo" | "redis" | "tools";

/** The process of each service: its own, or in `composed` one of two with all roles, beside a lone executor. */
const LAYOUTS = {
  apart: {
    api: "api",
    "planner-1": "planner-1",
    "planner-2": "planner-2",
    "executor-1": "executor-1",
    "executor-2": "executor-2",
    "executor-3": "executor-3",
  },
  composed: {
    api: "planwright-1",
    "planner-1": "planwright-1",
    "planner-2": "planwright-2",
    "executor-1": "planwright-1",
    "executor-2": "planwright-2",
    "executor-3": "executor-3",
  },
} as const satisfies Record<string, Record<ServiceName, string>>;

/** Which processes run the services. */
export type Layout = keyof typeof LAYOUTS;

/** True for a process with an executor. */
export const hasExecutor = (process: string): boolean => /^(executor|planwright)-/.test(process);
/** The executor that holds the most plans when the fault begins. */
export const BUSIEST = "busiest executor";

/** One fault. `atMs` is the time since the start of the schedule; `forMs` is its duration. */
export type ChaosFault = { atMs: number } /** SIGKILL, and a start `forMs` later. */ & (
  | { type: "kill"; target: VictimName | typeof BUSIEST; forMs: number }
  /** SIGSTOP, and SIGCONT `forMs` later. */
  | { type: "pause"; target: VictimName | typeof BUSIEST; forMs: number }
  /** The connections of one service to one server are cut and refused. */
  | { type: "cut"; target: ServiceName | typeof BUSIEST; link: Link; forMs: number }
  /** The connections stay open and new ones are accepted, but no data passes. */
  | { type: "freeze"; target: ServiceName | typeof BUSIEST; link: Link; forMs: number }
  /** FLUSHALL of Redis. */
  | { type: "flush" }
  /** Needless jobs: for known plans with wrong epochs, for unknown plans, for invalid ids. */
  | { type: "duplicates"; count: number }
);
type Link = "mongo" | "redis";

/** One line about a fault, such as "SIGSTOP executor-2 for 1200 ms". @param target - the process that it hits */
function describeFault(fault: ChaosFault, target: string): string {
  switch (fault.type) {
    case "kill":
      return `SIGKILL ${target}, restarted after ${fault.forMs} ms`;
    case "pause":
      return `SIGSTOP ${target} for ${fault.forMs} ms`;
    case "cut":
      return `${target} cut off from ${fault.link} for ${fault.forMs} ms`;
    case "freeze":
      return `no data passes between ${target} and ${fault.link} for ${fault.forMs} ms`;
    case "flush":
      return "FLUSHALL";
    case "duplicates":
      return `${fault.count} duplicate and odd jobs`;
  }
}

/** A SIGKILL that was sent. */
export interface Kill {
  target: string;
  pid: number;
  /** Unix milliseconds. */
  at: number;
}

/** Dependencies of an injector. */
interface FaultInjectorParts {
  system: ChaosSystem;
  random: Random;
  /** Number of plans that each process holds, by pid. */
  plansHeld: () => ReadonlyMap<number, number>;
  /** Resolves at a time of the pace. */
  until: (atMs: number) => Promise<void>;
  /** Ids of plans that duplicate jobs may name. */
  knownPlanIds: () => readonly string[];
  say: (line: string) => void;
}

/** Injects faults: one after the other at one target, concurrently at different targets. */
interface FaultInjector {
  /** Kills so far, in order. */
  readonly kills: readonly Kill[];
  /** Begins each fault at its time; resolves when all faults are undone. */
  run(schedule: readonly ChaosFault[]): Promise<void>;
  close(): Promise<void>;
}

/** An injector over a running system. */
export function createFaultInjector(parts: FaultInjectorParts): FaultInjector {
  const { system, random, plansHeld, until, knownPlanIds, say } = parts;
  const kills: Kill[] = [];
  const turns = new Map<string, Promise<void>>();
  const queues = createQueues({ redisUrl: system.redisUrl, prefix: QUEUE_PREFIX });

  function busiest(): (typeof EXECUTORS)[number] {
    const held = plansHeld();
    const load = (name: (typeof EXECUTORS)[number]): number => held.get(system.victims[name].pid() ?? 0) ?? 0;
    return EXECUTORS.toSorted((a, b) => load(b) - load(a))[0] ?? EXECUTORS[0];
  }

  async function inject(fault: Aimed<ChaosFault>, target: string): Promise<void> {
    say(describeFault(fault, target));
    switch (fault.type) {
      case "kill": {
        const victim = system.victims[fault.target];
        const pid = victim.pid();
        if (pid !== undefined) kills.push({ target, pid, at: Date.now() });
        await victim.kill();
        await delay(fault.forMs);
        return await victim.restart();
      }
      case "pause": {
        const victim = system.victims[fault.target];
        victim.pause();
        await delay(fault.forMs);
        return victim.resume();
      }
      case "cut":
      case "freeze": {
        const proxy = system.proxy(fault.target, fault.link);
        proxy[fault.type]();
        await delay(fault.forMs);
        return proxy.mend();
      }
      case "flush":
        return await flush(system.redisUrl);
      case "duplicates":
        return offerOddJobs(fault.count);
    }
  }

  function offerOddJobs(count: number): void {
    const known = knownPlanIds();
    for (let index = 0; index < count; index += 1) {
      const planId =
        known.length > 0 && random.chance(0.8) ? random.pick(known) : `plan_1_${"x".repeat(index)}`;
      const hint = { _id: planId, tenant: random.pick(["t1", "t2", ""]) };
      queues.offerExecution(hint);
      if (random.chance(0.1)) queues.offerPlanning(hint);
    }
  }

  return {
    kills,
    async run(schedule) {
      const running: Promise<void>[] = [];
      for (const planned of schedule) {
        await until(planned.atMs);
        const fault = aim(planned, busiest);
        const target = "target" in fault ? system.processOf(fault.target) : fault.type;
        const turn = (turns.get(target) ?? Promise.resolve()).then(() => inject(fault, target));
        turns.set(target, turn);
        running.push(turn);
      }
      await Promise.allSettled(running); // waits for all faults, even when one of them failed
      await Promise.all(running);
    },
    close: () => queues.close(),
  };
}

/** A fault with a named target instead of {@link BUSIEST}. */
type Aimed<F> = F extends { target: infer Target }
  ? Omit<F, "target"> & { target: Exclude<Target, typeof BUSIEST> }
  : F;

function aim(fault: ChaosFault, busiest: () => (typeof EXECUTORS)[number]): Aimed<ChaosFault> {
  switch (fault.type) {
    case "kill":
    case "pause":
      return { ...fault, target: fault.target === BUSIEST ? busiest() : fault.target };
    case "cut":
    case "freeze":
      return { ...fault, target: fault.target === BUSIEST ? busiest() : fault.target };
    case "flush":
    case "duplicates":
      return fault;
  }
}

/** Empties Redis as soon as it answers; the command waits while Redis starts. */
async function flush(redisUrl: string): Promise<void> {
  const client = new Redis(redisUrl, { maxRetriesPerRequest: null });
  client.on("error", () => undefined); // the command waits for the connection
  await client.flushall();
  client.disconnect();
}
