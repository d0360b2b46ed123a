/** Where a runner takes its time from. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls back once, at that time or as soon after it as possible. Returns a function that takes it back. */
  at(timeMs: number, callback: () => void): () => void;
  /** Calls back when everything of this instant has run. */
  soon(callback: () => void): void;
}

/** `setTimeout` waits at most this long; longer waits are made of several. */
const LONGEST_TIMEOUT_MS = 2_147_483_647;

/** The clock of the machine. Its timers keep a process alive until they have fired or are cancelled. */
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
