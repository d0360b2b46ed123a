import type { RunClock } from "@planwright/runtime";
import type { Random } from "../../random/random.ts";
import type { Timeline } from "./timeline.ts";

/** Correct Unix milliseconds at which every timeline begins. */
export const EPOCH_MS = 1_700_000_000_000;

/** One life of a process: its clocks and timers, and the faults that can hit it. */
export interface SimulatedProcess {
  /** Different for every life, such as "executor-2.1". */
  readonly name: string;
  readonly clock: RunClock;
  /** Unix milliseconds of its local clock, which may be wrong and may jump. */
  wall(): number;
  jumpWall(byMs: number): void;
  /** Waits with its own timers. */
  sleep(ms: number): Promise<void>;
  /**
   * Delivers something from outside at this time: later while the process is frozen, never when it is dead.
   * Returns what cancels it.
   */
  deliver(timeMs: number, happen: () => void): () => void;
  isAlive(): boolean;
  /** SIGKILL: none of its timers or deliveries happens any more. */
  kill(): void;
  /** SIGSTOP until this time: its timers and deliveries wait and happen late. */
  freeze(untilMs: number): void;
  isFrozen(): boolean;
}

/** What a process is created with. */
export interface ProcessOptions {
  timeline: Timeline;
  random: Random;
  /** How far its local clock is wrong. */
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

  function deliver(timeMs: number, happen: () => void): () => void {
    let takeBack = timeline.at(timeMs, function arrive() {
      if (!isAlive) return;
      // Deliveries to a frozen process keep their order: all of them happen at the same instant, one after
      // the other.
      if (timeline.now() < frozenUntil) takeBack = timeline.at(frozenUntil, arrive);
      else happen();
    });
    return () => takeBack();
  }
  const after = (delayMs: number, then: () => void) =>
    deliver(timeline.now() + Math.max(1, Math.trunc(delayMs)), then);

  return {
    name,
    clock: {
      now: () => monotonicStart + timeline.now(),
      // Its own computations take no simulated time.
      computed: () => 0,
      after,
      every(periodMs, then) {
        let takeBack = after(periodMs, function again() {
          takeBack = after(periodMs, again);
          then();
        });
        return () => takeBack();
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
