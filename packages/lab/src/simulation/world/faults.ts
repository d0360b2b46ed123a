import type { Random } from "../../random/random.ts";
import type { EventLog } from "./event-log.ts";
import type { WorldSettings } from "./settings.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { Timeline } from "./timeline.ts";

/** The faults of one world, and until when the last one may have an effect. */
export interface Faults {
  /** A place where a process may be killed or frozen. True: it is still alive. */
  survives(process: SimulatedProcess, place: string): boolean;
  /** True while faults may begin. */
  isChaos(): boolean;
  isOutage(): boolean;
  /** The database does not answer until this time. */
  beginOutage(untilMs: number): void;
  /** Records a fault from now until then; its effect on leases lasts longer. */
  note(untilMs: number): void;
  /** The time after which no fault can explain what happens. */
  calmSince(): number;
  /** SIGKILL; also records the time that a takeover of its plans needs. */
  kill(process: SimulatedProcess, place: string): void;
  freeze(process: SimulatedProcess, place: string): void;
}

/**
 * How long another executor may need, after the silence, to find and claim the plans of a dead one, in
 * milliseconds.
 */
export const TAKE_OVER_MS = 3_000;

/** The faults of one world. */
export function createFaults(
  settings: WorldSettings,
  { timeline, random, log }: { timeline: Timeline; random: Random; log: EventLog },
): Faults {
  const { perOperation, chaosMs, deadAfterMs } = settings;
  let calmSince = 0;
  let outageUntil = -1;

  const faults: Faults = {
    survives(process, place) {
      if (!faults.isChaos()) return process.isAlive();
      if (random.chance(perOperation.crash)) faults.kill(process, place);
      if (random.chance(perOperation.freeze)) faults.freeze(process, place);
      return process.isAlive();
    },
    isChaos: () => timeline.now() < chaosMs,
    isOutage: () => timeline.now() < outageUntil,
    beginOutage(untilMs) {
      outageUntil = Math.max(outageUntil, untilMs);
      log.note("the database goes away until", untilMs);
      faults.note(untilMs);
    },
    note(untilMs) {
      // An executor that was frozen or cut off waits for the same time once more before it declares others
      // dead.
      calmSince = Math.max(calmSince, untilMs + 2 * deadAfterMs + TAKE_OVER_MS);
    },
    calmSince: () => calmSince,
    kill(process, place) {
      if (!process.isAlive()) return;
      log.note("SIGKILL", process.name, place);
      process.kill();
      faults.note(timeline.now());
    },
    freeze(process, place) {
      if (!process.isAlive() || process.isFrozen()) return;
      const until = timeline.now() + random.whole(50, 3 * deadAfterMs);
      log.note("SIGSTOP", process.name, place, "until", until);
      process.freeze(until);
      faults.note(until);
    },
  };
  return faults;
}
