import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { ApiRefusedError, createClient, graphql, type ResultOf } from "@planwright/client";
import { CodedError } from "@planwright/plan";
import json5 from "json5";
import pRetry from "p-retry";
import { z } from "zod";
import {
  growingDelayMs,
  lastLines,
  type ManagedProcess,
  type Supervision,
  type UnexpectedEnd,
} from "./child.ts";
import { makeDataFolder } from "./data-folders.ts";
import { DataFolderError, ProcessNotReadyError } from "./errors.ts";
import { localFetch } from "./local-fetch.ts";
import { freePort, freePorts } from "./ports.ts";
import { startMongo } from "./start-mongo.ts";
import { startRedis } from "./start-redis.ts";
import {
  checkSettings,
  operateProgram,
  type RoleName,
  type ServiceName,
  startService,
} from "./start-service.ts";

/** The parts of a stack that have a process; with `isTogether` the roles have the same one. */
export type ProcessName = RoleName | "blog-tools" | "mongo" | "redis";

/** Options of starting the system on one machine. */
export interface StackOptions {
  /** Folder for data, logs and the servers file; made when absent. Two stacks need two folders. */
  dataDir: string;
  /** Name of the database; default "planwright". The blog tools use this name followed by "_blog". */
  database?: string;
  /** Port of the API; default: a free one. */
  apiPort?: number;
  /** The environment of the services, to which the stack adds its settings; default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Settings for single services, such as { executor: { DEAD_AFTER_MS: "2000" } }. */
  settings?: Partial<Record<ServiceName, NodeJS.ProcessEnv>>;
  /** The files that Node runs for single services; default: their builds. */
  mains?: Partial<Record<ServiceName, string>>;
  /**
   * Longest wait for the tools of servers other than the blog tools, from the start of the executor, in
   * milliseconds; default 5,000.
   */
  serversTimeoutMs?: number;
  /** Receives lines for the user; default: they are dropped. */
  say?: (line: string) => void;
  /**
   * True: API, planner and executor run in one process, which uses a Redis only if REDIS_URL names one. Default: each
   * in its own, with a Redis.
   */
  isTogether?: boolean;
  /** With `isTogether`, how many processes run all roles, behind one port; more than one need Redis. Default 1. */
  processes?: number;
  /** True: a process that ends unexpectedly is started again, with growing waits. Default: it is not. */
  isSupervised?: boolean;
}

/** A running system. */
export interface Stack {
  /** The GraphQL endpoint, such as http://127.0.0.1:4000/graphql. */
  apiUrl: string;
  /**
   * Key for the requests of this program, for a day, with the scopes read and execute; undefined when the API
   * needs none. Only its hash is stored.
   */
  apiKey: string | undefined;
  /** With the name of Planwright's database in it. */
  mongodbUrl: string;
  /** With the name of the blog tools' database in it. */
  blogMongodbUrl: string;
  /** Undefined where one process works without it. */
  redisUrl: string | undefined;
  /** Where each role and the tools answer `/healthz`, `/readyz` and `/metrics`, such as http://127.0.0.1:4000. */
  healthUrls: Readonly<Record<RoleName | "blog-tools", string>>;
  logDir: string;
  processes: Readonly<Record<Exclude<ProcessName, "redis">, ManagedProcess>> & {
    readonly redis: ManagedProcess | undefined;
  };
  /** Stops the services in order, then the servers. A second call waits for the first. */
  stop(): Promise<void>;
  /** Kills all processes at once. */
  kill(): Promise<void>;
}

