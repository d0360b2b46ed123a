import type { RunClock } from "@planwright/runtime";

/** The longest delay that `setTimeout` takes. */
const MAX_TIMER_MS = 2_147_483_647;

/** The timers of a run. */
export interface RunTimers {
  /**
   * Calls `then` not before `at` by the store's clock: timers may fire early, and that clock may be corrected
   * meanwhile.
   */
  wakeAt(at: number, then: () => void): void;
  /** Waits before another call. Resolves at once when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Cancels all timers. */
  end(): void;
}

/** @param now - the store's clock, Unix milliseconds */
export function createRunTimers(clock: Pick<RunClock, "after">, now: () => number): RunTimers {
  /** Cancels each timer that is set. */
  const cancels = new Set<() => void>();

  function wakeAt(at: number, then: () => void): void {
    const delay = Math.min(Math.max(0, at - now()), MAX_TIMER_MS);
    const cancel = clock.after(delay, () => {
      cancels.delete(cancel);
      if (now() < at) wakeAt(at, then);
      else then();
    });
    cancels.add(cancel);
  }

  return {
    wakeAt,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
        wakeAt(now() + ms, resolve);
      }),
    end() {
      for (const cancel of cancels) cancel();
    },
  };
}
