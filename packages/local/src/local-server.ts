import { setTimeout as delay } from "node:timers/promises";
import type { Child } from "./children/child.ts";
import { ProcessNotReadyError } from "./errors.ts";

/** Where a server keeps its data, and whom it tells what it does. */
export interface ServerOptions {
  /** Folder for data and logs; made when absent. Data found there is used again. */
  dataDir: string;
  /** Environment to read MONGODB_URL, REDIS_URL and PATH from; default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Receives lines for the user, such as that a download has begun; default: says nothing. */
  say?: (line: string) => void;
}

/** A running server. */
export interface LocalServer {
  /** Stays the same over {@link restart}. */
  readonly url: string;
  /** Undefined when the server is not ours (MONGODB_URL, REDIS_URL). */
  pid(): number | undefined;
  /** Ends it at once, data kept; for tests of faults. Does nothing to a server that is not ours. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on its old port with its old data, after stopping it if it still runs. */
  restart(): Promise<void>;
  /** Ends it in good order; a second call does nothing. Leaves a server that is not ours alone. */
  stop(): Promise<void>;
}

/** A server that someone else runs. */
export function externalServer(url: string): LocalServer {
  const nothing = () => Promise.resolve();
  return { url, pid: () => undefined, kill: nothing, restart: nothing, stop: nothing };
}

interface LocalServerParts {
  choosePort: () => Promise<number>;
  urlOf: (port: number) => string;
  /** Starts the process and waits until it serves. */
  start: (port: number) => Promise<Child>;
}

const TRIES = 10;
const BETWEEN_TRIES_MS = 1_000;

/**
 * Starts a server on a free port. Tries again for 10 s while the port was taken meanwhile (on another one) or while the
 * server of a run that has just been killed still holds the data.
 */
export async function localServer({ choosePort, urlOf, start }: LocalServerParts): Promise<LocalServer> {
  let port = await choosePort();
  let child = await begin();

  async function begin(): Promise<Child> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await start(port);
      } catch (error) {
        if (attempt === TRIES || !isPassing(error)) throw error;
        await delay(BETWEEN_TRIES_MS);
        port = await choosePort();
      }
    }
  }

  return {
    url: urlOf(port),
    pid: () => (child.ended() === undefined ? child.pid : undefined),
    kill: (signal) => child.kill(signal),
    stop: () => child.stop(),
    async restart() {
      await child.stop();
      child = await start(port);
    },
  };
}

/** True when the reason goes away by itself: a port taken meanwhile, data still held by a server that is ending. */
function isPassing(error: unknown): boolean {
  return error instanceof ProcessNotReadyError && /address already in use|DBPathInUse/i.test(error.message);
}
