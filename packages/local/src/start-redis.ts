import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { noAnswerText } from "@planwright/plan";
import { Redis } from "ioredis";
import { startChild } from "./child.ts";
import { makeFolder } from "./data-folders.ts";
import { ServerNotAvailableError, ServerNotSuitableError } from "./errors.ts";
import { externalServer, type LocalServer, localServer, onPath, type ServerOptions } from "./local-server.ts";
import { freePort } from "./ports.ts";

const NAME = "Redis";

/**
 * Starts a Redis with an append-only file and without eviction. `REDIS_URL` in the environment names a server
 * to use instead. Data is in `dataDir/redis`, the log in `dataDir/logs/redis.log`.
 * @throws {ServerNotAvailableError} no binary; {ServerNotSuitableError} for REDIS_URL; {ProcessNotReadyError}
 */
export async function startRedis(options: ServerOptions): Promise<LocalServer> {
  const { dataDir, env = process.env, say = () => undefined } = options;
  const external = env["REDIS_URL"];
  if (external !== undefined && external !== "") {
    await requireAnswer(external);
    return externalServer(NAME, external);
  }
  const command = await findRedis(env, say);
  const folder = join(dataDir, "redis");
  makeFolder(folder);
  const urlOf = (port: number) => `redis://127.0.0.1:${port}`;
  return localServer({
    name: NAME,
    ...options.supervision,
    choosePort: freePort,
    urlOf,
    spawn: (port) =>
      startChild({
        name: NAME,
        command,
        args: redisArguments(folder, port),
        env,
        logFile: join(dataDir, "logs", "redis.log"),
      }),
    isReady: (port) => answers(urlOf(port)),
  });
}

function redisArguments(folder: string, port: number): string[] {
  return [
    ["--port", String(port)],
    ["--bind", "127.0.0.1"],
    ["--dir", folder],
    ["--appendonly", "yes"],
    ["--save", ""],
    ["--maxmemory-policy", "noeviction"],
    ["--daemonize", "no"],
  ].flat();
}

/** Sends one PING on a new connection. Rejects when no server listens. */
async function answers(url: string): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 5_000 });
  client.on("error", () => undefined); // the same error rejects connect()
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } finally {
    client.disconnect();
  }
}

async function requireAnswer(url: string): Promise<void> {
  await answers(url).catch((error: unknown) => {
    const text = noAnswerText("Redis", { at: new URL(url).host, setting: "REDIS_URL" });
    throw new ServerNotSuitableError("Redis", text, error);
  });
}

const NAMES = ["redis-server", "valkey-server"];
const TRIES = 20;
const BETWEEN_TRIES_MS = 3_000;

/**
 * `redis-server` or `valkey-server` from the PATH; if there is none, Debian's package is installed, provided
 * that this needs no password.
 * @param say - receives lines for the user
 * @throws {ServerNotAvailableError} with the one command that the user should run
 */
async function findRedis(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<string> {
  const found = onPath(NAMES, env["PATH"]);
  if (found !== undefined) return found;
  const asRoot = await rootPrefix(env);
  if (asRoot === undefined || onPath(["apt-get"], env["PATH"]) === undefined) throw notAvailable();
  say("Redis is not installed: installing Debian's package redis-server (first run only) ...");
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const isInstalled = await install(asRoot, env);
    const installed = onPath(NAMES, env["PATH"]);
    if (installed !== undefined) return installed;
    if (isInstalled) break;
    await delay(BETWEEN_TRIES_MS); // another apt-get may hold the lock, perhaps for the same package
  }
  throw notAvailable();
}

/** [] for root, sudo when it asks for no password, undefined otherwise. */
async function rootPrefix(env: NodeJS.ProcessEnv): Promise<string[] | undefined> {
  if (process.getuid?.() === 0) return [];
  const sudo = onPath(["sudo"], env["PATH"]);
  if (sudo === undefined) return undefined;
  return (await run([sudo, "-n", "true"], env)) ? [sudo, "-n"] : undefined;
}

async function install(asRoot: string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  const quiet = { ...env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = [...asRoot, "apt-get", "-qq"];
  return (
    (await run([...apt, "update"], quiet)) &&
    (await run([...apt, "install", "-y", "--no-install-recommends", "redis-server"], quiet))
  );
}

async function run([command = "", ...args]: string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  const child = spawn(command, args, { stdio: "ignore", env });
  const [code] = await once(child, "exit");
  return code === 0;
}

function notAvailable(): ServerNotAvailableError {
  const command = process.platform === "darwin" ? "brew install redis" : "sudo apt-get install redis-server";
  return new ServerNotAvailableError(
    "Redis",
    `Redis is not installed and could not be installed from here. Run: ${command}\n(Or start one with "docker compose up -d redis" and set REDIS_URL.)`,
  );
}
