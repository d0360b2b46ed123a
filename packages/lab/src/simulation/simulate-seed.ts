import type { JournalDocument, PlanDocument, UnitChange } from "@planwright/store";
import { createMemoryDatabase } from "@planwright/store/memory";
import { createRandom } from "../random/random.ts";
import { createChecker } from "./checker/checker.ts";
import type { Violation } from "./checker/invariants.ts";
import type { Mutant } from "./mutants/mutant.ts";
import { startApi } from "./system/api.ts";
import { checkEnds } from "./system/check-ends.ts";
import { startClients } from "./system/clients.ts";
import { startExecutors } from "./system/executors.ts";
import { createJobQueue } from "./system/job-queue.ts";
import { startOperator } from "./system/operator.ts";
import { createErrorLogger } from "./system/run-errors.ts";
import { scheduleFaults } from "./system/schedule-faults.ts";
import { createSimulatedTools } from "./system/simulated-tools.ts";
import type { World } from "./system/world.ts";
import { createEventLog } from "./world/event-log.ts";
import { createFaults } from "./world/faults.ts";
import { drawSettings, type WorldSettings } from "./world/settings.ts";
import { EPOCH_MS } from "./world/simulated-process.ts";
import { createTimeline } from "./world/timeline.ts";

/** The result of one seed. */
export interface SeedResult {
  seed: number;
  violation: Violation | null;
  /** The last events, oldest first. */
  log: string[];
  /** Hash over all events: equal seeds give equal hashes. */
  hash: string;
  /** Status changes that occurred, such as "steps PENDING -> RUNNING". */
  moves: ReadonlySet<string>;
  /** Number of events, and the simulated milliseconds until the end. */
  events: number;
  endedAt: number;
}

/** Options of {@link simulateSeed}. */
export interface SeedOptions {
  mutant?: Mutant | undefined;
  /** Settings that replace those of the seed. */
  settings?: Partial<WorldSettings> | undefined;
  /** Gets each entry of a journal as it is written. Default: none. */
  onEntry?: ((entry: JournalDocument) => void) | undefined;
  /** Gets each state of a plan's document as it is written. Default: none. */
  onPlan?: ((plan: PlanDocument) => void) | undefined;
  /** Number of last events that the log keeps. Default: 48. */
  keptEvents?: number | undefined;
}

/**
 * Simulates the world of one seed until every plan has ended or an invariant is violated. The result depends
 * only on the seed and the options.
 */
export async function simulateSeed(seed: number, options: SeedOptions = {}): Promise<SeedResult> {
  const { mutant } = options;
  const random = createRandom(seed);
  const drawn = drawSettings(random.stream("settings"));
  const settings = { ...drawn, ...mutant?.settings, ...options.settings };
  const timeline = createTimeline();
  const log = createEventLog(() => timeline.now(), options.keptEvents);
  const faults = createFaults(settings, { timeline, random: random.stream("faults"), log });
  const checker = createChecker({
    log,
    now: () => timeline.now(),
    calmSince: () => faults.calmSince(),
    soon: (happen) => void timeline.at(timeline.now(), happen),
    onUnit(change) {
      const { before, after } = change;
      noteMove("steps", { before, after: { ...after, _id: `${after.planId}/${after.key}` } });
      operator(change);
    },
  });
  const database = createMemoryDatabase(() => EPOCH_MS + timeline.now());
  const logger = createErrorLogger({ checker, log });
  const parts = { settings, timeline, log, random, database, logger, checker, faults, mutant };
  const world: World = { ...parts, actor: null };
  const moves = new Set<string>();
  let operator: (change: UnitChange) => void = () => undefined;
  function noteMove(of: string, { before, after }: Moved): void {
    if (before && before.status !== after.status) moves.add(`${of} ${before.status} -> ${after.status}`);
    const moved = before?.status === after.status ? [] : [before?.status ?? "nothing", "->"];
    log.note(world.actor?.process.name ?? "", "writes", after._id, ...moved, after.status, epochOf(after));
  }
  database.onChange((change) => {
    if (change.collection === "workers") return;
    checker.wrote(change, world.actor);
    if (change.collection === "journal") {
      options.onEntry?.(change.after);
      const { _id, events, epoch = "none" } = change.after;
      const types = events.map(({ type }) => type).join(" ");
      log.note(world.actor?.process.name ?? "", "appends", _id, types, `epoch ${epoch}`);
    } else noteMove(change.collection, change);
    if (change.collection === "plans") options.onPlan?.(change.after);
  });
  database.onRemove((collection, id) => {
    log.note(world.actor?.process.name ?? "", "removes", id);
    checker.removed(collection, id);
  });
  const executors = startExecutors(world, createSimulatedTools(world));
  const workers = random.stream("workers");
  const queue = createJobQueue(world, (planId) => executors.any(workers)?.work(planId));
  const api = startApi(world);
  const isChanging = startClients(world, api, queue);
  operator = startOperator(world, api);
  scheduleFaults(world, { executors, api, queue });
  const hasAllEnded = checkEnds(world, isChanging);
  await timeline.run(() => checker.violation() !== null || hasAllEnded());
  return {
    seed,
    violation: checker.violation(),
    log: log.last(),
    hash: log.hash(),
    moves,
    events: timeline.count(),
    endedAt: timeline.now(),
  };
}

/** A document with a status, before and after a write. */
interface Moved {
  before: { status: string } | null;
  after: { _id: string; status: string };
}

function epochOf(document: object): string {
  return "epoch" in document ? `epoch ${String(document.epoch)}` : "";
}
