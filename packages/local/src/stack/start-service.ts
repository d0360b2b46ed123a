import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CodedError } from "@planwright/plan";
import { startChild } from "../children/child.ts";
import { type ManagedProcess, type Supervision, supervise } from "../children/supervise.ts";

/** The roles of a stack, each with a service of its own. */
export type RoleName = "executor" | "planner" | "api";
/** The services of a stack, by their folders; "planwright" runs all roles in one process. */
export type ServiceName = RoleName | "blog-tools" | "planwright";

const SERVICES = new URL("../../../../services/", import.meta.url);
/**
 * Size of a semi-space, in MiB: most objects are short-lived, and a small young generation is collected too
 * often.
 */
const YOUNG_GENERATION = "--max-semi-space-size=32";
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
export interface ServiceOptions {
  name: ServiceName;
  env: NodeJS.ProcessEnv;
  /** Address of its `/readyz`. */
  readyUrl: string;
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
  const { name, env, readyUrl, logFile, supervision } = options;
  const main = options.main ?? fileURLToPath(new URL(`${name}/dist/main.js`, SERVICES));
  if (!existsSync(main)) throw new NotBuiltError(name);
  const args = [YOUNG_GENERATION, main];
  return supervise({
    ...supervision,
    name,
    spawn: () => startChild({ name, command: process.execPath, args, env, logFile }),
    isReady: () => answersOk(readyUrl),
    stopTimeoutMs: STOP_MS,
  });
}

async function answersOk(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await response.arrayBuffer();
  return response.ok;
}
