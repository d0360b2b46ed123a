import { Heap } from "@planwright/plan";

/** The clock of a run. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls back once, at that time or as soon as possible after it. Returns a function that cancels it. */
  at(timeMs: number, callback: () => void): () => void;
  /** Calls back after everything that is due at this instant has run. */
  soon(callback: () => void): void;
}

/** Longest delay of `setTimeout`; a longer wait uses several timers. */
const LONGEST_TIMEOUT_MS = 2_147_483_647;

/** The system clock. Its timers keep a process alive until they fire or are cancelled. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    at(timeMs, callback) {
      let timer: ReturnType<typeof setTimeout>;
      const wait = () => {
        const leftMs = Math.max(0, timeMs - Date.now());
        timer = setTimeout(
          leftMs > LONGEST_TIMEOUT_MS ? wait : callback,
          Math.min(leftMs, LONGEST_TIMEOUT_MS),
        );
      };
      wait();
      return () => clearTimeout(timer);
    },
    soon: (callback) => void setImmediate(callback),
  };
}

/** A clock that jumps to the next timer as soon as nothing else can run. */
export interface VirtualClock extends Clock {
  /** Resolves after this virtual time. */
  sleep(durationMs: number): Promise<void>;
  /** Stops the time, while something waits for real I/O or for a person. Returns a function that ends it. */
  hold(): () => void;
}

interface Timer {
  at: number;
  order: number;
  callback: (() => void) | undefined;
}

/**
 * A clock for tests and simulation: an hour passes in microseconds, and deterministically. It moves in the
 * next turn of the event loop, when all promises are settled. Code that uses it must wait only with `sleep`
 * and `at`; while it waits for real I/O, it has to `hold` the clock.
 * @param startMs - Unix milliseconds; default 0
 */
export function createVirtualClock(startMs = 0): VirtualClock {
  const timers = new Heap<Timer>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  let nowMs = startMs;
  let order = 0;
  let isScheduled = false;
  let soon: (() => void)[] = [];
  let holds = 0;

  const schedule = () => {
    if (isScheduled || soon.length + (holds > 0 ? 0 : timers.size) === 0) return;
    isScheduled = true;
    setImmediate(advance);
  };
  const advance = () => {
    isScheduled = false;
    if (soon.length > 0) {
      const callbacks = soon;
      soon = [];
      for (const callback of callbacks) callback();
      schedule();
      return;
    }
    const first = holds > 0 ? undefined : timers.pop();
    if (!first) return;
    if (first.callback) {
      nowMs = Math.max(nowMs, first.at);
      first.callback();
    }
    for (let next = timers.peek(); next && (next.at <= nowMs || !next.callback); next = timers.peek()) {
      timers.pop();
      next.callback?.();
    }
    schedule();
  };
  const at = (timeMs: number, callback: () => void) => {
    const timer: Timer = { at: timeMs, order: order++, callback };
    timers.push(timer);
    schedule();
    return () => {
      timer.callback = undefined;
    };
  };
  return {
    now: () => nowMs,
    at,
    soon(callback) {
      soon.push(callback);
      schedule();
    },
    sleep: (durationMs) => new Promise((resolve) => void at(nowMs + durationMs, resolve)),
    hold() {
      let isHeld = true;
      holds++;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        holds--;
        schedule();
      };
    },
  };
}
