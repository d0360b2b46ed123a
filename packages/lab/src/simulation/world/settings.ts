import type { Random } from "../../random/random.ts";

/** The world of one seed. Durations are milliseconds of simulated time, rates are probabilities. */
export interface WorldSettings {
  executors: number;
  /** Number of executors whose process has an API too, which are then all APIs. 0: the API is a process of its own. */
  composed: number;
  plans: number;
  /** An executor without heartbeats for this time is declared dead. */
  deadAfterMs: number;
  planTimeoutMs: number;
  /** Faults begin within this time. After it every plan has to end. */
  chaosMs: number;
  /** Clients send controls (pause, resume, cancel) within this time. */
  controlsUntilMs: number;
  /** How long a writer repeats a write while the database is unreachable. */
  retryForMs: number;
  /** Maximum error of the local clock of a process: one hour at most. */
  wallOffsetMs: number;
  /**
   * Bytes of outputs that an executor keeps in memory. With small values it reads outputs from the database
   * again.
   */
  outputMemoryBytes: number;
  /** Probability that clients make other versions of the plans that ended. With `keptMs` they always do. */
  histories: number;
  /** Probability that a list of a tool with batches gives the items to its batch parameter itself. */
  plannedBatches: number;
  /** Requests that ended are removed after this time. Null: never. */
  keptMs: number | null;
  /** Probabilities for each database operation and each tool call. */
  perOperation: {
    crash: number;
    freeze: number;
    lostRequest: number;
    /** Share of the lost writes that arrive late, after writes that were sent later. */
    stale: number;
    lostAnswer: number;
    slow: number;
  };
  /** Number of faults of each kind while faults may begin. */
  outages: number;
  freezes: number;
  crashes: number;
  apiCrashes: number;
  terminations: number;
  flushes: number;
  clockJumps: number;
  /** How often the sign-in at the tool server ends, for some time. */
  signOuts: number;
  /** Probabilities that the queue loses or duplicates a job, and its longest delay. */
  queue: { lost: number; doubled: number; maxDelayMs: number };
  tools: ToolSettings;
  /** True when one plan has a step that kills each executor that calls its tool. */
  hasDeadlyPlan: boolean;
}

/** How tools behave: probabilities for each call, unless a field says otherwise. */
export interface ToolSettings {
  refused: number;
  rateLimited: number;
  unauthorized: number;
  reported: number;
  /** The tool acts, and then answers with an error. */
  failedAfterEffect: number;
  /** Probability for each item of a batch. */
  itemFailed: number;
  lost: number;
  hanging: number;
  lookupSilent: number;
  /** All tools are unreachable from this time, for `awayForMs` milliseconds of simulated time. */
  awayFromMs: number;
  awayForMs: number;
  /** The longest latency of a call without a fault. */
  maxLatencyMs: number;
}

/**
 * Draws a world. About one in five has no faults, so that time limits are checked without allowance for
 * faults.
 */
export function drawSettings(random: Random): WorldSettings {
  const level = random.pick([0, 0.3, 1, 1, 2]);
  const rate = (most: number): number => (random.chance(0.6) ? level * most * random.next() : 0);
  const times = (most: number): number => (level > 0 && random.chance(0.5) ? random.whole(0, most) : 0);
  const apart = {
    executors: random.whole(1, 4),
    plans: random.pick([1, 2, 3, 4]),
    deadAfterMs: random.pick([2_000, 4_000, 10_000]),
    planTimeoutMs: random.pick([15_000, 30_000, 60_000]),
    chaosMs: level === 0 ? 0 : random.whole(1_000, 25_000),
    controlsUntilMs: random.whole(2_000, 40_000),
    retryForMs: random.pick([1_000, 10_000, 30_000]),
    wallOffsetMs: random.chance(0.5) ? 3_600_000 : 0,
    perOperation: {
      crash: rate(0.02),
      freeze: rate(0.01),
      lostRequest: rate(0.06),
      stale: 0.5,
      lostAnswer: rate(0.08),
      slow: rate(0.1),
    },
    outages: times(2),
    freezes: times(3),
    crashes: times(3),
    apiCrashes: times(2),
    terminations: times(2),
    flushes: times(2),
    clockJumps: times(3),
    queue: {
      lost: random.pick([0, 0.1, 0.5, 1]),
      doubled: random.pick([0, 0.3]),
      maxDelayMs: random.pick([20, 500, 4_000]),
    },
    tools: drawTools(random),
    hasDeadlyPlan: random.chance(0.08),
    outputMemoryBytes: random.pick([500, 5_000, 268_435_456]),
    histories: 0.25,
    plannedBatches: 0,
    keptMs: random.chance(0.12) ? random.whole(0, 4_000) : null,
    signOuts: times(2),
  };
  return { ...apart, composed: random.chance(0.5) ? random.whole(1, apart.executors) : 0 };
}

function drawTools(random: Random): ToolSettings {
  const hasNoErrors = random.chance(0.3);
  const rate = (most: number): number => (hasNoErrors ? 0 : most * random.next());
  return {
    refused: rate(0.1),
    rateLimited: rate(0.08),
    unauthorized: rate(0.01),
    reported: rate(0.04),
    itemFailed: rate(0.15),
    lost: rate(0.12),
    hanging: rate(0.05),
    lookupSilent: rate(0.2),
    maxLatencyMs: random.pick([20, 400, 3_000]),
    awayFromMs: random.whole(0, 5_000),
    awayForMs: !hasNoErrors && random.chance(0.3) ? random.whole(500, 20_000) : 0,
    failedAfterEffect: rate(0.05),
  };
}
