/**
 * Receives errors that no caller waits for, to log them. It must not throw. @param id - the request or plan
 * that the error is about, if any
 */
export type OnError = (error: unknown, id?: string) => void;

const SAME_AGAIN_AFTER_MS = 10_000;
const MAX_REMEMBERED = 100;

/**
 * Passes each distinct message on once in 10 s: an unreachable Redis fails several times a second with the
 * same message.
 * @param now - milliseconds of any monotonic clock
 */
export function reportOnce(onError: OnError, now: () => number = () => performance.now()): OnError {
  const reportedAt = new Map<string, number>();
  return (error, id) => {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const last = reportedAt.get(message);
    if (last !== undefined && now() - last < SAME_AGAIN_AFTER_MS) return;
    if (reportedAt.size >= MAX_REMEMBERED) reportedAt.clear();
    reportedAt.set(message, now());
    onError(error, id);
  };
}
