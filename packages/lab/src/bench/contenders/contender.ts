import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startStack } from "@planwright/local";
import { CodedError } from "@planwright/plan";
import { countingToolServerCommand } from "@planwright/testing";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { z } from "zod";
import { diamond } from "../../random/plan-shapes.ts";
import { waitForTools } from "../../servers/servers.ts";
import { createBenchClient, operation } from "../bench-client.ts";
import type { ProcessNames } from "../figures.ts";

/** A running system. It serves the diamond a -> (b, c, d) -> e over HTTP. */
export interface Contender {
  name: string;
  /** Its version as `version`, and those of its databases, such as { version: "0.1.0", MongoDB: "8.2.0" }. */
  versions: Readonly<Record<string, string>>;
  /** Where its steps run, such as "in process". */
  steps: string;
  /** How its client receives the end, such as "the answer". */
  end: string;
  processes: ProcessNames;
  /** Ids of its processes, where another contender has processes of the same names. Default: by name alone. */
  pids?: readonly number[] | undefined;
  /**
   * Requests one plan and waits for its end.
   * @throws {PlanNotCompletedError} or an error of the connection
   */
  runPlan(): Promise<void>;
  /** Counters of its servers since their start, by name; absent when not known. */
  counts?: (() => Promise<Record<string, number>>) | undefined;
  /** Ends all its processes. */
  close(): Promise<void>;
}

/** A plan did not end COMPLETED, so the figures of the run would mean nothing. */
export class PlanNotCompletedError extends CodedError<{ contender: string; reason: string }> {
  readonly code = "PLAN_NOT_COMPLETED";
  readonly retryable = false;
  constructor(facts: { contender: string; reason: string }) {
    super(`A plan of ${facts.contender} did not end COMPLETED: ${facts.reason.slice(0, 500)}`, facts);
  }
}

/** Asks for the outputs too, because peers answer with them. */
const SUBMIT =
  "mutation ($plan: JSON!) { submitPlan(plan: $plan, waitMs: 30000) { requestId status plan { outputs } } }";
const VersionSchema = z.object({ version: z.string() });

/** s0 -> (s1, s2, s3) -> s4, all reads, as a client submits it. */
const DIAMOND = {
  steps: diamond(5).map((step) => ({ ...step, tool: "noop", arguments: { value: 1 } })),
};

/** Options of {@link startPlanwright}. */
interface PlanwrightOptions {
  /** Folder for data and logs, of this system alone. */
  dataDir: string;
  /** Maximum of plans in flight. */
  clients: number;
  /** True: API, planner and executor in one process, as `npm start` runs them. False: each in its own. */
  isTogether: boolean;
  /** With `isTogether`: processes of all roles behind one port, with a Redis between them. Default 1. */
  processes?: number;
}

/**
 * The whole system from its build, with its own MongoDB, and apart with a Redis. The tools are a separate process over stdio,
 * the cheapest transport of MCP.
 */
export async function startPlanwright({
  dataDir,
  clients,
  isTogether,
  processes = 1,
}: PlanwrightOptions): Promise<Contender> {
  const together = processes === 1 ? "Planwright" : `Planwright in ${processes} processes`;
  const name = isTogether ? together : "Planwright apart";
  mkdirSync(dataDir, { recursive: true });
  const serversFile = join(dataDir, "own-servers.json");
  const tools = countingToolServerCommand({ ledgerFile: join(dataDir, "ledger.jsonl"), stdio: true });
  writeFileSync(serversFile, JSON.stringify({ mcpServers: { counting: { ...tools, trusted: true } } }));
  const { PATH, HOME } = process.env;
  const stack = await startStack({
    dataDir,
    isTogether,
    processes,
    env: { PATH, HOME, MCP_SERVERS_FILE: serversFile },
  });
  await waitForTools(stack.apiUrl, ["noop"]);
  const mongo = await MongoClient.connect(stack.mongodbUrl);
  const redis = stack.redisUrl === undefined ? undefined : new Redis(stack.redisUrl);
  const client = createBenchClient(stack.apiUrl, clients);
  const submission = operation(SUBMIT, { plan: DIAMOND });

  return {
    name,
    versions: {
      version: ownVersion(),
      MongoDB: VersionSchema.parse(await mongo.db().admin().serverInfo()).version,
      ...(redis && { Redis: /^redis_version:(\S+)/m.exec(await redis.info("server"))?.[1] ?? "" }),
    },
    steps: "over MCP",
    end: "waitMs",
    processes: [
      ["mongod", "mongod"],
      ["redis-server", "redis"],
      ["services/planwright/", "planwright"],
      ["services/api/", "api"],
      ["services/executor/", "executor"],
      ["services/planner/", "planner"],
      ["services/blog-tools/", "blog-tools"],
      ["counting-tool-server", "tools"],
    ],
    pids: Object.values(stack.processes).flatMap((managed) => managed?.pid() ?? []),
    async runPlan() {
      const answer = await client.send(submission);
      if (!answer.includes('"status":"COMPLETED"'))
        throw new PlanNotCompletedError({ contender: name, reason: `it answered ${answer}` });
    },
    counts: async () => ({ ...(await mongoCounts(mongo)), ...(redis && (await redisCounts(redis))) }),
    async close() {
      client.close();
      redis?.disconnect();
      await mongo.close();
      await stack.kill();
    },
  };
}

/** Version of this repository. */
export function ownVersion(): string {
  const text = readFileSync(new URL("../../../../../package.json", import.meta.url), "utf8");
  return VersionSchema.parse(JSON.parse(text)).version;
}

const StatusSchema = z.object({
  metrics: z.object({
    document: z.object({
      inserted: z.coerce.number(),
      updated: z.coerce.number(),
      deleted: z.coerce.number(),
      returned: z.coerce.number(),
    }),
    commands: z.record(z.string(), z.unknown()),
  }),
});
const CommandSchema = z.object({ total: z.coerce.number() });

/** Commands of the driver and of this benchmark, which no plan causes. */
const NOT_OF_PLANS: ReadonlySet<string> = new Set(["hello", "isMaster", "ping", "serverStatus"]);

/**
 * Documents and commands since MongoDB started: `serverStatus` counts all clients, the waiting of change
 * streams included.
 */
async function mongoCounts(client: MongoClient): Promise<Record<string, number>> {
  const status = await client.db("admin").command({ serverStatus: 1 });
  const { document, commands } = StatusSchema.parse(status).metrics;
  const totals = Object.entries(commands).map(([name, command]) => {
    const parsed = CommandSchema.safeParse(command); // some are numbers, or groups
    return parsed.success && !NOT_OF_PLANS.has(name) ? parsed.data.total : 0;
  });
  return {
    "documents written": document.inserted + document.updated + document.deleted,
    "documents read": document.returned,
    "MongoDB commands": totals.reduce((sum, total) => sum + total, 0),
  };
}

/** Commands since Redis started, those of scripts included. */
async function redisCounts(redis: Redis): Promise<Record<string, number>> {
  const commands = /^total_commands_processed:(\d+)/m.exec(await redis.info("stats"))?.[1];
  return { "Redis commands": Number(commands ?? 0) };
}
