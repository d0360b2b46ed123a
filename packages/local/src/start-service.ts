import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { CodedError } from "@planwright/plan";
import { type ManagedProcess, type Supervision, startChild, supervise } from "./child.ts";
import { localFetch } from "./local-fetch.ts";

/** The roles of a stack, each with a service of its own. */
export type RoleName = "executor" | "planner" | "api";
/** The services of a stack, by their folders; "planwright" runs all roles in one process. */
export type ServiceName = RoleName | "blog-tools" | "planwright";

/** The built services: those beside this program in the npm package `planwright`, else those of the repository. */
const PACKED = new URL("../services/", import.meta.url);
const SERVICES = existsSync(PACKED) ? PACKED : new URL("../../../services/", import.meta.url);
/**
 * Size of a semi-space, in MiB. In the roles most objects are short-lived, and a small young generation is collected
 * too often. The blog tools do little between two calls: with 2 MiB calls take the same processor time under load, and
 * the process 50 MiB less memory.
 */
const youngGeneration = (name: ServiceName): string =>
  `--max-semi-space-size=${name === "blog-tools" ? 2 : 32}`;
/** Longer than a service needs to finish its running calls, in milliseconds. */
const STOP_MS = 45_000;

/** A service was never built. */
export class NotBuiltError extends CodedError<{ service: string }> {
  readonly code = "NOT_BUILT";
  readonly retryable = false;
  constructor(service: string) {
    super(`The service ${service} is not built yet. Run: npm run build`, { service });
  }
}

/** Options of a service's start. */
interface ServiceOptions {
  name: ServiceName;
  env: NodeJS.ProcessEnv;
  /** Of its command line. */
  args?: readonly string[];
  /** Addresses of `/readyz` of its processes. */
  readyUrls: readonly string[];
  logFile: string;
  supervision?: Supervision;
  /** The file that Node runs; default: the service's build. */
  main?: string | undefined;
}

/**
 * Starts the built code of a service and waits until `/readyz` is 200.
 * @throws {NotBuiltError} and {ProcessNotReadyError} with its last log lines
 */
export async function startService(options: ServiceOptions): Promise<ManagedProcess> {
  const { name, env, readyUrls, logFile, supervision } = options;
  const main = options.main ?? builtProgram(name, "main.js");
  const args = [youngGeneration(name), main, ...(options.args ?? [])];
  return supervise({
    ...supervision,
    name,
    spawn: () => startChild({ name, command: process.execPath, args, env, logFile }),
    isReady: async () => (await Promise.all(readyUrls.map(answersOk))).every(Boolean),
    stopTimeoutMs: STOP_MS,
  });
}

async function answersOk(url: string): Promise<boolean> {
  const response = await localFetch(url, { signal: AbortSignal.timeout(2_000) });
  return response.ok;
}

/**
 * A service could not start with its settings. The message comes from the service and says what to change.
 */
export class WrongSettingsError extends CodedError<{ service: string }> {
  readonly code = "WRONG_SETTINGS";
  readonly retryable = false;
}

/** Port of the API without a setting; `planwright` uses it by default. */
export const API_PORT = 4000;

/** The port of the API: `PORT`, default 4000. @throws {WrongSettingsError} unless it is from 1 to 65535 */
export function apiPortOf(env: NodeJS.ProcessEnv): number {
  const text = env["PORT"] || String(API_PORT);
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  const message = `PORT is "${text}": set it to a whole number from 1 to 65535, or unset it for ${API_PORT}`;
  throw new WrongSettingsError(message, { service: "api" });
}

/**
 * The program of the commands that need the database and no running service.
 * @throws {NotBuiltError}
 */
export function operateProgram(): string {
  return builtProgram("api", "bin/operate.js");
}

/**
 * The program that runs all roles, which checks what settings name with `--check`.
 * @throws {NotBuiltError}
 */
export function checksProgram(): string {
  return builtProgram("planwright", "main.js");
}

function builtProgram(service: ServiceName, file: string): string {
  const program = fileURLToPath(new URL(`${service}/dist/${file}`, SERVICES));
  if (!existsSync(program)) throw new NotBuiltError(service);
  return program;
}

/**
 * Checks in a separate process, which starts nothing, whether a service could start with these settings.
 * @throws {WrongSettingsError} {NotBuiltError}
 */
export async function checkSettings(service: ServiceName, env: NodeJS.ProcessEnv): Promise<void> {
  const program = builtProgram(service, "bin/check-settings.js");
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "ignore", "pipe"] });
  const [message, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  // Node writes warnings there too, such as for a file of NODE_EXTRA_CA_CERTS that is gone.
  if (code !== 0) throw new WrongSettingsError(message.trim(), { service });
}
