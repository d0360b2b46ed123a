import { setTimeout as delay } from "node:timers/promises";
import { isTerminalPlanStatus } from "@planwright/plan";
import type { JournalDocument, PlanDocument } from "@planwright/store";
import { readCallLog, readLedger } from "@planwright/testing";
import type { ClientSession, Document, MongoClient, WithId } from "mongodb";
import { z } from "zod";
import { stepsOfJournals } from "../journal/unit-changes.ts";
import type { Random } from "../random/random.ts";
import { type AcceptedRequest, type ApiClient, createApiClient } from "./api-client.ts";
import { type ChangeLog, startChangeLog } from "./change-log.ts";
import type { ChaosPlan, Tenant } from "./chaos-plan.ts";
import {
  type BrokenPromise,
  type Evidence,
  FinalPlanSchema,
  FinalRequestSchema,
  FinalStepSchema,
  plansHeld,
  type Reading,
  regressionsBetween,
  type SeenReading,
} from "./evidence.ts";
import { createPlanClients, type PlanClients } from "./plan-clients.ts";
import type { ChaosSettings } from "./settings.ts";
import {
  BUSIEST,
  type ChaosFault,
  type ChaosSystem,
  createFaultInjector,
  EXECUTORS,
  type Kill,
  PLANNERS,
  SERVICES,
} from "./system.ts";

/** Dependencies of a run. */
interface RunDependencies {
  settings: ChaosSettings;
  plans: readonly ChaosPlan[];
  random: Random;
  system: ChaosSystem;
  /** Connected directly, without a proxy. */
  mongo: MongoClient;
  say: (line: string) => void;
}

/** The result of a run: its evidence, and counts for the report. */
export interface Observed {
  evidence: Evidence;
  kills: readonly Kill[];
  faults: number;
  resubmissions: number;
  /** For how long plans and faults waited because too many plans were open, in milliseconds. */
  heldMs: number;
  oddErrors: ReadonlyMap<string, number>;
}

/**
 * How long the clients wait after the deadline of a plan, in milliseconds: for the plan's end, and for the
 * request's end, which follows.
 */
const GRACE_MS = 45_000;
const PROGRESS_EVERY_MS = 5_000;
/** While more plans are open, neither plans nor faults are added. The bursts of 1,000 plans have 60 each. */
const MAX_OPEN = 100;

/** Submits plans while faults happen, watches all of them to their end, and collects the evidence. */
export async function playOut({
  settings,
  plans,
  random,
  system,
  mongo,
  say,
}: RunDependencies): Promise<Observed> {
  const log = await startChangeLog(mongo);
  const { apiUrls, keys } = system;
  const [first] = apiUrls;
  const clientOf: Record<Tenant, ApiClient> = {
    large: createApiClient(first, keys.large),
    middle: createApiClient(apiUrls.at(-1) ?? first, keys.middle),
    small: createApiClient(first, keys.small),
  };
  const seen: BrokenPromise[] = [];
  const report = (violation: BrokenPromise): void => {
    seen.push(violation);
    say(`${violation.kind}: ${violation.id}: ${violation.found}`);
  };
  const watching = new AbortController();
  const pace = startPace(() => clients.open() > MAX_OPEN);
  const clients = createPlanClients({
    clientOf,
    plans: plans.length,
    random,
    withinMs: settings.withinMs,
    until: pace.until,
    report,
    signal: watching.signal,
  });
  const { accepted } = clients;
  const injector = createFaultInjector({
    system,
    random: random.stream("jobs"),
    plansHeld: () => plansHeld(log.changes),
    until: pace.until,
    knownPlanIds: () => accepted.map(({ planId }) => planId),
    say,
  });
  const { faults: count, withinMs, deadAfterMs } = settings;
  const schedule = makeFaultSchedule(random.stream("faults"), { count, withinMs, deadAfterMs });

  const progress = setInterval(() => say(clients.progress()), PROGRESS_EVERY_MS);
  try {
    await Promise.all([injector.run(schedule), ...plans.map((plan) => clients.submit(plan))]);
    say("all faults are undone, all plans are accepted");
    const watchTimeout = setTimeout(() => watching.abort(), settings.planTimeoutMs + GRACE_MS);
    await clients.settled();
    clearTimeout(watchTimeout);
  } finally {
    pace.stop();
    clearInterval(progress);
    await injector.close();
  }
  say("reads every request a last time");
  const evidence = await takeEvidence({ system, mongo, clientOf, clients, log, seen, report });
  const all = Object.values(clientOf);
  return {
    evidence,
    kills: injector.kills,
    faults: schedule.length,
    resubmissions: all.reduce((sum, client) => sum + client.resubmissions(), 0),
    heldMs: pace.heldMs(),
    oddErrors: new Map(all.flatMap(({ oddErrors }) => [...oddErrors])),
  };
}

