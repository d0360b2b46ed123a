import { setTimeout as delay } from "node:timers/promises";
import { StoreUnavailableError } from "../records/errors.ts";
import { isTransient } from "./transient-errors.ts";

/** How an operation is repeated while MongoDB gives no answer. */
export interface Retry {
  /** Monotonic milliseconds. Default `performance.now`. */
  monotonic?: (() => number) | undefined;
  /** Waits. Default: a timer. */
  sleep?: ((ms: number) => Promise<void>) | undefined;
  /** How long it is repeated, in milliseconds. Default 30,000. */
  retryForMs?: number | undefined;
  /** The wait between two tries, in milliseconds. Default 250. */
  retryEveryMs?: number | undefined;
}

/**
 * Repeats an operation on the database while no answer comes. An attempt whose answer was lost may have done
 * it.
 * @param operation - its name, for the error
 * @param attempt - `isRepeat` is true from the second time on
 * @throws {StoreUnavailableError} after `retryForMs`; any other error of an attempt is thrown as it is
 */
export async function repeatUntilAnswered<T>(
  operation: string,
  attempt: (isRepeat: boolean) => Promise<T>,
  { monotonic = () => performance.now(), sleep = delay, retryForMs = 30_000, retryEveryMs = 250 }: Retry,
): Promise<T> {
  const deadlineAt = monotonic() + retryForMs;
  for (let isRepeat = false; ; isRepeat = true) {
    try {
      return await attempt(isRepeat);
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (monotonic() > deadlineAt) throw new StoreUnavailableError({ operation }, error);
      await sleep(retryEveryMs);
    }
  }
}