/**
 * Starts MongoDB, Redis if it is needed, and the built services as separate processes, each after the ones that it
 * needs are ready. Waits until the tools are known, except those of servers that cannot be reached or take too
 * long. When the start fails, no process stays running.
 * @throws {WrongSettingsError} {DataFolderError} {ServerNotAvailableError} {ServerNotSuitableError}
 * @throws {NotBuiltError}
 * @throws {ProcessNotReadyError} with the last log lines of the process that did not become ready
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = resolve(options.dataDir);
  await checkAllSettings(options);
  makeDataFolder(dataDir);
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
    throw isFileError(error, dataDir) ? new DataFolderError(dataDir, error) : error;
  }
}

/** True when a file or folder below `folder` could not be made or written. */
function isFileError(error: unknown, folder: string): boolean {
  const path = error instanceof Error && "syscall" in error && "path" in error ? error.path : undefined;
  return typeof path === "string" && path.startsWith(folder);
}

/** Placeholders for the servers, which are started after the settings were checked. */
const NOT_YET = { MONGODB_URL: "mongodb://not-started-yet", REDIS_URL: "redis://not-started-yet" };

/**
 * Checks the settings before anything is started or downloaded, so that a wrong setting gives one clear
 * message.
 */
async function checkAllSettings({ env = process.env, settings }: StackOptions): Promise<void> {
  const given = { ...withoutServiceSettings(env), ...NOT_YET };
  const servers = env["MCP_SERVERS_FILE"];
  const checks = [checkSettings("planner", { ...given, ...settings?.planner })];
  if (servers !== undefined && servers !== "")
    checks.push(checkSettings("executor", { ...given, ...settings?.executor }));
  await allOrError(checks);
}

/** The environment of a check of settings: with a placeholder for the database that a start would start. */
export function environmentToCheck(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...withoutServiceSettings(env), MONGODB_URL: env["MONGODB_URL"] || NOT_YET.MONGODB_URL };
}

type Keep = <T extends { kill(): Promise<void> }>(starting: Promise<T>) => Promise<T>;

