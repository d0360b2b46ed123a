import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { ServerNotAvailableError } from "../errors.ts";
import { onPath } from "../on-path.ts";

const NAMES = ["redis-server", "valkey-server"];
const TRIES = 20;
const BETWEEN_TRIES_MS = 3_000;

/**
 * `redis-server` or `valkey-server` from the PATH; if there is none, Debian's package is installed, provided
 * that this needs no password.
 * @param say - receives lines for the user
 * @throws {ServerNotAvailableError} with the one command that the user should run
 */
export async function findRedis(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<string> {
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
