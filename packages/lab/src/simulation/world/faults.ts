import type { Random } from "../../random/random.ts";
import type { EventLog } from "./event-log.ts";
import type { WorldSettings } from "./settings.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { Timeline } from "./timeline.ts";

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
