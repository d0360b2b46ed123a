import type { RunClock } from "@planwright/runtime";

/** The longest delay that `setTimeout` takes. */
const MAX_TIMER_MS = 2_147_483_647;

/** What a run waits for. */
export interface RunTimers {
  /** Not before its time by the store's clock: timers come early, and that clock may be corrected meanwhile. */
  wakeAt(at: number, then: () => void): void;
  /** Waits before another call. Answers at once when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** None of them comes any more. */
  end(): void;
}

/** @param now - the store's clock, Unix milliseconds */
export function createRunTimers(clock: Pick<RunClock, "after">, now: () => number): RunTimers {
  /** What takes each timer under way back. */
  const takeBacks = new Set<() => void>();

  function wakeAt(at: number, then: () => void): void {
    const delay = Math.min(Math.max(0, at - now()), MAX_TIMER_MS);
    const takeBack = clock.after(delay, () => {
      takeBacks.delete(takeBack);
      if (now() < at) wakeAt(at, then);
      else then();
    });
    takeBacks.add(takeBack);
  }

  return {
    wakeAt,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
        wakeAt(now() + ms, resolve);
      }),
    end() {
      for (const takeBack of takeBacks) takeBack();
    },
  };
}