async function startAll(options: StackOptions, keep: Keep): Promise<Stack> {
  const { dataDir, database = "planwright", env = process.env, say = () => undefined } = options;
  const logDir = join(dataDir, "logs");
  const supervision: Supervision = {
    onUnexpectedEnd: (end) => say(unexpectedEndLine(end, logDir)),
    restartDelayMs: options.isSupervised ? growingDelayMs : undefined,
  };
  const { processes = 1 } = options;
  const needsRedis = !options.isTogether || processes > 1 || Boolean(env["REDIS_URL"]);
  const [mongo, redis] = await allOrError([
    keep(startMongo({ dataDir, env, say, supervision })),
    needsRedis ? keep(startRedis({ dataDir, env, say, supervision })) : Promise.resolve(undefined),
  ]);
  const mongodbUrl = withDatabase(mongo.url, database);
  const blogMongodbUrl = withDatabase(mongo.url, `${database}_blog`);

  const common = { ...withoutServiceSettings(env), NODE_ENV: "production", HOST: "127.0.0.1" };
  const serversFile = join(dataDir, "mcp-servers.json");
  const shared = {
    MONGODB_URL: mongodbUrl,
    ...(redis && { REDIS_URL: redis.url }),
    MCP_SERVERS_FILE: serversFile,
  };
  const start = async (
    name: ServiceName,
    portName: "PORT" | "HEALTH_PORT",
    settings: NodeJS.ProcessEnv,
    { port: wantedPort, count = 1 }: { port?: number | undefined; count?: number } = {},
  ) => {
    const port = wantedPort ?? (await freePort());
    const service = await keep(
      startService({
        name,
        env: { ...common, ...shared, ...settings, ...options.settings?.[name], [portName]: String(port) },
        args: count > 1 ? ["--processes", String(count)] : [],
        readyUrls: Array.from({ length: count }, (_, index) => `http://127.0.0.1:${port + index}/readyz`),
        logFile: join(logDir, `${name}.log`),
        supervision,
        main: options.mains?.[name],
      }),
    );
    return { service, port };
  };

  const startBlog = (port: number) => start("blog-tools", "PORT", { MONGODB_URL: blogMongodbUrl }, { port });
  /** Returns what to wait for when the executor is started now. */
  const writeServers = (blogPort: number) => {
    const blogUrl = `http://127.0.0.1:${blogPort}/mcp`;
    const servers = writeMcpServersFile(serversFile, blogUrl, env["MCP_SERVERS_FILE"]);
    return { servers, startedAt: Date.now() };
  };
  const startTogether = async () => {
    // Chosen before any of the processes listens, so they could be the same.
    const ports = new Set(options.apiPort === undefined ? [] : [options.apiPort]);
    while (ports.size < 2) ports.add(await freePort());
    const [port = 0, blogPort = 0] = ports;
    const healthPort = await freePorts(processes, ports);
    const awaited = writeServers(blogPort);
    // At the same time: tools that are not ready when the executor connects are tried again soon.
    const [blog, all] = await allOrError([
      startBlog(blogPort),
      start(
        "planwright",
        "HEALTH_PORT",
        { DATA_DIR: dataDir, PORT: String(port) },
        { port: healthPort, count: processes },
      ),
    ]);
    return { blog, awaited, executor: all, planner: all, api: { ...all, port } };
  };
  const startApart = async () => {
    const startExecutor = async () => {
      const blog = await startBlog(await freePort());
      const awaited = writeServers(blog.port);
      return { blog, awaited, executor: await start("executor", "HEALTH_PORT", { DATA_DIR: dataDir }) };
    };
    const [tools, planner, api] = await allOrError([
      startExecutor(),
      start("planner", "HEALTH_PORT", {}),
      start("api", "PORT", {}, { port: options.apiPort }),
    ]);
    return { ...tools, planner, api };
  };
  const { blog, executor, planner, api, awaited } = await (options.isTogether
    ? startTogether()
    : startApart());
  const addressOf = ({ port }: { port: number }) => `http://127.0.0.1:${port}`;
  const apiUrl = `${addressOf(api)}/graphql`;
  const apiEnv: NodeJS.ProcessEnv = { ...common, ...shared, ...options.settings?.api };
  const apiKey = apiEnv["ANONYMOUS"] === "refuse" ? await makeApiKey(apiEnv) : undefined;
  const { serversTimeoutMs } = options;
  const logFile = join(logDir, `${executor.service.name}.log`);
  await waitForTools({ apiUrl, apiKey }, { ...awaited, serversTimeoutMs, logFile, say });

  const roles = [...new Set([api.service, planner.service, executor.service])];
  const servers = redis ? [redis, mongo] : [mongo];
  const all = [...roles, blog.service, ...servers];
  let stopping: Promise<void> | undefined;
  return {
    apiUrl,
    apiKey,
    mongodbUrl,
    blogMongodbUrl,
    redisUrl: redis?.url,
    healthUrls: {
      api: addressOf(api),
      planner: addressOf(planner),
      executor: addressOf(executor),
      "blog-tools": addressOf(blog),
    },
    logDir,
    processes: {
      api: api.service,
      planner: planner.service,
      executor: executor.service,
      "blog-tools": blog.service,
      mongo,
      redis,
    },
    stop() {
      stopping ??= (async () => {
        // The blog tools last: the executor may still be finishing calls.
        await Promise.all(roles.map((role) => role.stop()));
        await blog.service.stop();
        await Promise.all(servers.map((server) => server.stop()));
      })();
      return stopping;
    },
    kill: async () => void (await Promise.all(all.map((one) => one.kill()))),
  };
}

/**
 * Waits for all promises, also when one fails, so that the caller knows everything that it has to clean up.
 */
async function allOrError<T extends readonly Promise<unknown>[]>(
  promises: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/**
 * One line: the process, how it ended, and when it is started again. Of a long reason, such as log lines,
 * only the first line is kept.
 */
function unexpectedEndLine({ name, how, restartsInMs }: UnexpectedEnd, logDir: string): string {
  const [reason = ""] = how.split("\n");
  const next = restartsInMs === undefined ? "" : `; it is started again in ${restartsInMs / 1_000} s`;
  return `${name} ${reason.replace(`${name} `, "")}${next}. Logs: ${logDir}`;
}

/** Removes variables that are for one service or none, and must not reach all services. */
function withoutServiceSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PORT: _port, HEALTH_PORT: _healthPort, NODE_OPTIONS: _nodeOptions, ...rest } = env;
  return rest;
}

