import { setTimeout as delay } from "node:timers/promises";
import { type Child, type LocalServer, startChild } from "@planwright/local";

/** A process that faults may hit. */
export interface Victim {
  readonly name: string;
  /** Undefined while it does not run. */
  pid(): number | undefined;
  /** SIGKILL; it stays away until {@link restart}. */
  kill(): Promise<void>;
  /** SIGSTOP. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Starts it as it was, on its old port, and waits until it is ready. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A process that ended although nobody had asked for it. */
export interface Crash {
  name: string;
  /** Such as "exited with code 1". */
  how: string;
  /** Unix milliseconds. */
  at: number;
  /** False when it never became ready: what it needs may just be away. */
  wasReady: boolean;
}

/** How a process is started, again and again. */
export interface SupervisedOptions {
  name: string;
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
  isReady: () => Promise<boolean>;
  onCrash: (crash: Crash) => void;
}

/** Pause before a process that ended by itself is started again, as an orchestrator makes it. */
const BACKOFF_MS = 300;
/** What is not ready by then, however often it was started again, will not be: no fault lasts that long. */
const READY_WITHIN_MS = 90_000;

/** Starts a process and keeps it up: one that ends by itself is started again. */
export async function startSupervised(options: SupervisedOptions): Promise<Victim> {
  const { name, isReady, onCrash } = options;
  let child: Child | undefined;
  /** Raised by every start and end that was asked for, so that an older start gives up. */
  let turn = 0;

  async function up(): Promise<void> {
    turn += 1;
    const mine = turn;
    const giveUpAt = performance.now() + READY_WITHIN_MS;
    while (turn === mine) {
      const started = await startChild(options);
      if (turn !== mine) return await started.kill();
      child = started;
      let wasReady = false;
      void started.exited.then(() => {
        if (turn !== mine) return;
        onCrash({ name, how: started.ended() ?? "ended", at: Date.now(), wasReady });
        if (wasReady) void comeBack(mine);
      });
      try {
        await started.ready(isReady, giveUpAt - performance.now());
        wasReady = true;
        return;
      } catch (error) {
        if (turn === mine && performance.now() > giveUpAt) {
          await started.kill("SIGKILL");
          throw error;
        }
        await delay(BACKOFF_MS);
      }
    }
  }

  /** Nobody waits for a process that comes back by itself: what keeps it away is told, and it is started again. */
  async function comeBack(from: number): Promise<void> {
    let mine = from;
    await delay(BACKOFF_MS);
    while (turn === mine) {
      try {
        return await up();
      } catch (error) {
        const how = `did not come back: ${error instanceof Error ? error.message : String(error)}`;
        onCrash({ name, how, at: Date.now(), wasReady: false });
        mine = turn;
      }
    }
  }

  await up();
  return {
    name,
    pid: () => (child?.ended() === undefined ? child?.pid : undefined),
    pause: () => signal(child?.ended() === undefined ? child?.pid : undefined, "SIGSTOP"),
    resume: () => signal(child?.ended() === undefined ? child?.pid : undefined, "SIGCONT"),
    restart: up,
    async kill() {
      turn += 1;
      await child?.kill("SIGKILL");
    },
    async stop() {
      turn += 1;
      await child?.stop(5_000);
    },
  };
}

/** MongoDB or Redis as a victim. */
export function victimOfServer(name: string, server: LocalServer): Victim {
  return {
    name,
    pid: () => server.pid(),
    kill: () => server.kill("SIGKILL"),
    pause: () => signal(server.pid(), "SIGSTOP"),
    resume: () => signal(server.pid(), "SIGCONT"),
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
}

/** Signals the process group; one that is gone already is fine. */
function signal(pid: number | undefined, name: "SIGSTOP" | "SIGCONT"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
