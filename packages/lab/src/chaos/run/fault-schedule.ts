import type { Random } from "../../random/random.ts";
import { BUSIEST, EXECUTORS, type Fault, PLANNERS, SERVICES } from "../system/fault.ts";

/** Options of {@link makeFaultSchedule}. */
export interface FaultScheduleOptions {
  count: number;
  /** Faults begin within this time, in milliseconds. */
  withinMs: number;
  /**
   * A worker without heartbeats for this time is declared dead, in milliseconds. A paused process is paused
   * for longer.
   */
  deadAfterMs: number;
}

/** A fault without its time. */
type Drawn = { [Type in Fault["type"]]: Omit<Extract<Fault, { type: Type }>, "atMs"> }[Fault["type"]];
type Draw = (random: Random, deadAfterMs: number) => Drawn;

const downMs = (random: Random): number => random.whole(200, 3_000);
/** Half of the time the executor that holds the most plans. */
const anExecutor = (random: Random): (typeof EXECUTORS)[number] | typeof BUSIEST =>
  random.chance(0.5) ? BUSIEST : random.pick(EXECUTORS);
/** Long enough for another executor to claim the plans. */
const untilClaimedMs = (random: Random, deadAfterMs: number): number =>
  deadAfterMs + random.whole(300, 2_500);

/** One fault of every kind. Most of them hit executors, which hold the plans. */
const DECK: readonly Draw[] = [
  (random) => ({ type: "kill", target: BUSIEST, forMs: downMs(random) }),
  (random, deadAfterMs) => ({
    type: "pause",
    target: anExecutor(random),
    forMs: untilClaimedMs(random, deadAfterMs),
  }),
  (random, deadAfterMs) => ({
    type: "freeze",
    target: anExecutor(random),
    link: "mongo",
    forMs: untilClaimedMs(random, deadAfterMs),
  }),
  (random) => ({ type: "kill", target: "mongo", forMs: random.whole(200, 1_500) }),
  (random) => ({ type: "kill", target: anExecutor(random), forMs: downMs(random) }),
  (random) => ({ type: "kill", target: "redis", forMs: downMs(random) }),
  (random) => ({ type: "kill", target: random.pick(PLANNERS), forMs: downMs(random) }),
  (random) => ({ type: "kill", target: "api", forMs: downMs(random) }),
  () => ({ type: "flush" }),
  (random) => ({ type: "kill", target: "tools", forMs: random.whole(200, 2_000) }),
  (random) => ({
    type: "cut",
    target: anExecutor(random),
    link: "mongo",
    forMs: random.whole(300, 4_000),
  }),
  (random) => ({ type: "duplicates", count: random.whole(10, 60) }),
  (random, deadAfterMs) => ({
    type: "pause",
    target: random.pick(PLANNERS),
    forMs: untilClaimedMs(random, deadAfterMs),
  }),
  (random) => ({ type: "kill", target: anExecutor(random), forMs: downMs(random) }),
  (random) => ({ type: "pause", target: "mongo", forMs: random.whole(500, 3_500) }),
  (random) => ({ type: "pause", target: "redis", forMs: random.whole(1_000, 6_000) }),
  (random) => ({ type: "pause", target: "api", forMs: random.whole(500, 4_000) }),
  (random) => ({
    type: "cut",
    target: random.pick(SERVICES),
    link: "redis",
    forMs: random.whole(300, 4_000),
  }),
  (random) => ({
    type: "freeze",
    target: random.pick(SERVICES),
    link: random.pick(["mongo", "redis"]),
    forMs: random.whole(1_000, 5_000),
  }),
  (random) => ({ type: "pause", target: "tools", forMs: random.whole(500, 3_000) }),
];

/**
 * Spreads faults over the time, each at a random moment of its slice. Twenty faults are one of each kind. The
 * first fault kills an executor, so that even a short run measures a recovery.
 */
export function makeFaultSchedule(random: Random, options: FaultScheduleOptions): Fault[] {
  const { count, withinMs, deadAfterMs } = options;
  const [first, ...rest] = DECK;
  const draws = first === undefined ? [] : [first, ...random.shuffled(rest)];
  while (draws.length < count) draws.push(...random.shuffled(DECK));
  const sliceMs = withinMs / Math.max(1, count);
  return draws.slice(0, count).map((draw, index) => ({
    ...draw(random, deadAfterMs),
    // The first fault comes late in its slice, so that there are plans to recover.
    atMs: Math.round((index + (index === 0 ? 0.7 + random.next() * 0.3 : random.next())) * sliceMs),
  }));
}
