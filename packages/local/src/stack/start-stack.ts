import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { freePort } from "../children/free-port.ts";
import { lastLines } from "../children/log-tail.ts";
import { ProcessNotReadyError } from "../errors.ts";
import type { LocalServer } from "../local-server.ts";
import { startMongo } from "../mongo/start-mongo.ts";
import { startRedis } from "../redis/start-redis.ts";
import { graphql } from "./graphql.ts";
import { writeMcpServersFile } from "./mcp-servers-file.ts";
import { type ManagedProcess, type ServiceName, startService } from "./start-service.ts";

/** The processes of a stack. */
export type ProcessName = ServiceName | "mongo" | "redis";

/** How the system is started on one machine. */
export interface StackOptions {
  /** Folder for data, logs and the servers file; made when absent. Two stacks need two folders. */
  dataDir: string;
  /** Name of the database; default "planwright". The blog tools use the same with "_blog" behind it. */
  database?: string;
  /** Port of the API; default: a free one. */
  apiPort?: number;
  /** What the services get beside what the stack sets itself; default: the environment of this process. */
  env?: NodeJS.ProcessEnv;
  /** Settings of single services, such as { executor: { LEASE_MS: "2000" } }. */
  settings?: Partial<Record<ServiceName, NodeJS.ProcessEnv>>;
  /** Receives lines for the user; default: says nothing. */
  say?: (line: string) => void;
  /** Told when a service ends without being asked to; default: said to the user. */
  onCrash?: (name: ServiceName, how: string, logFile: string) => void;
}

/** A running system. */
export interface Stack {
  /** The GraphQL endpoint, such as http://127.0.0.1:4000/graphql. */
  apiUrl: string;
  /** With the name of Planwright's database in it. */
  mongodbUrl: string;
  /** With the name of the blog tools' database in it. */
  blogMongodbUrl: string;
  redisUrl: string;
  logDir: string;
  processes: Readonly<Record<ProcessName, ManagedProcess>>;
  /** Ends the services in good order, then the servers. A second call waits for the first. */
  stop(): Promise<void>;
  /** Ends everything at once. */
  kill(): Promise<void>;
}

/**
 * Starts MongoDB, Redis and the built services as processes of their own, each once the ones it needs are ready, and waits
 * until the tools are known. Nothing is left running when it fails.
 * @throws {ServerNotAvailableError} {ServerNotSuitableError} {NotBuiltError} {McpServersFileError}
 * @throws {ProcessNotReadyError} with the last log lines of the one that did not come up
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true });
  const started: { kill(): Promise<void> }[] = [];
  const keep = async <T extends { kill(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const one = await starting;
    started.push(one);
    return one;
  };
  try {
    return await startAll({ ...options, dataDir }, keep);
  } catch (error) {
    await Promise.all(started.map((one) => one.kill()));
    throw error;
  }
}

type Keep = <T extends { kill(): Promise<void> }>(starting: Promise<T>) => Promise<T>;

async function startAll(options: StackOptions, keep: Keep): Promise<Stack> {
  const { dataDir, database = "planwright", env = process.env, say = () => undefined } = options;
  const logDir = join(dataDir, "logs");
  const [mongo, redis] = await allOrError([
    keep(startMongo({ dataDir, env, say })),
    keep(startRedis({ dataDir, env, say })),
  ]);
  const mongodbUrl = withDatabase(mongo.url, database);
  const blogMongodbUrl = withDatabase(mongo.url, `${database}_blog`);
  const onCrash =
    options.onCrash ?? ((name, how, logFile) => say(`${name} ${how}. Its log is in ${logFile}`));

  const common = { ...withoutServiceSettings(env), NODE_ENV: "production", HOST: "127.0.0.1" };
  const serversFile = join(dataDir, "mcp-servers.json");
  const shared = { MONGODB_URL: mongodbUrl, REDIS_URL: redis.url, MCP_SERVERS_FILE: serversFile };
  const start = async (
    name: ServiceName,
    portName: "PORT" | "HEALTH_PORT",
    own: NodeJS.ProcessEnv,
    wish?: number,
  ) => {
    const port = wish ?? (await freePort());
    const service = await keep(
      startService({
        name,
        env: { ...common, ...shared, ...own, ...options.settings?.[name], [portName]: String(port) },
        readyUrl: `http://127.0.0.1:${port}/readyz`,
        logFile: join(logDir, `${name}.log`),
        onCrash,
      }),
    );
    return { service, port };
  };

  const startTools = async () => {
    const blog = await start("blog-tools", "PORT", { MONGODB_URL: blogMongodbUrl });
    writeMcpServersFile(serversFile, `http://127.0.0.1:${blog.port}/mcp`, env["MCP_SERVERS_FILE"]);
    const executor = await start("executor", "HEALTH_PORT", {});
    return { blog, executor };
  };
  const [{ blog, executor }, planner, api] = await allOrError([
    startTools(),
    start("planner", "HEALTH_PORT", {}),
    start("api", "PORT", {}, options.apiPort),
  ]);
  const apiUrl = `http://127.0.0.1:${api.port}/graphql`;
  await waitForTools(apiUrl, join(logDir, "executor.log"));

  const services = [api.service, planner.service, executor.service, blog.service];
  const servers = [redis, mongo];
  const all = [...services, ...servers];
  let stopping: Promise<void> | undefined;
  return {
    apiUrl,
    mongodbUrl,
    blogMongodbUrl,
    redisUrl: redis.url,
    logDir,
    processes: {
      api: api.service,
      planner: planner.service,
      executor: executor.service,
      "blog-tools": blog.service,
      mongo: named("mongo", mongo),
      redis: named("redis", redis),
    },
    stop() {
      stopping ??= (async () => {
        // The blog tools last: the executor may still be finishing calls.
        await Promise.all([api.service.stop(), planner.service.stop(), executor.service.stop()]);
        await blog.service.stop();
        await Promise.all(servers.map((server) => server.stop()));
      })();
      return stopping;
    },
    kill: async () => void (await Promise.all(all.map((one) => one.kill()))),
  };
}

/** Waits for all, also when one fails, so that whoever cleans up knows everything that was started. */
async function allOrError<T extends readonly Promise<unknown>[]>(
  promises: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

function named(name: string, server: LocalServer): ManagedProcess {
  return { ...server, name };
}

/** The same server with another database; the user's own options stay. */
function withDatabase(url: string, database: string): string {
  const [, start = url, query = ""] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?(\?.*)?$/.exec(url) ?? [];
  return `${start}/${database}${query}`;
}

/** What would reach all services at once although it is meant for one, or for none. */
function withoutServiceSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PORT: _port, HEALTH_PORT: _healthPort, NODE_OPTIONS: _nodeOptions, ...rest } = env;
  return rest;
}

const ToolsSchema = z.object({ getAvailableTools: z.array(z.object({ server: z.string() })) });

/** The executor publishes the tools once it has listed them, which may be just after it became ready. */
async function waitForTools(apiUrl: string, logFile: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const query = "{ getAvailableTools { server } }";
    const { getAvailableTools } = await graphql(apiUrl, { query, schema: ToolsSchema });
    if (getAvailableTools.some(({ server }) => server === "blog")) return;
    if (performance.now() > deadline) {
      const reason = "did not publish the tools of the blog server within 30 s";
      throw new ProcessNotReadyError({ name: "executor", reason, logFile }, lastLines(logFile));
    }
    await delay(50);
  }
}
