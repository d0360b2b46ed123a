import type { Followed } from "./following.ts";

/** What a measurement is held against. */
export interface Target {
  measurement: string;
  target: string;
  isMet: boolean;
  /** True for what holds on any machine: a run that does not meet it has failed. */
  isRequired: boolean;
}

/** From the write of an event to the words in the clients' process. */
const EVENT_P95_MS = 100;

/**
 * Whether those who follow a request heard of everything, and in time. That nothing is missed is required; how long it takes depends on
 * the machine. Pure.
 * @param followed - by the name of the measurement
 */
export function targetsOf(followed: Readonly<Record<string, Pick<Followed, "missed" | "p95Ms">>>): Target[] {
  return Object.entries(followed).flatMap(([measurement, { missed, p95Ms }]) => [
    { measurement, target: "every event reaches every subscriber", isMet: missed === 0, isRequired: true },
    { measurement, target: `p95 under ${EVENT_P95_MS} ms`, isMet: p95Ms < EVENT_P95_MS, isRequired: false },
  ]);
}

/** 1 when something is not met that holds on any machine. Pure. */
export function exitCodeOf(targets: readonly Target[]): 0 | 1 {
  return targets.some(({ isMet, isRequired }) => isRequired && !isMet) ? 1 : 0;
}
