import type { Attacked } from "./api-heavy.ts";
import type { Latencies } from "./figures.ts";

/** Latencies of events, and how many were missed. */
export type Followed = Latencies & {
  events: number;
  subscribers: number;
  /** Events that a subscriber never received. */
  missed: number;
  /** Received events that came together with the next one. */
  merged: number;
};

/** A target of a measurement. */
interface Target {
  measurement: string;
  target: string;
  isMet: boolean;
  /** True for targets that every machine must meet: a run that misses one has failed. */
  isRequired: boolean;
}

/** Time from the write of an event until the text is in the clients' process. */
const EVENT_P95_MS = 100;

/**
 * Targets of subscribers: they receive everything (required), and in time (depends on the machine). Pure.
 * @param followed - by the name of the measurement
 */
export function targetsOf(followed: Readonly<Record<string, Pick<Followed, "missed" | "p95Ms">>>): Target[] {
  return Object.entries(followed).flatMap(([measurement, { missed, p95Ms }]) => [
    { measurement, target: "every event reaches every subscriber", isMet: missed === 0, isRequired: true },
    { measurement, target: `p95 under ${EVENT_P95_MS} ms`, isMet: p95Ms < EVENT_P95_MS, isRequired: false },
  ]);
}

/** How much longer polls of another tenant may take under attack, and how much memory the process may use. */
const MAX_SLOWDOWN = 5;
const MAX_RSS_MIB = 600;

/**
 * Whether the process survives lists of large outputs, with bounded memory, and still serves another tenant.
 * Pure.
 */
export function heavyTargets({ alone, attacked, pollsFailed, rssPeakMib, died }: Attacked): Target[] {
  const measurement = "heavy";
  return [
    { measurement, target: "the process survives", isMet: !died, isRequired: true },
    {
      measurement,
      target: "another tenant's polls are all answered",
      isMet: pollsFailed === 0,
      isRequired: true,
    },
    {
      measurement,
      target: `its memory stays under ${MAX_RSS_MIB} MiB`,
      isMet: rssPeakMib > 0 && rssPeakMib < MAX_RSS_MIB,
      isRequired: true,
    },
    {
      measurement,
      target: `p99 of those polls stays below ${MAX_SLOWDOWN} times that of alone`,
      isMet: attacked.p99Ms < MAX_SLOWDOWN * alone.p99Ms,
      isRequired: false,
    },
  ];
}

/** 1 when a required target is not met. Pure. */
export function exitCodeOf(targets: readonly Target[]): 0 | 1 {
  return targets.some(({ isMet, isRequired }) => isRequired && !isMet) ? 1 : 0;
}
