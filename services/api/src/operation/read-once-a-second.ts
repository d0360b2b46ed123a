/** How long a reading is used, in milliseconds. */
const FRESH_MS = 1_000;

/**
 * A read that is made at most once a second in this process, for all callers: what it gives is the same for
 * all.
 */
export function readAtMostOnceASecond<T>(readNow: () => Promise<T>): () => Promise<T> {
  let read: Promise<T> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (read && now - readAt < FRESH_MS) return read;
    readAt = now;
    const reading = readNow();
    read = reading;
    // A failure is not kept: only its callers get it.
    reading.catch(() => {
      if (read === reading) read = undefined;
    });
    return reading;
  };
}
