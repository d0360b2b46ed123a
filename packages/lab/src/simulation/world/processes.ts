import { createHash } from "node:crypto";
import type { RunClock } from "@planwright/runtime";
import type { GroupedWrite } from "@planwright/store/memory";
import type { Random } from "../../random/random.ts";
import type { WorldSettings } from "./settings.ts";

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

/** Simulated time: a queue of events. */
export interface Timeline {
  /** Milliseconds since the beginning. */
  now(): number;
  /**
   * Schedules an event at this time, or now if the time has passed. Events of the same time keep their order.
   * The returned function cancels it.
   */
  at(timeMs: number, happen: () => void): () => void;
  /** Runs events until `hasEnded` or until none is left. */
  run(hasEnded: () => boolean): Promise<void>;
  /** Number of events that happened. */
  count(): number;
}

interface Entry {
  at: number;
  happen: (() => void) | undefined;
}

/**
 * A timeline at 0. After each event, all promises that it settled run to their end before time moves on. Code
 * on a timeline must therefore wait only for the timeline.
 */
export function createTimeline(): Timeline {
  /** In the order in which they happen. */
  const waiting: Entry[] = [];
  let nowMs = 0;
  let count = 0;

  return {
    now: () => nowMs,
    at(timeMs, happen) {
      const entry: Entry = { at: Math.max(nowMs, timeMs), happen };
      waiting.splice(waiting.findLastIndex(({ at }) => at <= entry.at) + 1, 0, entry);
      return () => {
        entry.happen = undefined;
      };
    },
    run: (hasEnded) =>
      new Promise((resolve, reject) => {
        const step = (): void => {
          try {
            let entry = waiting.shift();
            while (entry && !entry.happen) entry = waiting.shift();
            if (!entry?.happen || hasEnded()) return resolve();
            nowMs = entry.at;
            count += 1;
            entry.happen();
          } catch (error) {
            return reject(error);
          }
          // The next turn of the event loop: Node runs all settled promises before it.
          setImmediate(step);
        };
        setImmediate(step);
      }),
    count: () => count,
  };
}

/** A log of events: the last ones as text, all of them as a hash for comparison. */
export interface EventLog {
  note(kind: string, ...facts: (string | number)[]): void;
  /** The last events, oldest first, one line each with its time in ms. */
  last(): string[];
  /** Hash over all events: equal logs have equal hashes. */
  hash(): string;
}

/** Default number of events that are kept as text. */
const KEPT = 48;

/** Creates an empty log. @param now - simulated milliseconds */
export function createEventLog(now: () => number, kept = KEPT): EventLog {
  const ring: (string | number)[][] = [];
  const hash = createHash("sha256");
  let count = 0;
  return {
    note(kind, ...facts) {
      const event = [now(), kind, ...facts];
      hash.update(JSON.stringify(event));
      ring[count++ % kept] = event;
    },
    last() {
      const from = Math.max(0, count - kept);
      return Array.from({ length: count - from }, (_, index) => lineOf(ring[(from + index) % kept] ?? []));
    },
    hash: () => hash.copy().digest("hex").slice(0, 8),
  };
}

function lineOf([at = 0, ...facts]: (string | number)[]): string {
  return `${String(at).padStart(7)} ms  ${facts.join(" ")}`;
}

/** The process whose operation the database is applying. */
export interface Actor {
  process: SimulatedProcess;
  /** Name of the operation. */
  name: string;
  /** The grouped write of the operation, if it is one. */
  write: GroupedWrite | undefined;
}

/** The faults of one world, and the time until which the last one may have an effect. */
export interface Faults {
  /** A point at which a process may be killed or frozen. True: it is still alive. */
  survives(process: SimulatedProcess, point: string): boolean;
  /** True while faults may begin. */
  isChaos(): boolean;
  isOutage(): boolean;
  /** The database is unreachable until this time. */
  beginOutage(untilMs: number): void;
  /** Records a fault from now until this time. Its effect on leases lasts longer. */
  note(untilMs: number): void;
  /** Records how long a worker may be silent before others declare it dead, in milliseconds. */
  allowSilence(ms: number): void;
  /** The time after which no fault can be the cause of an event. */
  calmSince(): number;
  /** SIGKILL. Also records the time that a takeover of its plans needs. */
  kill(process: SimulatedProcess, point: string): void;
  freeze(process: SimulatedProcess, point: string): void;
}

/**
 * How long another executor may need to find and claim the plans of a dead executor after it was declared
 * dead, in milliseconds.
 */
export const TAKE_OVER_MS = 3_000;

/** The faults of one world. */
export function createFaults(
  settings: WorldSettings,
  { timeline, random, log }: { timeline: Timeline; random: Random; log: EventLog },
): Faults {
  const { perOperation, chaosMs, deadAfterMs } = settings;
  /** The end of the latest fault; negative before the first. */
  let faultyUntil = Number.NEGATIVE_INFINITY;
  /** The longest silence that was allowed to any worker. */
  let silenceMs = deadAfterMs;
  let outageUntil = -1;

  const faults: Faults = {
    survives(process, point) {
      if (!faults.isChaos()) return process.isAlive();
      if (random.chance(perOperation.crash)) faults.kill(process, point);
      if (random.chance(perOperation.freeze)) faults.freeze(process, point);
      return process.isAlive();
    },
    isChaos: () => timeline.now() < chaosMs,
    isOutage: () => timeline.now() < outageUntil,
    beginOutage(untilMs) {
      outageUntil = Math.max(outageUntil, untilMs);
      log.note("the database is unreachable until", untilMs);
      faults.note(untilMs);
    },
    note(untilMs) {
      faultyUntil = Math.max(faultyUntil, untilMs);
    },
    allowSilence(ms) {
      silenceMs = Math.max(silenceMs, ms);
    },
    // An executor that was frozen or cut off waits for `deadAfterMs` before it declares others dead.
    calmSince: () => Math.max(0, faultyUntil + silenceMs + deadAfterMs + TAKE_OVER_MS),
    kill(process, point) {
      if (!process.isAlive()) return;
      log.note("SIGKILL", process.name, point);
      process.kill();
      faults.note(timeline.now());
    },
    freeze(process, point) {
      if (!process.isAlive() || process.isFrozen()) return;
      const until = timeline.now() + random.whole(50, 3 * deadAfterMs);
      log.note("SIGSTOP", process.name, point, "until", until);
      process.freeze(until);
      faults.note(until);
    },
  };
  return faults;
}