/** Reads every request a last time, and collects what the run left. */
async function takeEvidence({
  system,
  mongo,
  clientOf,
  clients,
  log,
  seen,
  report,
}: Pick<RunDependencies, "system" | "mongo"> & {
  clientOf: Readonly<Record<Tenant, ApiClient>>;
  clients: PlanClients;
  log: ChangeLog;
  seen: BrokenPromise[];
  report: (violation: BrokenPromise) => void;
}): Promise<Evidence> {
  const { accepted, last } = clients;
  // Documents are written some time after their entries.
  await readAtRest(mongo);
  const durable = await readLastSeqs(mongo);
  const lastReadings = await takeLastReadings({ clientOf, accepted, last, durable, report });
  const documents = await readAtRest(mongo);
  await log.finish();
  return {
    ...documents,
    accepted,
    changes: log.changes,
    ledger: await readLedger(system.ledgerFile),
    calls: await readCallLog(system.callsFile),
    asked: clients.asked,
    controls: clients.controls,
    readings: [...clients.readings, ...lastReadings],
    seen,
  };
}

/** A clock for plans and faults that stops while the machine is behind. */
interface Pace {
  /** Resolves when the clock has reached this time, in milliseconds since its start. */
  until: (atMs: number) => Promise<void>;
  /** For how long the clock has been stopped, in milliseconds. */
  heldMs(): number;
  /** Ends the clock; nothing resolves any more. */
  stop(): void;
}

const TICK_MS = 20;

/**
 * Starts the clock. Plans have deadlines in real time, so a machine that is slower than the pace would be asked
 * whether it is fast, and not whether it loses or repeats work.
 * @param isBehind - true while no plan and no fault may be added
 */
export function startPace(isBehind: () => boolean): Pace {
  let now = 0;
  let held = 0;
  let tickedAt = performance.now();
  let waiting: { atMs: number; resolve: () => void }[] = [];
  const timer = setInterval(() => {
    const passed = performance.now() - tickedAt;
    tickedAt += passed;
    if (isBehind()) {
      held += passed;
      return;
    }
    now += passed;
    const reached = waiting.filter(({ atMs }) => atMs <= now);
    waiting = waiting.filter(({ atMs }) => atMs > now);
    for (const { resolve } of reached) resolve();
  }, TICK_MS);
  return {
    until: (atMs) => new Promise((resolve) => waiting.push({ atMs, resolve })),
    heldMs: () => Math.round(held),
    stop: () => clearInterval(timer),
  };
}

/** The longest time that a plan at its deadline needs to end, in milliseconds. */
const REST_WITHIN_MS = 10_000;

/** The documents that a run left, at one instant. */
type Documents = Pick<Evidence, "requests" | "plans" | "steps" | "journal">;

/**
 * The documents of a run at a time when no plan is running. A plan that waited for an operator runs once more
 * at its deadline.
 */
async function readAtRest(client: MongoClient): Promise<Documents> {
  const timeoutAt = performance.now() + REST_WITHIN_MS;
  for (;;) {
    const documents = await client.withSession({ snapshot: true }, (session) => readNow(client, session));
    if (isAtRest(documents) || performance.now() > timeoutAt) return documents;
    await delay(100);
  }
}

/**
 * No plan is running, and every request has the end of its plan, which is written a moment after the plan's.
 */
