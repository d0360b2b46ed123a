import { setTimeout as delay } from "node:timers/promises";
import { connect, DEFAULT_PREFIX, requireNoEviction } from "../redis/connection.ts";
import { type OnError, reportOnce } from "../redis/report-once.ts";
import { createFairQueue } from "./fair-queue.ts";
import type { QueueName } from "./job.ts";
import type { Slots } from "./slots.ts";

/** How long the start waits for a Redis that does not answer, in milliseconds. */
const START_WAIT_MS = 3_000;
/**
 * How long a worker without work waits for a ring before it looks again, in milliseconds. Only a lost ring
 * makes it wait for so long.
 */
const LOOK_AGAIN_MS = 1_000;
/** Pause after Redis gave no answer, in milliseconds. */
const AWAY_MS = 500;

/** Settings of {@link createQueueWorker}. */
export interface QueueWorkerOptions {
  redisUrl: string;
  /** Prefix of every key in Redis, the same as in `createQueues`; default "planwright". */
  prefix?: string;
  queue: QueueName;
  /** The slots of this process, which the worker and the sweeper share. */
  slots: Slots;
  /**
   * Works on one request or plan until its end; it holds a slot so long. A hint may come twice or late:
   * MongoDB decides whether there is work. A rejection is reported; the sweeper finds the work again.
   */
  handle: (id: string) => Promise<void>;
  /** Called for errors, the same message once in 10 s. */
  onError: OnError;
}

/** A worker that takes hints. */
export interface QueueWorker {
  /** True while Redis answers and hints are taken. */
  isConnected(): boolean;
  /** Number of hints that no worker has taken. Waits without limit while Redis does not answer. */
  countWaiting(): Promise<number>;
  /** Sets how many turns a tenant gets for one of a tenant that is not named; for all workers. */
  setWeights(weights: ReadonlyMap<string, number>): Promise<void>;
  /**
   * Takes no more hints, waits for the work in progress, at most `graceMs` (default 10,000), and disconnects.
   * Never rejects.
   */
  close(graceMs?: number): Promise<void>;
}

/**
 * Starts to take hints from a queue, in the order of {@link createFairQueue}, as long as slots are free. A
 * Redis that is unreachable, restarted or emptied only causes delay: the worker reconnects. When Redis does
 * not answer within 3 s of the start, the worker begins as soon as it does.
 * @throws {RedisEvictsError} when Redis answers in that time and may evict keys; later it is reported instead
 */
export async function createQueueWorker(options: QueueWorkerOptions): Promise<QueueWorker> {
  const { redisUrl, prefix = DEFAULT_PREFIX, slots, handle } = options;
  const report = reportOnce(options.onError);
  const client = connect(redisUrl, report);
  const blocking = connect(redisUrl, report);
  const hints = createFairQueue(client, prefix, options.queue);
  const inProgress = new Set<Promise<void>>();
  const closing = new AbortController();
  const isClosing = (): boolean => closing.signal.aborted;
  const heard = createBell();
  const released = createBell();

  function begin(id: string, release: () => void): void {
    const work = Promise.resolve(id)
      .then(handle)
      .catch((error: unknown) => report(error, id))
      .finally(() => {
        inProgress.delete(work);
        release();
      });
    inProgress.add(work);
  }

  /** Takes hints until there is no slot, or no hint that may be taken here. */
  async function takeAll(): Promise<void> {
    while (!isClosing() && slots.free() > 0) {
      const hint = await hints.take(slots.full());
      if (!hint) return;
      const release = isClosing() ? null : slots.take(hint.tenant);
      if (release) begin(hint.id, release);
      else await hints.push(hint); // the sweeper took the slot meanwhile
    }
  }

  async function run(): Promise<void> {
    while (!isClosing()) {
      heard.reset();
      try {
        await takeAll();
        await heard.wait(LOOK_AGAIN_MS);
      } catch (error) {
        if (!isClosing()) report(error);
        await pause(AWAY_MS);
      }
    }
  }

  /**
   * Listens for rings while slots are free. A ring for a tenant that gets no slot here is not passed on: the
   * others look again soon.
   */
  async function listen(): Promise<void> {
    while (!isClosing()) {
      released.reset();
      try {
        if (slots.free() === 0) await released.wait(LOOK_AGAIN_MS);
        else if (await hints.heard(blocking, LOOK_AGAIN_MS)) {
          if (slots.free() === 0) await hints.ringAgain();
          else heard.ring();
        }
      } catch (error) {
        if (!isClosing()) report(error);
        await pause(AWAY_MS);
      }
    }
  }

  const pause = (ms: number): Promise<void> =>
    delay(ms, undefined, { signal: closing.signal }).catch(() => undefined);

  slots.onReleased(() => {
    heard.ring();
    released.ring();
  });
  const starting = requireNoEviction(client).then(() => {
    if (isClosing()) return;
    void run();
    void listen();
  });
  const startTimeout = new AbortController();
  const timeoutPassed = delay(START_WAIT_MS, undefined, { signal: startTimeout.signal }).catch(
    () => undefined,
  );
  try {
    await Promise.race([starting, timeoutPassed]);
  } catch (error) {
    end();
    throw error;
  } finally {
    startTimeout.abort();
  }
  starting.catch((error: unknown) => {
    if (isClosing()) return;
    end();
    report(error);
  });

  function stopTaking(): void {
    closing.abort();
    heard.ring();
    released.ring();
  }

  function end(): void {
    stopTaking();
    client.disconnect();
    blocking.disconnect();
  }

  return {
    isConnected: () => !isClosing() && client.status === "ready",
    countWaiting: () => hints.count(),
    setWeights: (weights) => hints.setWeights(weights),
    async close(graceMs = 10_000) {
      if (isClosing()) return;
      stopTaking();
      const timeout = new AbortController();
      const timeoutPasses = delay(graceMs, undefined, { signal: timeout.signal }).catch(() => undefined);
      await Promise.race([Promise.all(inProgress), timeoutPasses]);
      timeout.abort();
      end();
    },
  };
}

/** A ring that is heard by one waiter, also when it rang before the wait. */
function createBell() {
  let hasRung = false;
  let wake: () => void = () => undefined;
  return {
    /** Forgets earlier rings. */
    reset() {
      hasRung = false;
    },
    ring() {
      hasRung = true;
      wake();
    },
    /** Resolves when it rings, or rang since the last reset; at the latest after `ms`. */
    async wait(ms: number): Promise<void> {
      if (hasRung) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
