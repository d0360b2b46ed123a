import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CodedError } from "@planwright/plan";
import { type Child, startChild } from "../children/child.ts";

/** The services of a stack, by their folders. */
export type ServiceName = "blog-tools" | "executor" | "planner" | "api";

const SERVICES = new URL("../../../../services/", import.meta.url);
/** Room for what lives shortly, in MiB: much passes through, little stays, and a small one is emptied again and again. */
const YOUNG_GENERATION = "--max-semi-space-size=32";
/** More than a service needs to finish its running calls. */
const STOP_MS = 35_000;

/** A service was never built. */
export class NotBuiltError extends CodedError<{ service: string }> {
  readonly code = "NOT_BUILT";
  readonly retryable = false;
  constructor(service: string) {
    super(`The service ${service} is not built yet. Run: npm run build`, { service });
  }
}

/** A process of a stack that tests may hurt and bring back. */
export interface ManagedProcess {
  readonly name: string;
  /** Undefined while it does not run, or is not ours. */
  pid(): number | undefined;
  /** Sends a signal to it and its children, default SIGKILL, and waits for its end. It stays away until restarted. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again as it was, on its old port, and waits until it is ready; stops it first if it still runs. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** How a service is started. */
export interface ServiceOptions {
  name: ServiceName;
  env: NodeJS.ProcessEnv;
  /** Address of its `/readyz`. */
  readyUrl: string;
  logFile: string;
  /** Told when it ended without being asked to. @param how - such as "exited with code 1" */
  onCrash: (name: ServiceName, how: string, logFile: string) => void;
}

/**
 * Starts the built code of a service and waits until `/readyz` is 200.
 * @throws {NotBuiltError} and {ProcessNotReadyError} with its last log lines
 */
export async function startService(options: ServiceOptions): Promise<ManagedProcess> {
  const { name, env, readyUrl, logFile, onCrash } = options;
  const main = fileURLToPath(new URL(`${name}/dist/main.js`, SERVICES));
  if (!existsSync(main)) throw new NotBuiltError(name);
  let isWanted = true;
  let child = await begin();

  async function begin(): Promise<Child> {
    isWanted = true;
    const started = await startChild({
      name,
      command: process.execPath,
      args: [YOUNG_GENERATION, main],
      env,
      logFile,
    });
    try {
      await started.ready(() => answersOk(readyUrl), 60_000);
    } catch (error) {
      await started.kill();
      throw error;
    }
    void started.exited.then(() => {
      if (isWanted) onCrash(name, started.ended() ?? "ended", logFile);
    });
    return started;
  }

  return {
    name,
    pid: () => (child.ended() === undefined ? child.pid : undefined),
    kill: (signal) => {
      isWanted = false;
      return child.kill(signal);
    },
    stop: () => {
      isWanted = false;
      return child.stop(STOP_MS);
    },
    async restart() {
      isWanted = false;
      await child.stop(STOP_MS);
      child = await begin();
    },
  };
}

async function answersOk(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await response.arrayBuffer();
  return response.ok;
}
