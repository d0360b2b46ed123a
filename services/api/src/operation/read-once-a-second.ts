/** How long a result is used, in milliseconds. */
const FRESH_MS = 1_000;

/** Reads at most once a second in this process, and gives all callers the same result. */
export function readAtMostOnceASecond<T>(readNow: () => Promise<T>): () => Promise<T> {
  let read: Promise<T> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (read && now - readAt < FRESH_MS) return read;
    readAt = now;
    const reading = readNow();
    read = reading;
    // A failure is not cached: only its callers get it.
    reading.catch(() => {
      if (read === reading) read = undefined;
    });
    return reading;
  };
}
