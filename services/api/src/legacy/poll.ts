import { setTimeout as sleep } from "node:timers/promises";

/** Options of {@link poll}. */
export interface PollOptions {
  /** Longest wait, in milliseconds. */
  timeoutMs: number;
  /** Ends the wait early: the client has disconnected, or the service stops. */
  signal?: AbortSignal | undefined;
}

const FIRST_DELAY_MS = 20;
const MAX_DELAY_MS = 200;
const GROWTH = 1.5;

/**
 * Reads until the value is final, with pauses that grow from 20 ms to 200 ms.
 * Returns the last value, final or not, after the timeout or when the signal is aborted.
 */
export async function poll<T>(
  read: () => Promise<T>,
  isFinal: (value: T) => boolean,
  { timeoutMs, signal }: PollOptions,
): Promise<T> {
  const endsAt = performance.now() + timeoutMs;
  let delayMs = FIRST_DELAY_MS;
  for (;;) {
    const value = await read();
    const leftMs = endsAt - performance.now();
    if (isFinal(value) || leftMs <= 0 || signal?.aborted) return value;
    await pause(Math.min(delayMs, leftMs), signal);
    delayMs = Math.min(delayMs * GROWTH, MAX_DELAY_MS);
  }
}

/** Resolves after the time, or as soon as the signal is aborted. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
