import { StoreUnavailableError } from "../records/errors.ts";
import { isTransient } from "./transient-errors.ts";

/** How an operation is repeated. */
export interface RepeatOptions {
  /** Name of the operation, for the error. */
  operation: string;
  /** Monotonic milliseconds. */
  monotonic: () => number;
  sleep: (ms: number) => Promise<void>;
  /**
   * How long the operation is repeated while no answer comes, and the wait between two tries, in
   * milliseconds.
   */
  retryForMs: number;
  retryEveryMs: number;
}

/**
 * Repeats an operation on the database while no answer comes. An attempt whose answer was lost may have done
 * it.
 * @param attempt - `isRepeat` is true from the second time on
 * @throws {StoreUnavailableError} after `retryForMs`; any other error of an attempt is thrown as it is
 */
export async function repeatUntilAnswered<T>(
  attempt: (isRepeat: boolean) => Promise<T>,
  { operation, monotonic, sleep, retryForMs, retryEveryMs }: RepeatOptions,
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
