import { setTimeout as delay } from "node:timers/promises";
import type { Child } from "./children/child.ts";
import { type ManagedProcess, type Supervision, supervise } from "./children/supervise.ts";
import { ProcessNotReadyError } from "./errors.ts";

/** Where a server keeps its data, and who receives its messages. */
export interface ServerOptions {
  /** Folder for data and logs; made when absent. Data found there is used again. */
  dataDir: string;
  /** Environment to read MONGODB_URL, REDIS_URL and PATH from; default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Receives lines for the user, such as that a download has begun; default: they are dropped. */
  say?: (line: string) => void;
  /** How it is kept running; default: it is not started again when it ends. */
  supervision?: Supervision;
}

/** A running server. One that is not ours (MONGODB_URL, REDIS_URL) has no pid, and ending it does nothing. */
export interface LocalServer extends ManagedProcess {
  /** Stays the same over {@link ManagedProcess.restart}. */
  readonly url: string;
}

/** A server that the user runs. */
export function externalServer(name: string, url: string): LocalServer {
  const nothing = () => Promise.resolve();
  return { name, url, pid: () => undefined, kill: nothing, restart: nothing, stop: nothing };
}

interface LocalServerOptions extends Supervision {
  /** Such as "MongoDB". */
  name: string;
  choosePort: () => Promise<number>;
  urlOf: (port: number) => string;
  spawn: (port: number) => Promise<Child>;
  /** Whether it serves. */
  isReady: (port: number) => Promise<boolean>;
}

const TRIES = 10;
const BETWEEN_TRIES_MS = 1_000;

/**
 * Starts a server on a free port and waits until it serves. Tries again for 10 s while the port was taken
 * meanwhile (on another one) or while the server of a run that has just been killed still holds the data.
 */
export async function localServer(options: LocalServerOptions): Promise<LocalServer> {
  const { choosePort, urlOf, spawn, isReady, ...supervision } = options;
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort();
    try {
      const process_ = await supervise({
        ...supervision,
        spawn: () => spawn(port),
        isReady: () => isReady(port),
      });
      return { ...process_, url: urlOf(port) };
    } catch (error) {
      if (attempt === TRIES || !isPassing(error)) throw error;
      await delay(BETWEEN_TRIES_MS);
    }
  }
}

/**
 * True when the next try may succeed: a port was taken meanwhile, or a server that is ending still holds the
 * data.
 */
function isPassing(error: unknown): boolean {
  return error instanceof ProcessNotReadyError && /address already in use|DBPathInUse/i.test(error.message);
}
