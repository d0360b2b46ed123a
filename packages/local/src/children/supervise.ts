import { setTimeout as delay } from "node:timers/promises";
import type { Child } from "./child.ts";

/** A process that can be stopped and restarted, also by fault tests. */
export interface ManagedProcess {
  readonly name: string;
  /** Undefined while it does not run, or when the user runs it. */
  pid(): number | undefined;
  /**
   * Sends a signal to it and its children, default SIGKILL, and waits until it has ended. It is not started
   * again until `restart`.
   */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /**
   * Starts it again as it was, on its old port, and waits until it is ready; stops it first if it still runs.
   */
  restart(): Promise<void>;
  /** Stops it with SIGTERM. It is not started again until `restart`; a second call does nothing. */
  stop(): Promise<void>;
}

/** An unexpected end of a process. */
export interface UnexpectedEnd {
  name: string;
  /**
   * Such as "exited with code 1" or "was ended by SIGKILL"; with `wasReady` false, why it did not become
   * ready.
   */
  how: string;
  /** False when it ended, or its timeout passed, before it was ready: a server that it needs may be down. */
  wasReady: boolean;
  /** Milliseconds until it is started again; undefined when it is not started again. */
  restartsInMs: number | undefined;
}

/** What happens when a process ends unexpectedly. */
export interface Supervision {
  onUnexpectedEnd?: ((end: UnexpectedEnd) => void) | undefined;
  /**
   * Milliseconds to wait before it is started again, such as {@link growingDelayMs}; absent: it is not
   * started again until `restart`.
   * @param attempt - starts in a row, from 1
   */
  restartDelayMs?: ((attempt: number) => number) | undefined;
}

/** Options of starting a process and keeping it running. */
export interface SuperviseOptions extends Supervision {
  name: string;
  spawn: () => Promise<Child>;
  isReady: () => Promise<boolean>;
  /** Longest time until it is ready, in milliseconds; default 60,000. */
  readyTimeoutMs?: number;
  /**
   * Longest time that it may take to stop after {@link ManagedProcess.stop}, in milliseconds; default 10,000.
   */
  stopTimeoutMs?: number;
}

/** After this time of being ready a process has recovered: its next end counts as the first. */
const STABLE_MS = 60_000;

/**
 * Half a second, doubling up to 30 s: a process that cannot start is tried again without limit, at low cost.
 */
export function growingDelayMs(attempt: number): number {
  return Math.min(30_000, 500 * 2 ** Math.min(attempt - 1, 10));
}

/**
 * Starts a process and waits until it is ready. With `restartDelayMs` it is kept running: after an unexpected
 * end it is started again, until it is killed or stopped. A first start that fails is an error and is not
 * tried again, because the settings may be wrong. A first start that a signal ended is tried again for
 * `readyTimeoutMs`, and so is each start of a restart.
 * @throws {ProcessNotReadyError} with the last log lines
 */
export async function supervise(options: SuperviseOptions): Promise<ManagedProcess> {
  const supervisor = createSupervisor(options);
  await supervisor.begin(true);
  return supervisor.process;
}

function createSupervisor(options: SuperviseOptions): {
  begin(isFirst: boolean): Promise<void>;
  process: ManagedProcess;
} {
  const { name, readyTimeoutMs = 60_000, stopTimeoutMs = 10_000, onUnexpectedEnd, restartDelayMs } = options;
  let child: Child | undefined;
  /** Raised by each requested start and end: work of an older turn stops. */
  let turn = 0;
  let attempt = 0;
  let spawning: Promise<Child> | undefined;
  /** True when the last start failed because a signal ended the process, so its settings may be right. */
  let isSignalled = false;

  /** One start. Resolves without a process when another turn has begun. */
  async function start(mine: number, timeoutMs = readyTimeoutMs): Promise<void> {
    spawning = options.spawn();
    const started = await spawning;
    if (turn !== mine) return started.kill();
    child = started;
    try {
      await started.ready(options.isReady, timeoutMs);
    } catch (error) {
      isSignalled = started.ended()?.startsWith("was ended by") ?? false;
      await started.kill();
      if (turn === mine) throw error;
      return;
    }
    const readyAt = performance.now();
    void started.exited.then(() => {
      if (turn !== mine) return;
      if (performance.now() - readyAt > STABLE_MS) attempt = 0;
      void startAgain(mine, started.ended() ?? "ended");
    });
  }

  async function startAgain(mine: number, how: string): Promise<void> {
    for (let end = { how, wasReady: true }; turn === mine; ) {
      attempt += 1;
      const restartsInMs = restartDelayMs?.(attempt);
      onUnexpectedEnd?.({ name, ...end, restartsInMs });
      if (restartsInMs === undefined) return;
      await delay(restartsInMs, undefined, { ref: false });
      if (turn !== mine) return;
      try {
        return await start(mine);
      } catch (error) {
        end = { how: error instanceof Error ? error.message : String(error), wasReady: false };
      }
    }
  }

  /** @param isFirst - a process that ends by itself is not started again: its settings may be wrong */
  async function begin(isFirst: boolean): Promise<void> {
    turn += 1;
    const mine = turn;
    const deadlineAt = performance.now() + readyTimeoutMs;
    for (attempt = 0; turn === mine; ) {
      try {
        return await start(mine, deadlineAt - performance.now());
      } catch (error) {
        attempt += 1;
        const restartsInMs = isFirst && !isSignalled ? undefined : restartDelayMs?.(attempt);
        if (restartsInMs === undefined || performance.now() + restartsInMs > deadlineAt) throw error;
        await delay(restartsInMs);
      }
    }
  }

  async function end(how: (running: Child) => Promise<void>): Promise<void> {
    turn += 1;
    // A spawn that failed has rejected its start, and left nothing to end.
    const running = await spawning?.catch(() => undefined);
    if (running) await how(running);
  }

  return {
    begin,
    process: {
      name,
      pid: () => (child?.ended() === undefined ? child?.pid : undefined),
      kill: (signal) => end((running) => running.kill(signal)),
      stop: () => end((running) => running.stop(stopTimeoutMs)),
      async restart() {
        await end((running) => running.stop(stopTimeoutMs));
        await begin(false);
      },
    },
  };
}
