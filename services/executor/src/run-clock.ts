import { randomUUID } from "node:crypto";

/** Time, chance and names, as plan runs use them: from the platform, or from a simulation that repeats itself exactly. */
export interface RunClock {
  /** Monotonic milliseconds of this process, the clock that `Liveness.validUntil` is read from. */
  now(): number;
  /** Milliseconds that this process has computed so far, over all of its threads. */
  computed(): number;
  /** Calls once, `delayMs` from now, 0 to 2^31 - 1. Returns what takes it back. */
  after(delayMs: number, then: () => void): () => void;
  /** Calls every `periodMs`. Returns what ends it. */
  every(periodMs: number, then: () => void): () => void;
  /** Uniform in [0, 1). */
  random(): number;
  /** A name that nothing else has. */
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
      const timer = setInterval(then, periodMs);
      return () => clearInterval(timer);
    },
    random: () => Math.random(),
    id: () => randomUUID(),
  };
}
