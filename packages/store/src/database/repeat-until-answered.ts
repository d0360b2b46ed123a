import { StoreUnavailableError } from "../records/errors.ts";
import { isTransient } from "./transient-errors.ts";

/** How an operation is repeated. */
export interface RepeatOptions {
  /** What it is, for the error. */
  operation: string;
  /** Monotonic milliseconds. */
  monotonic: () => number;
  sleep: (ms: number) => Promise<void>;
  /** How long it is repeated while no answer comes, and the waits in between, in milliseconds. */
  retryForMs: number;
  retryEveryMs: number;
}

/**
 * Repeats an operation on the database while no answer comes. It may have been done by an attempt whose
 * answer was lost.
 * @param attempt - `isRepeat` is true from the second time on
 * @throws {StoreUnavailableError} when the time is over; any other error of an attempt as it is
 */
export async function repeatUntilAnswered<T>(
  attempt: (isRepeat: boolean) => Promise<T>,
  { operation, monotonic, sleep, retryForMs, retryEveryMs }: RepeatOptions,
): Promise<T> {
  const giveUpAt = monotonic() + retryForMs;
  for (let isRepeat = false; ; isRepeat = true) {
    try {
      return await attempt(isRepeat);
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (monotonic() > giveUpAt) throw new StoreUnavailableError({ operation }, error);
      await sleep(retryEveryMs);
    }
  }
}
