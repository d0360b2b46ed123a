import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Child, type ManagedProcess, type Supervision, supervise } from "./child.ts";
import { ProcessNotReadyError } from "./errors.ts";

/** Options of a local server. */
export interface ServerOptions {
  /** Folder for data and logs; made when absent. Data found there is used again. */
  dataDir: string;
  /** Environment to read MONGODB_URL, REDIS_URL and PATH from; default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Receives lines for the user, such as the start of a download; default: they are dropped. */
  say?: (line: string) => void;
  /** Keeps it running; default: it is not started again when it ends. */
  supervision?: Supervision;
}

/**
 * A running server. One that the user runs (MONGODB_URL, REDIS_URL) has no pid, and stopping it does nothing.
 */
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
  /** Resolves to true when the server answers. */
  isReady: (port: number) => Promise<boolean>;
}

const TRIES = 10;
const BETWEEN_TRIES_MS = 1_000;

/**
 * Starts a server on a free port and waits until it answers. Tries again for 10 s: on another port if the
 * port was taken meanwhile, or while the server of a run that was just killed still holds the data.
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
      if (attempt === TRIES || !isTemporary(error)) throw error;
      await delay(BETWEEN_TRIES_MS);
    }
  }
}

/**
 * True when the next try may succeed: a port was taken meanwhile, or a server that is ending still holds the
 * data.
 */
function isTemporary(error: unknown): boolean {
  return error instanceof ProcessNotReadyError && /address already in use|DBPathInUse/i.test(error.message);
}

/** The absolute path of the first of these commands that is on the PATH. */
export function onPath(names: readonly string[], path = process.env["PATH"] ?? ""): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
