import { randomUUID } from "node:crypto";

/**
 * Time, random numbers and ids for a worker: from the platform, or from a simulation that repeats exactly.
 */
export interface RunClock {
  /** Monotonic milliseconds of this process; `Liveness.validUntil` is a reading of this clock. */
  now(): number;
  /** CPU time that this process has used so far, over all of its threads, in milliseconds. */
  computed(): number;
  /** Calls `then` once, after `delayMs`, 0 to 2^31 - 1. Returns a function that cancels it. */
  after(delayMs: number, then: () => void): () => void;
  /**
   * Calls `then` every `periodMs`; the timer does not keep the process alive. Returns a function that ends
   * it.
   */
  every(periodMs: number, then: () => void): () => void;
  /** Uniform in [0, 1). */
  random(): number;
  /** A unique id. */
  id(): string;
}

/** The clock of the platform. */
export function createRunClock(): RunClock {
  return {
    now: () => performance.now(),
    computed() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
    after(delayMs, then) {
      const timer = setTimeout(then, delayMs);
      return () => clearTimeout(timer);
    },
    every(periodMs, then) {
      const timer = setInterval(then, periodMs).unref();
      return () => clearInterval(timer);
    },
    random: () => Math.random(),
    id: () => randomUUID(),
  };
}
