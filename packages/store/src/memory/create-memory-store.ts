import { webcrypto } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { RandomBytes } from "@planwright/plan";
import { assembleStore } from "../assemble-store.ts";
import { createServerClock } from "../database/server-clock.ts";
import type { ExecutionStore } from "../execution/execution-store.ts";
import type { EntryLog } from "../journal/entry-log.ts";
import type { PlanningStore } from "../planning/planning-store.ts";
import type { RetentionStore } from "../retention/remove-ended.ts";
import type { ClientStore } from "../store.ts";
import type { WorkerStore } from "../workers/worker-store.ts";
import { createMemoryAcceptanceLog } from "./memory-acceptance-log.ts";
import { createMemoryCollections } from "./memory-collections.ts";
import type { MemoryDatabase } from "./memory-database.ts";
import { createMemoryEntryLog } from "./memory-entry-log.ts";
import { createMemoryGroup } from "./memory-group.ts";
import { createMemoryTurnLog } from "./memory-turn-log.ts";
import { type GroupedWrite, type Reach, reachAtOnce } from "./reach.ts";

/**
 * Settings of {@link createMemoryStore}: the shared database, and the clocks and the connection of one
 * process.
 */
export interface MemoryStoreOptions {
  database: MemoryDatabase;
  /** Identifies this process in its writes; different for every store over one database. */
  owner: string;
  /** Longest a plan may take from its first claim, in milliseconds. Default 3,600,000. */
  planTimeoutMs?: number | undefined;
  /** How long a write is sent again while no answer comes, in milliseconds. Default 30,000. */
  retryForMs?: number | undefined;
  /** Waits between those tries, in milliseconds. Default 250. */
  retryEveryMs?: number | undefined;
  /** The connection to the database. Default: operations are applied at once. */
  reach?: Reach | undefined;
  /** This process's monotonic clock, milliseconds. Default `performance.now`. */
  monotonic?: (() => number) | undefined;
  /** This process's wall clock, Unix milliseconds. Default `Date.now`. */
  wall?: (() => number) | undefined;
  /** Waits, by this process's clock. Default: a timer. */
  sleep?: ((ms: number) => Promise<void>) | undefined;
  /** Source of ids. Default: the CSPRNG of the platform. */
  randomBytes?: RandomBytes | undefined;
  /** Changes grouped writes before they are applied, to inject faults. Default: no change. */
  rewrite?: ((write: GroupedWrite) => GroupedWrite) | undefined;
  /** Changes appends and reads of journals, to inject faults. Default: no change. */
  rewriteLog?: ((log: EntryLog) => EntryLog) | undefined;
  /**
   * Server's time for grouped writes, in Unix milliseconds, to inject faults. Default: the time of the
   * database.
   */
  serverNow?: (() => number) | undefined;
}

/**
 * The operations of a store in memory: all except catalogues, API keys, watches, `ping` and `close`.
 */
export type MemoryStore = ClientStore &
  PlanningStore &
  Omit<
    ExecutionStore,
    "publishTools" | "publishServer" | "keepOnlyServers" | "learnOutputs" | "addToolCalls"
  > &
  WorkerStore &
  RetentionStore;

/**
 * A store over a database in memory, for tests and simulation. It is the code of the real store, with its
 * conditional updates, over collections and a group commit that behave like MongoDB. The caller controls time
 * and connections.
 */
export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  const { database, owner, reach = reachAtOnce } = options;
  const clock = createServerClock(options.monotonic, options.wall);
  // As after connecting to MongoDB: the server's time is known before the first operation.
  clock.observe(new Date(database.now()), clock.monotonic());
  const collections = createMemoryCollections(database, reach);
  const sleep = options.sleep ?? ((ms: number) => delay(ms));
  const { retryForMs = 30_000, retryEveryMs = 250 } = options;
  const entryLog = createMemoryEntryLog(database, reach);
  const log = options.rewriteLog ? options.rewriteLog(entryLog) : entryLog;
  const { operations } = assembleStore({
    collections,
    group: createMemoryGroup({
      database,
      reach,
      owner,
      monotonic: () => clock.monotonic(),
      sleep,
      retryForMs,
      retryEveryMs,
      serverNow: options.serverNow,
      rewrite: options.rewrite,
    }),
    entryLog: log,
    readLog: log,
    turnLog: createMemoryTurnLog(database, reach, log),
    acceptanceLog: createMemoryAcceptanceLog(database, reach),
    owner,
    clock,
    sleep,
    randomBytes: options.randomBytes ?? ((bytes) => webcrypto.getRandomValues(bytes)),
    planTimeoutMs: options.planTimeoutMs ?? 3_600_000,
    retryForMs: { client: retryForMs, worker: retryForMs },
    retryEveryMs,
    // At the same instant: in a simulation each turn of the event loop is another instant.
    soon: queueMicrotask,
  });
  return operations;
}