/**
 * The same server with another database; the options in the URL are kept. Users log in where they did before:
 * without `authSource` the database of the URL names that place.
 */
export function withDatabase(url: string, database: string): string {
  const [, start = url, before = "", options = ""] =
    /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(url) ?? [];
  const authSource =
    start.includes("@") && !/(?:^|&)authSource=/.test(options) ? `authSource=${before || "admin"}` : "";
  const query = [options, authSource].filter((part) => part !== "").join("&");
  return `${start}/${database}${query && `?${query}`}`;
}

/** The command that makes keys failed. The message contains its output. */
class KeyNotMadeError extends CodedError {
  readonly code = "KEY_NOT_MADE";
  readonly retryable = false;
}

/**
 * Makes a key with the scopes read and execute, for a day, with the command of the API.
 * @param env - settings of the API: the database, and the tenant, which owns the requests of this program
 * @throws {KeyNotMadeError}
 */
async function makeApiKey(env: NodeJS.ProcessEnv): Promise<string> {
  const tenant = env["TENANT"] || "default";
  const words = [
    "create",
    "--tenant",
    tenant,
    "--scope",
    "read,execute",
    "--name",
    "planwright up",
    "--days",
    "1",
  ];
  const child = spawn(process.execPath, [operateProgram(), "keys", ...words], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [key, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  if (code !== 0) throw new KeyNotMadeError(`No key was made for this program's own requests: ${errors}`, {});
  return key.trim();
}

/**
 * Only the fields that merging needs: the user's file was checked before, and the executor checks each server
 * when it reads the result. Files of VS Code have other names for the first field.
 */
const ServersSchema = z.record(z.string(), z.unknown());
const FileSchema = z.looseObject({
  mcpServers: ServersSchema.optional(),
  servers: ServersSchema.optional(),
  mcp: z.looseObject({ servers: ServersSchema.optional(), mcpServers: ServersSchema.optional() }).optional(),
  inputs: z.array(z.unknown()).optional(),
});

/** How the clients write it. */
const DisabledSchema = z.union([
  z.looseObject({ disabled: z.literal(true) }),
  z.looseObject({ enabled: z.literal(false) }),
  z.looseObject({ isActive: z.literal(false) }),
]);

/**
 * Writes the servers file of a stack: the blog tools and the servers of the user's file. A server named
 * "blog" in that file replaces the blog tools. The file may contain secrets of the user's servers, so only
 * its owner may read it.
 * @returns the names of the servers that are not disabled
 */
export function writeMcpServersFile(path: string, blogUrl: string, userFile: string | undefined): string[] {
  const blog = { type: "http", url: blogUrl, trusted: true };
  const file = userFile === undefined || userFile === "" ? {} : readFile(userFile);
  const user = file.mcpServers ?? file.servers ?? file.mcp?.servers ?? file.mcp?.mcpServers;
  const mcpServers: Record<string, unknown> = { blog, ...user };
  const content = { ...(file.inputs && { inputs: file.inputs }), mcpServers };
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  return Object.keys(mcpServers).filter((name) => !DisabledSchema.safeParse(mcpServers[name]).success);
}

/** Files of other clients have comments, trailing commas, byte order marks. */
function readFile(path: string): z.output<typeof FileSchema> {
  const bytes = readFileSync(path);
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return FileSchema.parse(json5.parse(new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes)));
}

/** Longest wait for the blog tools, which are part of the system, in milliseconds. */
const BLOG_TIMEOUT_MS = 30_000;
/**
 * Longest wait for other servers, in milliseconds: a slow or dead one delays the start no longer. An executor
 * waits as long for them before it is ready.
 */
const SERVERS_TIMEOUT_MS = 5_000;
/** After the executor is ready, its states of the servers are published within this time, in milliseconds. */
const PUBLISHED_MS = 500;
const BETWEEN_READS_MS = 50;

const QUERY = graphql(`{ getAvailableTools { server } toolServers { name state tools since } }`);
type Answer = ResultOf<typeof QUERY>;

/** The tools to wait for. */
interface AwaitedTools {
  /** Names of all servers that the executor connects to. */
  servers: readonly string[];
  /** When the executor was started, in Unix milliseconds: older states of servers are from an earlier run. */
  startedAt: number;
  /** Longest wait for servers other than the blog tools, from `startedAt`, in milliseconds. Default 5,000. */
  serversTimeoutMs?: number | undefined;
  /** The log file of the process of the executor. */
  logFile: string;
  say: (line: string) => void;
}

/**
 * Waits until every server has published its tools or cannot be reached. The executor becomes ready while
 * slow servers are still starting. A server that takes longer is named, and the start continues.
 * @throws {ProcessNotReadyError} when the blog tools are not published, with the executor's last log lines
 */
async function waitForTools(
  { apiUrl, apiKey }: { apiUrl: string; apiKey: string | undefined },
  { servers, startedAt, serversTimeoutMs = SERVERS_TIMEOUT_MS, logFile, say }: AwaitedTools,
): Promise<void> {
  const client = createClient({ url: apiUrl, token: apiKey, fetch: localFetch });
  const begunAt = performance.now();
  let isWaitReported = false;
  for (;;) {
    const answer = await persistently(() => client.execute(QUERY, {}));
    const waitedMs = performance.now() - begunAt;
    if (hasTools(answer, "blog")) {
      const missing = servers.filter((name) => !isSettled(answer, name, startedAt));
      if (missing.length === 0) return;
      const names = missing.join(", ");
      if (Date.now() - startedAt > serversTimeoutMs && waitedMs > PUBLISHED_MS) {
        say(`No tools yet of: ${names}. Plans can use them as soon as they are published.`);
        return;
      }
      if (!isWaitReported)
        say(`Waiting at most ${serversTimeoutMs / 1_000} s for the tools of: ${names} ...`);
      isWaitReported = true;
    } else if (waitedMs > BLOG_TIMEOUT_MS) {
      const reason = `did not publish the tools of the blog server within ${BLOG_TIMEOUT_MS / 1_000} s`;
      throw new ProcessNotReadyError({ name: "executor", reason, logFile }, lastLines(logFile));
    }
    await delay(BETWEEN_READS_MS);
  }
}

function hasTools({ getAvailableTools }: Answer, name: string): boolean {
  return getAvailableTools.some(({ server }) => server === name);
}

/**
 * True if the server's tools are published (shortly after it connects), or it has none, or cannot be reached.
 */
function isSettled(answer: Answer, name: string, startedAt: number): boolean {
  const server = answer.toolServers.find((one) => one.name === name);
  if (!server || Date.parse(server.since) < startedAt || server.state === "CONNECTING") return false;
  return server.state !== "CONNECTED" || server.tools === 0 || hasTools(answer, name);
}

/** Codes of temporary refusals. */
const PASSING = new Set(["UNAVAILABLE", "OVERLOADED"]);
const TRIES = 120;
const BETWEEN_TRIES_MS = 500;

/**
 * Sends an operation, and sends it again for about a minute while the API cannot be reached or refuses
 * temporarily, for example while it is being restarted. For operations that may be sent twice: queries, and
 * mutations with an idempotency key.
 */
export function persistently<Result>(send: () => Promise<Result>): Promise<Result> {
  return pRetry(send, {
    retries: TRIES - 1,
    factor: 1,
    minTimeout: BETWEEN_TRIES_MS,
    shouldRetry: ({ error }) => !(error instanceof ApiRefusedError) || PASSING.has(error.facts.code),
  });
}
