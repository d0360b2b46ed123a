import type { LiveWorkers, WorkerStore } from "@planwright/store";

/** What is read of heartbeats holds for so long, in milliseconds. */
const FRESH_MS = 1_000;

/** Reads which workers live, at most once a second in this process, however many ask. */
export function createLiveWorkers(store: Pick<WorkerStore, "liveWorkers">): () => Promise<LiveWorkers> {
  let read: Promise<LiveWorkers> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (read && now - readAt < FRESH_MS) return read;
    readAt = now;
    const reading = store.liveWorkers();
    read = reading;
    // A failure is for those who asked, and is not kept.
    reading.catch(() => {
      if (read === reading) read = undefined;
    });
    return reading;
  };
}
