import { createMemoryDatabase } from "@planwright/store/memory";
import { startApi } from "./api.ts";
import { checkEnds } from "./checker/check-ends.ts";
import { createChecker } from "./checker/checker.ts";
import type { Violation } from "./checker/invariants.ts";
import { startClients } from "./clients.ts";
import { createEventLog } from "./event-log.ts";
import { startExecutors } from "./executors.ts";
import { createFaults } from "./faults.ts";
import { createJobQueue } from "./job-queue.ts";
import type { Mutant } from "./mutants.ts";
import { startOperator } from "./operator.ts";
import { createRandom } from "./random.ts";
import { createErrorLogger } from "./run-errors.ts";
import { scheduleFaults } from "./schedule-faults.ts";
import { drawSettings, type WorldSettings } from "./settings.ts";
import { EPOCH_MS } from "./simulated-process.ts";
import { createSimulatedTools } from "./simulated-tools.ts";
import { createTimeline } from "./timeline.ts";
import type { World } from "./world.ts";

/** What came of one seed. */
export interface SeedResult {
  seed: number;
  violation: Violation | null;
  /** The last events, oldest first. */
  log: string[];
  /** Over all events: equal seeds give equal hashes. */
  hash: number;
  /** Things that happened, and simulated milliseconds until the end. */
  events: number;
  endedAt: number;
}

/** Options of {@link simulateSeed}. */
export interface SeedOptions {
  mutant?: Mutant | undefined;
  /** Replaces what the seed draws. */
  settings?: Partial<WorldSettings> | undefined;
  /** Events that the log keeps; default the last 48. */
  keptEvents?: number | undefined;
}

/** Lives through one seed's world, until everything is over or an invariant is violated. Nothing but the seed decides. */
export async function simulateSeed(seed: number, options: SeedOptions = {}): Promise<SeedResult> {
  const { mutant } = options;
  const random = createRandom(seed);
  const settings = { ...drawSettings(random.stream("settings")), ...options.settings };
  const timeline = createTimeline();
  const log = createEventLog(() => timeline.now(), options.keptEvents);
  const faults = createFaults(settings, { timeline, random: random.stream("faults"), log });
  const checker = createChecker({
    log,
    now: () => timeline.now(),
    calmSince: () => faults.calmSince(),
    soon: (happen) => void timeline.at(timeline.now(), happen),
  });
  const database = createMemoryDatabase(() => EPOCH_MS + timeline.now());
  const logger = createErrorLogger({ checker, log });
  const parts = { settings, timeline, log, random, database, logger, checker, faults, mutant };
  const world: World = { ...parts, actor: null };
  database.onChange((change) => {
    checker.wrote(change, world.actor);
    const { before, after } = change;
    const moved = before?.status === after.status ? [] : [before?.status ?? "nothing", "->"];
    log.note(world.actor?.process.name ?? "", "writes", after._id, ...moved, after.status, epochOf(after));
  });
  const executors = startExecutors(world, createSimulatedTools(world));
  const workers = random.stream("workers");
  const queue = createJobQueue(world, (planId) => executors.any(workers)?.work(planId));
  const api = startApi(world);
  startClients(world, api, queue);
  startOperator(world, api);
  scheduleFaults(world, { executors, api, queue });
  const isAllOver = checkEnds(world);
  await timeline.run(() => checker.violation() !== null || isAllOver());
  return {
    seed,
    violation: checker.violation(),
    log: log.last(),
    hash: log.hash(),
    events: timeline.count(),
    endedAt: timeline.now(),
  };
}

function epochOf(document: object): string {
  return "epoch" in document ? `epoch ${String(document.epoch)}` : "";
}
