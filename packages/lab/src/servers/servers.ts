import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient, graphql } from "@planwright/client";
import { startMongo, startRedis } from "@planwright/local";
import { CodedError } from "@planwright/plan";
import { say } from "../command/developer-command.ts";

type ServiceName = "api" | "planner" | "executor";

/** A service did not become ready. Its output says why. */
export class ServiceNotStartedError extends CodedError<{ service: ServiceName }> {
  readonly code = "SERVICE_NOT_STARTED";
  readonly retryable = false;
  constructor(facts: { service: ServiceName }) {
    super(`The service ${facts.service} did not become ready; see its output above`, facts);
  }
}

/** A service as a separate process. */
export interface ServiceProcess {
  pid: number;
  /** URL of the API, such as http://127.0.0.1:41234/graphql; "" for other services. */
  url: string;
  /** True after the process has ended for any reason. */
  hasEnded(): boolean;
  /** Default: SIGTERM. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** Node's options to run a program from source, without a build. */
export const FROM_SOURCE = ["--import", "tsx", "-C", "@planwright/source"] as const;
const SERVICES = new URL("../../../../services/", import.meta.url);

/**
 * Starts a service and waits until it logs that it is ready.
 * @param program - "build": as it is deployed; "source": without a build
 * @throws {ServiceNotStartedError}
 */
export async function startService(
  service: ServiceName,
  program: "build" | "source",
  env: Record<string, string>,
): Promise<ServiceProcess> {
  const main = program === "build" ? "dist/main.js" : "src/main.ts";
  const child = spawn(
    process.execPath,
    [
      "--max-semi-space-size=32",
      ...(program === "source" ? FROM_SOURCE : []),
      fileURLToPath(new URL(`${service}/${main}`, SERVICES)),
    ],
    {
      env: { PATH: process.env["PATH"], PORT: "0", HEALTH_PORT: "0", LOG_LEVEL: "info", ...env },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const exit = once(child, "exit");
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes(`"msg":"${service} ready"`)) continue;
    child.stdout.resume();
    return {
      pid: child.pid ?? 0,
      url: /"url":"([^"]+)"/.exec(line)?.[1] ?? "",
      hasEnded,
      async stop(signal = "SIGTERM") {
        if (hasEnded()) return;
        child.kill(signal);
        await exit;
      },
    };
  }
  throw new ServiceNotStartedError({ service });
}

/** A MongoDB and a Redis for one benchmark, with a folder for its files. */
interface BenchServers {
  folder: string;
  redisUrl: string;
  /** The URL with the name of a database as its path. */
  mongodbUrl(database: string): string;
  /** Ends both servers and removes the folder. */
  stop(): Promise<void>;
}

/** Starts the servers. */
export async function startServers(): Promise<BenchServers> {
  const folder = await mkdtemp(join(tmpdir(), "planwright-bench-"));
  const [mongo, redis] = await Promise.all([
    startMongo({ dataDir: folder }),
    startRedis({ dataDir: folder }),
  ]);
  return {
    folder,
    redisUrl: redis.url,
    mongodbUrl: (database) => mongo.url.replace("/?", `/${database}?`),
    async stop() {
      await Promise.all([mongo.kill(), redis.kill()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const TOOLS = graphql("{ getAvailableTools { name } }");
const TIMEOUT_MS = 60_000;
const POLL_EVERY_MS = 100;

/** The API still does not know these tools after the timeout. */
class ToolsNotKnownError extends CodedError<{ missing: string[] }> {
  readonly code = "TOOLS_NOT_KNOWN";
  readonly retryable = true;
  constructor(missing: string[]) {
    super(`The API did not know ${missing.join(", ")} after ${TIMEOUT_MS} ms`, { missing });
  }
}

/**
 * Waits until the API knows these tools: executors publish the catalogues of tool servers shortly after they
 * become ready.
 * @throws {ToolsNotKnownError}
 */
export async function waitForTools(apiUrl: string, names: readonly string[]): Promise<void> {
  const client = createClient({ url: apiUrl });
  const deadlineAt = performance.now() + TIMEOUT_MS;
  for (;;) {
    const { getAvailableTools } = await client.execute(TOOLS, {});
    const missing = names.filter((name) => getAvailableTools.every((tool) => tool.name !== name));
    if (missing.length === 0) return;
    if (performance.now() > deadlineAt) throw new ToolsNotKnownError(missing);
    await delay(POLL_EVERY_MS);
  }
}

/** npm could not install the packages. The output of npm says why. */
class PackagesNotInstalledError extends CodedError<{ folder: string }> {
  readonly code = "PACKAGES_NOT_INSTALLED";
  readonly retryable = true;
  constructor(folder: string) {
    super(`The packages were not installed into ${folder}, see the output of npm above`, { folder });
  }
}

/** Packages from npm and a folder for them. */
interface PackagesOptions {
  /** Made when absent. Its node_modules gets the packages. */
  folder: string;
  /** Exact versions by name. */
  packages: Readonly<Record<string, string>>;
  /** What they are, with their size, such as "peers (about 300 MB)". */
  what: string;
}

/** True when exactly these versions were installed there before. */
export function areInstalled({ folder, packages }: PackagesOptions): boolean {
  const done = join(folder, "installed.json");
  return existsSync(done) && readFileSync(done, "utf8") === manifestOf(packages);
}

/**
 * Installs packages from npm, without running their scripts, unless exactly these versions are installed
 * already.
 * @throws {PackagesNotInstalledError}
 */
export function installPackages(options: PackagesOptions): void {
  if (areInstalled(options)) return;
  const { folder, packages, what } = options;
  say(`Installing ${what} into ${folder} ...`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), manifestOf(packages));
  const { status } = spawnSync(
    "npm",
    ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--engine-strict=false"],
    { cwd: folder, stdio: ["ignore", 2, 2] },
  );
  if (status !== 0) throw new PackagesNotInstalledError(folder);
  writeFileSync(join(folder, "installed.json"), manifestOf(packages));
}

function manifestOf(packages: Readonly<Record<string, string>>): string {
  return `${JSON.stringify({ private: true, dependencies: packages }, null, 2)}\n`;
}
