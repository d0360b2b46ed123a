import { isTerminalPlanStatus } from "@planwright/plan";
import { createLogger, type Logger } from "@planwright/runtime";
import type { JournalDocument, PlanDocument } from "@planwright/store";
import { createMemoryDatabase } from "@planwright/store/memory";
import { z } from "zod";
import type { UnitChange } from "../journal/unit-changes.ts";
import { createRandom } from "../random/random.ts";
import { type Checker, createChecker } from "./checker/checker.ts";
import type { Violation } from "./checker/invariants.ts";
import type { PlanFacts } from "./checker/plan-facts.ts";
import type { Mutant } from "./mutant.ts";
import { type SimulatedApi, startApi, startClients, startOperator } from "./system/clients.ts";
import { type Executors, startExecutors } from "./system/executors.ts";
import { createSimulatedTools, type SimulatedTools } from "./system/tools.ts";
import { createJobQueue, type JobQueue, type World } from "./system/world.ts";
import { TOOL_DOCUMENTS } from "./world/catalogue.ts";
import {
  createEventLog,
  createFaults,
  createTimeline,
  EPOCH_MS,
  type EventLog,
  TAKE_OVER_MS,
} from "./world/processes.ts";
import { drawSettings, type WorldSettings } from "./world/settings.ts";

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
  for (const document of TOOL_DOCUMENTS) database.insert("tools", { ...document });
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
  const tools = createSimulatedTools(world);
  const executors = startExecutors(world, tools);
  const workers = random.stream("workers");
  const queue = createJobQueue(world, (planId) => executors.any(workers)?.work(planId));
  const api = startApi(world, executors);
  const isChanging = startClients(world, api, queue);
  operator = startOperator(world, api);
  scheduleFaults(world, { executors, api, queue, tools });
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

/** Number of seeds within which every planted fault has to be found: the rarest shows in about one of 750. */
export const MAX_SEEDS = 1_500;

/**
 * Simulates seeds with a planted fault, from its first seed, until the checker finds a violation; `result` is
 * null without one.
 */
export async function hunt(mutant: Mutant): Promise<{ seeds: number; result: SeedResult | null }> {
  for (let seed = mutant.firstSeed ?? 1; seed <= MAX_SEEDS; seed++) {
    const result = await simulateSeed(seed, { mutant });
    if (result.violation) return { seeds: seed, result };
  }
  return { seeds: MAX_SEEDS, result: null };
}

const AFTER_DEADLINE_MS = 30_000;
const CHECK_EVERY_MS = 1_000;
/** A doubt and a pause have no limit, but each person of this world acts within this time. */
const PEOPLE_ACT_WITHIN_MS = 600_000;
/** Without faults, a plan that no executor has claimed yet is claimed within this time. */
const CLAIMED_WITHIN_MS = 10_000;

/**
 * Checks every second for plans that should have ended. The returned function says whether everything had
 * ended at the last check.
 * @param isChanging - true while a client is going to make another version
 */
function checkEnds(world: World, isChanging: () => boolean): () => boolean {
  const { timeline, checker } = world;
  let hasAllEnded = false;
  const check = (): void => {
    for (const facts of checker.plans()) {
      const lateBy = timeline.now() - latestEnd(world, facts);
      if (lateBy > 0 && !hasEnded(world, facts)) {
        const { status, waitReason } = facts.document;
        const requestStatus = requestOf(world, facts)?.["status"];
        checker.fail(
          "ends-in-time",
          `${facts.name} is ${status} (${waitReason ?? "no wait reason"}), its request ${String(requestStatus)}, ${lateBy} ms late`,
        );
      }
    }
    hasAllEnded = !isChanging() && hasEverythingEnded(world);
    timeline.at(timeline.now() + CHECK_EVERY_MS, check);
  };
  timeline.at(CHECK_EVERY_MS, check);
  return () => hasAllEnded;
}

/** True when clients and faults have ended, and so has every plan that was executed. */
function hasEverythingEnded(world: World): boolean {
  const { checker, settings, timeline } = world;
  const names = new Set<string>();
  for (const facts of checker.plans()) {
    if (!hasEnded(world, facts)) return false;
    names.add(facts.name);
  }
  // A submission without an answer may have stored nothing.
  return (
    names.size === settings.plans || timeline.now() > Math.max(settings.chaosMs, 10_000) + CLAIMED_WITHIN_MS
  );
}

