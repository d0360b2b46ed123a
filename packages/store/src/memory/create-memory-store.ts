import { webcrypto } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { RandomBytes } from "@planwright/plan";
import { createAccept } from "../acceptance/accept.ts";
import { createAcceptance } from "../acceptance/acceptance.ts";
import { createAmend } from "../changes/amend.ts";
import { createAnswerQuestions } from "../changes/answer-questions.ts";
import { createQueuePlan } from "../changes/queue-plan.ts";
import { createReplan } from "../changes/replan.ts";
import { createRerun } from "../changes/rerun.ts";
import { createAppendControl } from "../controls/append-control.ts";
import { createApprove } from "../controls/approve.ts";
import { createCancel } from "../controls/cancel.ts";
import { createPause } from "../controls/pause.ts";
import { createResolve } from "../controls/resolve.ts";
import { createServerClock } from "../database/server-clock.ts";
import { createClaims } from "../execution/claims.ts";
import { createHearControls } from "../execution/hear-controls.ts";
import { createPlanEnds } from "../execution/plan-ends.ts";
import { createUnitWrites } from "../execution/unit-writes.ts";
import type { EntryLog } from "../journal/entry-log.ts";
import { createJournal } from "../journal/journal.ts";
import { createRequestTurns } from "../journal/request-turns.ts";
import { createSettleOutbox } from "../journal/settle-outbox.ts";
import { createUnitReads } from "../journal/unit-reads.ts";
import { createPlanningStore } from "../planning/create-planning-store.ts";
import { createReads } from "../reads/reads.ts";
import type { ClientStore, ExecutionStore, PlanningStore } from "../store.ts";
import { createWorkerStore, type WorkerStore } from "../workers/worker-store.ts";
import { createMemoryAcceptanceLog } from "./memory-acceptance-log.ts";
import { createMemoryCollections } from "./memory-collections.ts";
import type { MemoryDatabase } from "./memory-database.ts";
import { createMemoryEntryLog } from "./memory-entry-log.ts";
import { createMemoryGroup } from "./memory-group.ts";
import { createMemoryTurnLog } from "./memory-turn-log.ts";
import { type GroupedWrite, type Reach, reachAtOnce } from "./reach.ts";

/** Settings of {@link createMemoryStore}: what a process brings to the database that it shares. */
export interface MemoryStoreOptions {
  database: MemoryDatabase;
  /** Names this process in its writes; different for every store over one database. */
  owner: string;
  /** Longest a plan may take from its first claim, in milliseconds. Default 3,600,000. */
  planTimeoutMs?: number | undefined;
  /** How long a write is sent again while no answer comes, in milliseconds. Default 30,000. */
  retryForMs?: number | undefined;
  /** Waits between those tries, in milliseconds. Default 250. */
  retryEveryMs?: number | undefined;
  /** The way to the database. Default: at once. */
  reach?: Reach | undefined;
  /** This process's monotonic clock, milliseconds. Default `performance.now`. */
  monotonic?: (() => number) | undefined;
  /** This process's wall clock, Unix milliseconds. Default `Date.now`. */
  wall?: (() => number) | undefined;
  /** Waits, by this process's clock. Default: a timer. */
  sleep?: ((ms: number) => Promise<void>) | undefined;
  /** Source of ids. Default: the CSPRNG of the platform. */
  randomBytes?: RandomBytes | undefined;
  /** Changes grouped writes on their way, for faults planted on purpose. Default: none. */
  rewrite?: ((write: GroupedWrite) => GroupedWrite) | undefined;
  /** Changes what appends and reads of journals do, for faults planted on purpose. Default: none. */
  rewriteLog?: ((log: EntryLog) => EntryLog) | undefined;
  /** What grouped writes take for the server's time, Unix milliseconds, for faults planted on purpose. Default: the database's. */
  serverNow?: (() => number) | undefined;
}

/** What a store in memory can do: all but catalogues and its own life. */
export type MemoryStore = ClientStore &
  PlanningStore &
  Omit<ExecutionStore, "publishTools" | "publishServer" | "keepOnlyServers" | "learnOutputs"> &
  WorkerStore;

/**
 * A store over a database in memory, for tests and simulation: the code of the real store, down to its conditional updates,
 * over collections and a group commit that do what MongoDB would do. Times and ways are the caller's.
 */
export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  const { database, owner, reach = reachAtOnce } = options;
  const clock = createServerClock(options.monotonic, options.wall);
  // As connecting to MongoDB does: the server's time is known before anything is asked of it.
  clock.observe(new Date(database.now()), clock.monotonic());
  const collections = createMemoryCollections(database, reach);
  const sleep = options.sleep ?? ((ms: number) => delay(ms));
  const retry = { retryForMs: options.retryForMs ?? 30_000, retryEveryMs: options.retryEveryMs ?? 250 };
  const group = createMemoryGroup({
    database,
    reach,
    owner,
    monotonic: () => clock.monotonic(),
    sleep,
    ...retry,
    serverNow: options.serverNow,
    rewrite: options.rewrite,
  });
  const entryLog = createMemoryEntryLog(database, reach);
  const log = options.rewriteLog ? options.rewriteLog(entryLog) : entryLog;
  const turnLog = createMemoryTurnLog(database, reach, log);
  const journal = createJournal({
    log,
    turnLog,
    owner,
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep,
    // At the same instant: in a simulated world a turn of the event loop is another one.
    soon: queueMicrotask,
    ...retry,
  });
  const randomBytes = options.randomBytes ?? ((bytes) => webcrypto.getRandomValues(bytes));
  const unitReads = createUnitReads(collections, log);
  const turns = createRequestTurns({
    log: turnLog,
    owner,
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep,
    ...retry,
  });
  const context = {
    appendControl: createAppendControl({ collections, unitReads, turns }),
    turns,
    settleOutbox: createSettleOutbox({ collections, log, turns, now: () => clock.now() }),
    accept: createAccept({
      log: createMemoryAcceptanceLog(database, reach),
      monotonic: () => clock.monotonic(),
      sleep,
      ...retry,
      soon: queueMicrotask,
    }),
    collections,
    group,
    journal,
    unitReads,
    clock,
    sleep,
    planTimeoutMs: options.planTimeoutMs ?? 3_600_000,
    randomBytes,
  };
  return {
    ...createAcceptance(context),
    ...createQueuePlan(context),
    ...createCancel(context),
    ...createPause(context),
    ...createAnswerQuestions(context),
    ...createApprove(context),
    ...createResolve(context),
    ...createReplan(context),
    ...createRerun(context),
    ...createAmend(context),
    ...createPlanningStore(context),
    ...createReads(context),
    ...createClaims(context),
    ...createUnitWrites(context),
    ...createPlanEnds(context),
    ...createHearControls(context),
    ...createWorkerStore(collections),
    now: () => clock.now(),
  };
}
