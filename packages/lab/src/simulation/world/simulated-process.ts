import type { RunClock } from "@planwright/runtime";
import type { Random } from "../../random/random.ts";
import type { Timeline } from "./timeline.ts";

/** Unix milliseconds at which every timeline begins, by a clock that is right. */
export const EPOCH_MS = 1_700_000_000_000;

/** One life of a process: what it sees of time, and what can be done to it. */
export interface SimulatedProcess {
  /** Different for every life, such as "executor-2.1". */
  readonly name: string;
  readonly clock: RunClock;
  /** Unix milliseconds by the local clock, which may be wrong and may jump. */
  wall(): number;
  jumpWall(byMs: number): void;
  /** Waits, by its own timers. */
  sleep(ms: number): Promise<void>;
  /** Lets something from outside reach the process at a time: later when it is frozen then, never when it is dead. */
  deliver(timeMs: number, happen: () => void): () => void;
  isAlive(): boolean;
  /** SIGKILL: nothing of it goes on. */
  kill(): void;
  /** SIGSTOP until a time: its timers and everything that comes for it wait, and happen late. */
  freeze(untilMs: number): void;
  isFrozen(): boolean;
}

/** What a process is born with. */
export interface ProcessParts {
  timeline: Timeline;
  random: Random;
  /** How wrong its local clock is. */
  wallOffsetMs: number;
  /** Told once when it dies. */
  onDeath?: (() => void) | undefined;
}

/** Starts a process. */
export function createProcess(
  name: string,
  { timeline, random, wallOffsetMs, onDeath }: ProcessParts,
): SimulatedProcess {
  /** Monotonic clocks begin anywhere: a reading means nothing in another process. */
  const monotonicStart = random.whole(1, 1_000_000);
  let offset = wallOffsetMs;
  let isAlive = true;
  let frozenUntil = 0;
  let ids = 0;

  function deliver(timeMs: number, happen: () => void): () => void {
    let takeBack = timeline.at(timeMs, function arrive() {
      if (!isAlive) return;
      // What waits for a frozen process keeps its order: all of it is put to the same instant, one after the other.
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
      // It is stopped by others, never by what it computes.
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
