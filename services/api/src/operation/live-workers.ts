import type { LiveWorkers, WorkerStore } from "@planwright/store";

/** How long a read of heartbeats is used, in milliseconds. */
const FRESH_MS = 1_000;

/** Reads the live workers, at most once a second in this process, for all callers. */
export function createLiveWorkers(store: Pick<WorkerStore, "liveWorkers">): () => Promise<LiveWorkers> {
  let read: Promise<LiveWorkers> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (read && now - readAt < FRESH_MS) return read;
    readAt = now;
    const reading = store.liveWorkers();
    read = reading;
    // A failure is not kept: only its callers get it.
    reading.catch(() => {
      if (read === reading) read = undefined;
    });
    return reading;
  };
}
