import type { RunClock } from "@planwright/runtime";
import type { Random } from "../../random/random.ts";
import type { Timeline } from "./timeline.ts";

/** The correct time at which every timeline begins, in Unix milliseconds. */
export const EPOCH_MS = 1_700_000_000_000;

/** One life of a process: its clocks and timers, and the faults that can hit it. */
export interface SimulatedProcess {
  /** Different for every life, such as "executor-2.1". */
  readonly name: string;
  readonly clock: RunClock;
  /** Unix milliseconds of its local clock, which may be wrong and may jump. */
  wall(): number;
  jumpWall(byMs: number): void;
  /** Waits on the timers of this process. */
  sleep(ms: number): Promise<void>;
  /**
   * Delivers an external event at this time: later while the process is frozen, never when it is dead. The
   * returned function cancels it.
   */
  deliver(timeMs: number, onArrival: () => void): () => void;
  isAlive(): boolean;
  /** SIGKILL: its timers and deliveries onArrival no more. */
  kill(): void;
  /** SIGSTOP until this time: its timers and deliveries wait and onArrival late. */
  freeze(untilMs: number): void;
  isFrozen(): boolean;
}

/** Options of {@link createProcess}. */
export interface ProcessOptions {
  timeline: Timeline;
  random: Random;
  /** Error of its local clock. */
  wallOffsetMs: number;
  /** Called once when it dies. */
  onDeath?: (() => void) | undefined;
}

/** Starts a process. */
export function createProcess(
  name: string,
  { timeline, random, wallOffsetMs, onDeath }: ProcessOptions,
): SimulatedProcess {
  /** A monotonic clock starts at any value, so its readings mean nothing in another process. */
  const monotonicStart = random.whole(1, 1_000_000);
  let offset = wallOffsetMs;
  let isAlive = true;
  let frozenUntil = 0;
  let ids = 0;

  function deliver(timeMs: number, onArrival: () => void): () => void {
    let cancel = timeline.at(timeMs, function arrive() {
      if (!isAlive) return;
      // Deliveries to a frozen process keep their order: all of them onArrival at the same instant, one after
      // the other.
      if (timeline.now() < frozenUntil) cancel = timeline.at(frozenUntil, arrive);
      else onArrival();
    });
    return () => cancel();
  }
  const after = (delayMs: number, then: () => void) =>
    deliver(timeline.now() + Math.max(1, Math.trunc(delayMs)), then);

  return {
    name,
    clock: {
      now: () => monotonicStart + timeline.now(),
      // Computations take no simulated time.
      computed: () => 0,
      after,
      every(periodMs, then) {
        let cancel = after(periodMs, function again() {
          cancel = after(periodMs, again);
          then();
        });
        return () => cancel();
      },
      random: () => random.next(),
      id: () => `${name}:${ids++}`,
    },
    wall: () => EPOCH_MS + timeline.now() + offset,
    jumpWall(byMs) {
      offset += byMs;
    },
    sleep: (ms) => new Promise((resolve) => void after(ms, resolve)),
    deliver,
    isAlive: () => isAlive,
    kill() {
      if (!isAlive) return;
      isAlive = false;
      onDeath?.();
    },
    freeze(untilMs) {
      frozenUntil = Math.max(frozenUntil, untilMs);
    },
    isFrozen: () => timeline.now() < frozenUntil,
  };
}
