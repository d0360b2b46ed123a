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