/** True when the plan has ended and its request shows it. A plan that no client executes stays READY. */
function hasEnded(world: World, facts: PlanFacts): boolean {
  const { _id, status, deadlineAt, controls } = facts.document;
  if (world.checker.isGone(facts)) return world.database.find("plans", { _id }).length === 0;
  // The deadline is set at the first claim, so a plan that was paused before waits until it is resumed.
  if (status === "PAUSED" && !deadlineAt) return true;
  if (status === "READY") return world.timeline.now() > world.settings.chaosMs + CLAIMED_WITHIN_MS;
  if ((controls?.length ?? 0) > 0) return false;
  const request = requestOf(world, facts);
  const isReplaced = request?.["planId"] !== facts.document._id;
  return isTerminalPlanStatus(status) && (isReplaced || request?.["status"] !== "EXECUTING");
}

function requestOf({ database }: World, facts: PlanFacts) {
  return database.find("requests", { _id: facts.document.requestId })[0];
}

/** The simulated time by which a plan must end, in milliseconds. Time that faults cost is added. */
function latestEnd(
  { settings, faults }: World,
  { document, peopleSince, peopleMs, resumedAt }: PlanFacts,
): number {
  const { startedAt, dueAt, queuedAt, createdAt, waitReason } = document;
  // The last sign-out is a fault: from its end on the plan goes on.
  if (waitReason === "sign-in")
    return faults.calmSince() + CLAIMED_WITHIN_MS + settings.planTimeoutMs + AFTER_DEADLINE_MS;
  if (peopleSince !== null)
    return (dueAt ? dueAt.getTime() - EPOCH_MS : peopleSince + PEOPLE_ACT_WITHIN_MS) + AFTER_DEADLINE_MS;
  const begunAt = (queuedAt ?? createdAt).getTime() - EPOCH_MS;
  const deadline = startedAt
    ? startedAt.getTime() - EPOCH_MS + settings.planTimeoutMs + peopleMs
    : Math.max(begunAt, resumedAt ?? 0, faults.calmSince()) + CLAIMED_WITHIN_MS + settings.planTimeoutMs;
  return Math.max(deadline, faults.calmSince() + TAKE_OVER_MS) + AFTER_DEADLINE_MS;
}

const HOUR_MS = 3_600_000;

/** The targets of faults. */
interface Victims {
  executors: Executors;
  api: SimulatedApi;
  queue: JobQueue;
  tools: SimulatedTools;
}

/** Schedules the number of faults in the settings, at random times while faults may begin. */
function scheduleFaults(world: World, { executors, api, queue, tools }: Victims): void {
  const { settings, timeline, faults } = world;
  const random = world.random.stream("schedule of faults");
  const repeat = (count: number, happen: () => void): void => {
    for (let index = 0; index < count; index++) timeline.at(random.whole(1, settings.chaosMs), happen);
  };
  repeat(settings.crashes, () => {
    const victim = executors.any(random);
    if (victim) faults.kill(victim.process, "out of nowhere");
  });
  repeat(settings.apiCrashes, () => {
    const victim = api.process();
    if (victim) faults.kill(victim, "out of nowhere");
  });
  repeat(settings.freezes, () => {
    const victim = executors.any(random);
    if (victim) faults.freeze(victim.process, "out of nowhere");
  });
  repeat(settings.terminations, () => executors.any(random)?.terminate());
  repeat(settings.outages, () => faults.beginOutage(timeline.now() + random.whole(100, 15_000)));
  repeat(settings.flushes, () => queue.flush());
  repeat(settings.signOuts, () => tools.endSignIn(timeline.now() + random.whole(100, 20_000)));
  // Jumps do not extend the time of faults and are not logged: nothing may depend on these clocks.
  const clocks = world.random.stream("clocks that jump");
  for (let index = 0; index < settings.clockJumps; index++) {
    timeline.at(clocks.whole(1, settings.chaosMs), () => {
      const byMs = clocks.chance(0.5) ? HOUR_MS : -HOUR_MS;
      executors.any(clocks)?.process.jumpWall(byMs);
    });
  }
}

/** Errors that may end a run: the database was unreachable, as the store or the driver reports it. */
const EXPECTED: readonly (string | undefined)[] = ["STORE_UNAVAILABLE", "MongoNetworkError"];

const LineSchema = z.object({
  executor: z.string(),
  err: z.object({ code: z.string().optional(), name: z.string().optional(), message: z.string() }).optional(),
});

/**
 * The logger of all executors of a world. A logged error ends a run, so it must be one of the expected
 * errors.
 */
function createErrorLogger({ checker, log }: { checker: Checker; log: EventLog }): Logger {
  function read(line: string): void {
    const { executor, err } = LineSchema.parse(JSON.parse(line));
    if (!err) return;
    const code = err.code ?? err.name;
    log.note(executor, "ends a run:", code ?? "", err.message);
    if (!EXPECTED.includes(code)) checker.fail("no-surprise", `${executor} ended a run: ${line}`);
  }
  return createLogger({ service: "executor", level: "error", destination: { write: read } });
}
