import { setTimeout as delay } from "node:timers/promises";
import type { Child } from "./child.ts";

/** A process that can be ended and restarted, also by tests of faults. */
export interface ManagedProcess {
  readonly name: string;
  /** Undefined while it does not run, or is not ours. */
  pid(): number | undefined;
  /**
   * Sends a signal to it and its children, default SIGKILL, and waits for its end. It is not started again
   * until `restart`.
   */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /**
   * Starts it again as it was, on its old port, and waits until it is ready; stops it first if it still runs.
   */
  restart(): Promise<void>;
  /** Ends it in good order. It is not started again until `restart`; a second call does nothing. */
  stop(): Promise<void>;
}

/** The end of a process that was not asked for. */
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

/** What happens when a process ends without being asked to. */
export interface Supervision {
  onUnexpectedEnd?: ((end: UnexpectedEnd) => void) | undefined;
  /**
   * Milliseconds to wait before it is started again, such as {@link growingDelayMs}; absent: it is not
   * started again until `restart`.
   * @param attempt - starts in a row, from 1
   */
  restartDelayMs?: ((attempt: number) => number) | undefined;
}

/** How a process is started and kept running. */
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

/** A process that was ready for this long has recovered: its next end counts as the first. */
const STABLE_MS = 60_000;

/**
 * Half a second, doubling to 30 s: a process that cannot start is tried again without limit, at little cost.
 */
export function growingDelayMs(attempt: number): number {
  return Math.min(30_000, 500 * 2 ** Math.min(attempt - 1, 10));
}

/**
 * Starts a process and waits until it is ready. With `restartDelayMs` it is kept running: one that ends
 * without being asked to is started again, until it is killed or stopped. A first start that fails is an
 * error and is not tried again, since the settings may be wrong; one that a signal ended is tried again, and
 * so is every start of a restart, for `readyTimeoutMs`.
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
  /** Raised by every start and end that was asked for: work of an older turn stops. */
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
      void bringBack(mine, started.ended() ?? "ended");
    });
  }

  async function bringBack(mine: number, how: string): Promise<void> {
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
    const giveUpAt = performance.now() + readyTimeoutMs;
    for (attempt = 0; turn === mine; ) {
      try {
        return await start(mine, giveUpAt - performance.now());
      } catch (error) {
        attempt += 1;
        const restartsInMs = isFirst && !isSignalled ? undefined : restartDelayMs?.(attempt);
        if (restartsInMs === undefined || performance.now() + restartsInMs > giveUpAt) throw error;
        await delay(restartsInMs);
      }
    }
  }

  async function end(how: (running: Child) => Promise<void>): Promise<void> {
    turn += 1;
    const running = await spawning;
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
