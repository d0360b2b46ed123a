import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@planwright/runtime";
import type { RetentionStore } from "@planwright/store";

/** Dependencies of {@link startRetention}. */
export interface RetentionParts {
  store: RetentionStore;
  /** How long requests that ended are kept, in days; `never`: they are not removed. */
  keptDays: number | "never";
  /** Unix milliseconds, by the clock of the database. */
  now: () => number;
  logger: Logger;
  /** Called with the number of removed requests. */
  onRemoved: (count: number) => void;
  /** Time between two rounds, in milliseconds. Default: one hour. */
  everyMs?: number | undefined;
  /** Time before the first round, in milliseconds. Default: 10,000. */
  firstMs?: number | undefined;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const FIRST_MS = 10_000;
/** Number of requests in one removal. */
const BATCH = 100;
/** Pause between two removals, in milliseconds, so that other operations are served. */
const PAUSE_MS = 100;

/** Removes requests that ended long ago, at an interval, until it is stopped. */
export function startRetention(parts: RetentionParts): { stop(): Promise<void> } {
  const { store, keptDays, now, logger, onRemoved, everyMs = HOUR_MS, firstMs = FIRST_MS } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number): Promise<void> =>
    delay(ms, undefined, { signal, ref: false }).catch(() => undefined);

  async function removeAll(keptMs: number): Promise<void> {
    const endedBefore = new Date(now() - keptMs);
    let removed = 0;
    for (let count = BATCH; count === BATCH && !signal.aborted; await pause(PAUSE_MS)) {
      count = await store.removeEnded({ endedBefore, limit: BATCH });
      removed += count;
      onRemoved(count);
    }
    if (removed > 0) logger.info({ removed, endedBefore }, "requests that ended long ago are removed");
  }

  async function removeRepeatedly(keptMs: number): Promise<void> {
    for (await pause(firstMs); !signal.aborted; await pause(everyMs)) {
      await removeAll(keptMs).catch((error: unknown) =>
        logger.warn({ err: error }, "old requests were not removed; the next round tries again"),
      );
    }
  }

  const removing = keptDays === "never" ? Promise.resolve() : removeRepeatedly(keptDays * DAY_MS);
  return {
    async stop() {
      stopping.abort();
      await removing;
    },
  };
}