function isAtRest({ requests, plans }: Documents): boolean {
  const hasEnded = new Map(plans.map(({ _id, status }) => [_id, isTerminalPlanStatus(status)]));
  return (
    plans.every(({ status }) => status !== "RUNNING") &&
    requests.every(({ status, planId }) => status !== "EXECUTING" || hasEnded.get(planId) !== true)
  );
}

/** The seq of the last durable entry of each request's journal, by requestId. */
export async function readLastSeqs(client: MongoClient): Promise<Map<string, number>> {
  const last = { $group: { _id: "$requestId", seq: { $max: "$seq" } } };
  const found = client
    .db()
    .collection("journal")
    .aggregate<{ _id: string; seq: number }>([last], {
      readConcern: { level: "majority" },
    });
  return new Map((await found.toArray()).map(({ _id, seq }) => [_id, seq]));
}

async function readNow(client: MongoClient, session: ClientSession): Promise<Documents> {
  const db = client.db();
  const read = async <T extends Document>(collection: string): Promise<WithId<T>[]> =>
    db.collection<T>(collection).find({}, { session }).sort({ _id: 1 }).toArray();
  const requests = await read("requests");
  const plans = await read("plans");
  const entries = await read<JournalDocument>("journal");
  // Safe casts: only the store writes these documents.
  const runs = stepsOfJournals(plans as unknown as PlanDocument[], entries);
  const steps = runs.map((run) => ({
    ...run,
    _id: `${run.planId}/${run.key}`,
    output: run.output ?? null,
  }));
  return {
    requests: z.array(FinalRequestSchema).parse(requests),
    plans: z.array(FinalPlanSchema).parse(plans),
    steps: z.array(FinalStepSchema).parse(steps),
    journal: entries,
  };
}

const READS_AT_ONCE = 16;
const TIMEOUT_MS = 15_000;

/** Options of {@link takeLastReadings}. */
interface LastReadingsOptions {
  clientOf: Readonly<Record<Tenant, Pick<ApiClient, "read">>>;
  accepted: readonly AcceptedRequest[];
  /** The last reading of each watched request. */
  last: ReadonlyMap<AcceptedRequest, Reading>;
  /** The seq of the last journal entry of each request before the readings. */
  durable: ReadonlyMap<string, number>;
  report: (violation: BrokenPromise) => void;
}

/**
 * Reads every request once more, after all faults are undone, and reports everything that changed since its
 * end.
 */
async function takeLastReadings(options: LastReadingsOptions): Promise<SeenReading[]> {
  const { clientOf, accepted, last, durable, report } = options;
  const readings: SeenReading[] = [];
  const left = [...accepted];
  const readNext = async (): Promise<void> => {
    for (let ids = left.pop(); ids !== undefined; ids = left.pop()) {
      const reading = await readAgain(clientOf[ids.tenant], ids, last.get(ids), report);
      const { requestId } = ids;
      if (reading) readings.push({ requestId, reading, afterSeq: durable.get(requestId) ?? 0 });
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext));
  return readings;
}

/**
 * Checks that a watched request has not changed since its end. Resolves with the last reading, or undefined
 * without an answer.
 */
async function readAgain(
  client: Pick<ApiClient, "read">,
  { requestId }: AcceptedRequest,
  before: Reading | undefined,
  report: (violation: BrokenPromise) => void,
): Promise<Reading | undefined> {
  const deadlineAt = performance.now() + TIMEOUT_MS;
  const found = (description: string): void =>
    report({ kind: "regressions", id: requestId, expected: "no regression", found: description });
  for (;;) {
    const after = await client.read(requestId, { attempts: true });
    if (after !== undefined) {
      for (const description of before === undefined ? [] : regressionsBetween(before, after))
        found(description);
      return after;
    }
    if (performance.now() > deadlineAt) {
      found("no answer although all faults are undone");
      return undefined;
    }
    await delay(100);
  }
}

/** Options of {@link makeFaultSchedule}. */
interface FaultScheduleOptions {
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
type Drawn = {
  [Type in ChaosFault["type"]]: Omit<Extract<ChaosFault, { type: Type }>, "atMs">;
}[ChaosFault["type"]];
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
export function makeFaultSchedule(random: Random, options: FaultScheduleOptions): ChaosFault[] {
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
