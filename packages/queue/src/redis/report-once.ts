/** Receives trouble that no caller waits for; to be logged. It must not throw. @param id - of the request or plan that it is about, if of one */
export type OnError = (error: unknown, id?: string) => void;

const SAME_AGAIN_AFTER_MS = 10_000;
const REMEMBERED = 100;

/**
 * Passes each different message on once in 10 s: a Redis that is away fails several times a second, in the same words.
 * @param now - milliseconds of any monotonic clock
 */
export function reportOnce(onError: OnError, now: () => number = () => performance.now()): OnError {
  const reportedAt = new Map<string, number>();
  return (error, id) => {
    const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const last = reportedAt.get(words);
    if (last !== undefined && now() - last < SAME_AGAIN_AFTER_MS) return;
    if (reportedAt.size >= REMEMBERED) reportedAt.clear();
    reportedAt.set(words, now());
    onError(error, id);
  };
}
