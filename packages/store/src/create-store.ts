import { randomUUID, webcrypto } from "node:crypto";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { RandomBytes } from "@planwright/plan";
import type { Document, MongoClient, MongoClientOptions } from "mongodb";
import { type ApiKey, createAccessStore, createTenantStore } from "./access-store.ts";
import { assembleStore } from "./assemble-store.ts";
import { type BackupFacts, type RestoreFacts, restoreBackup, writeBackup } from "./backup.ts";
import { createIndexes, openCollections } from "./database/collections.ts";
import { createMongoClient } from "./database/mongo-client.ts";
import { createServerClock, type ServerClock } from "./database/server-clock.ts";
import { isTransient } from "./database/transient-errors.ts";
import {
  type ConversionProgress,
  type Database,
  type FormatFacts,
  inspectFormat,
  prepareFormat,
} from "./format.ts";
import { createMongoEntryLog } from "./journal/entry-log.ts";
import { createGroupCommit } from "./journal/group-commit.ts";
import type { JournalMetrics } from "./journal/journal.ts";
import type { ReadStore } from "./reads/reads.ts";
import { measureStorage, type StorageFacts, type StorageOptions } from "./reads/storage.ts";
import { type ChangeListener, TO_REST, watchChanges } from "./reads/watch-changes.ts";
import {
  ServerTooOldError,
  StandaloneServerError,
  StoreNotReachedError,
  StoreUnavailableError,
} from "./records/errors.ts";
import { type AcceptanceStore, createMongoAcceptanceLog } from "./requests/acceptance.ts";
import type { ChangeStore } from "./requests/create-change-store.ts";
import type { ControlStore } from "./requests/create-control-store.ts";

/** Settings of {@link createStore}. */
export interface StoreOptions {
  /** Connection string; the database is its path, "planwright" without one. */
  url: string;
  /** Longest one operation may take, in milliseconds. Default 10,000. */
  timeoutMs?: number | undefined;
  /** Longest a plan may take from its first claim, in milliseconds. Default 3,600,000. */
  planTimeoutMs?: number | undefined;
  /** Called after each acknowledged bulk of grouped writes, with the number of writes in it. Default: none. */
  onBulk?: ((writes: number) => void) | undefined;
  /** Counts appends to journals. Default: nothing is counted. */
  journalMetrics?: JournalMetrics | undefined;
  /** Told while documents of an earlier format are converted, before the store opens. Default: it is not told. */
  onConversion?: ((progress: ConversionProgress) => void) | undefined;
}

const DEFAULT_DATABASE = "planwright";

/**
 * Connects, refuses a standalone or too old server and a database of a format that it cannot convert, converts
 * an earlier one, and makes the indexes.
 * Every write is majority and journalled.
 * @throws {StandaloneServerError | ServerTooOldError | DatabaseFormatError | StoreNotReachedError}
 */
export async function createStore(options: StoreOptions) {
  const { timeoutMs = 10_000 } = options;
  const common: MongoClientOptions = {
    socketTimeoutMS: timeoutMs * 2,
    connectTimeoutMS: timeoutMs,
    waitQueueTimeoutMS: timeoutMs,
    serverSelectionTimeoutMS: timeoutMs,
    writeConcern: { w: "majority", journal: true, wtimeoutMS: timeoutMs },
    readConcern: { level: "majority" },
    ignoreUndefined: true,
    // The driver looks names up in this object. The default inherits some, such as `constructor` and `__proto__`,
    // and lists under these names would be read as bytes.
    fieldsAsRaw: Object.create(null),
    appName: "planwright",
  };
  const client = createMongoClient(options.url, { ...common, maxPoolSize: 50 });
  const groupClient = createMongoClient(options.url, { ...common, maxPoolSize: 10, retryWrites: false });
  const closeClients = async (): Promise<void> =>
    void (await Promise.all([client.close(), groupClient.close()]));
  try {
    const clock = createServerClock();
    // Connects now, not with the first write: a client whose first connection fails does not connect again.
    await connect(client, clock);
    await groupClient.connect();
    const db = client.db(databaseOf(options.url));
    const collections = openCollections(client, db);
    await prepareFormat({ db, collections }, { onProgress: options.onConversion });
    await createIndexes(collections);
    const owner = randomUUID();
    const groupCollections = openCollections(groupClient, groupClient.db(db.databaseName));
    const { operations, idle } = assembleStore({
      collections,
      group: createGroupCommit(groupClient, {
        database: db.databaseName,
        owner,
        onBulk: options.onBulk,
      }),
      entryLog: createMongoEntryLog(groupCollections),
      readLog: createMongoEntryLog(collections),
      acceptanceLog: createMongoAcceptanceLog(groupCollections),
      owner,
      clock,
      sleep: (ms) => delay(ms),
      randomBytes,
      planTimeoutMs: options.planTimeoutMs ?? 3_600_000,
      retryForMs: RETRY_FOR_MS,
      onBulk: options.onBulk,
      metrics: options.journalMetrics,
    });
    const ping = async (): Promise<void> => {
      try {
        await db.command({ ping: 1, maxTimeMS: 2_000 });
      } catch (error) {
        throw new StoreUnavailableError({ operation: "ping" }, error);
      }
    };
    // A reading that fails leaves the clock as it was. Callers that need MongoDB get the error from their own
    // operation.
    const clockTimer = setInterval(
      () => void readClock(client, clock).catch(() => undefined),
      CLOCK_EVERY_MS,
    ).unref();
    return {
      ...operations,
      ...createAccessStore({ collections, clock, randomBytes }),
      ...createTenantStore(collections, clock),
      /** Reports changes of requests, plans and steps by any process, until it is closed. */
      watchChanges: (listener: ChangeListener) => watchChanges(collections, listener),
      /**
       * Reports only changes of requests and plans after which a request may be idle (no worker continues it): a
       * few of all changes of a plan. The caller has to read the request, because it may still be active.
       */
      watchRequestsAtRest: (listener: ChangeListener) => watchChanges(collections, listener, TO_REST),
      /** Resolves when MongoDB answers. @throws {StoreUnavailableError} */
      ping,
      async close() {
        clearInterval(clockTimer);
        await idle();
        await closeClients();
      },
    };
  } catch (error) {
    await closeClients();
    throw notReached(error, client, timeoutMs);
  }
}

/** What {@link inspectDatabase} found. */
interface DatabaseFacts {
  database: string;
  /** Version of the server, such as "8.2.0". */
  serverVersion: string;
  format: FormatFacts;
  /** How far the clock of this machine is ahead of the server's, in milliseconds. */
  clockAheadMs: number;
  keys: ApiKey[];
}

/**
 * Looks at a database as {@link createStore} does when it opens it, and changes nothing.
 * @throws the errors of {@link createStore}
 */
export function inspectDatabase(reached: Reached): Promise<DatabaseFacts> {
  return withDatabase(reached, async ({ db, collections, clock }) => {
    const clockAheadMs = Date.now() - clock.now();
    const access = createAccessStore({ collections, clock, randomBytes });
    return {
      database: db.databaseName,
      serverVersion: String((await db.command({ buildInfo: 1 }))["version"]),
      format: await inspectFormat({ db, collections }),
      clockAheadMs,
      keys: await access.listApiKeys(),
    };
  });
}

/**
 * Measures what a database holds and what retention frees of it, and changes nothing. Scans read a secondary where
 * there is one, so that the primary keeps its time for workers.
 * @throws the errors of {@link createStore}
 */
export function inspectStorage({
  url,
  timeoutMs,
  scanMs = 60_000,
  ...options
}: Reached & StorageOptions): Promise<StorageFacts> {
  return withDatabase(
    { url, timeoutMs, commandMs: scanMs, readPreference: "secondaryPreferred" },
    async ({ db, collections }) => {
      // A newer format is refused.
      await inspectFormat({ db, collections });
      return measureStorage(db, { ...options, scanMs });
    },
  );
}

/**
 * Writes one point in time of a database to a stream, as a file for {@link restoreDatabase}, and ends it. Services may
 * run meanwhile. Changes nothing.
 * @param to.version - the version of Planwright, which the file names
 * @throws {SnapshotLostError} and the errors of {@link createStore}
 */
export function backupDatabase(
  reached: Reached,
  to: { to: Writable; version: string },
): Promise<BackupFacts> {
  return withDatabase({ ...reached, commandMs: LONG_READ_MS }, (database) => writeBackup(database, to));
}

/**
 * Restores a file of {@link backupDatabase} into an empty database. Plans that had not ended are paused.
 * @throws {BackupFileError | DatabaseNotEmptyError} and the errors of {@link createStore}
 */
export function restoreDatabase(reached: Reached, from: { path: string }): Promise<RestoreFacts> {
  return withDatabase({ ...reached, commandMs: LONG_READ_MS }, (database) => restoreBackup(database, from));
}

/** How a database is reached that is not opened as a store. */
type Reached = Pick<StoreOptions, "url" | "timeoutMs">;

interface OpenOptions extends Reached {
  /** Longest that a command may take beside `timeoutMs`, in milliseconds. Default 0. */
  commandMs?: number;
  readPreference?: "secondaryPreferred";
}

/** Connects as {@link createStore} does, and gives the database to a function. */
async function withDatabase<Facts>(
  { url, timeoutMs = 10_000, commandMs = 0, readPreference }: OpenOptions,
  read: (database: Database & { clock: ServerClock }) => Promise<Facts>,
): Promise<Facts> {
  const client = createMongoClient(url, {
    connectTimeoutMS: timeoutMs,
    serverSelectionTimeoutMS: timeoutMs,
    socketTimeoutMS: commandMs + timeoutMs,
    appName: "planwright",
    ...(readPreference && { readPreference }),
  });
  try {
    const clock = createServerClock();
    await connect(client, clock);
    const db = client.db(databaseOf(url));
    return await read({ db, collections: openCollections(client, db), clock });
  } catch (error) {
    throw notReached(error, client, timeoutMs);
  } finally {
    await client.close();
  }
}

/** The error for people when the server was not reached; any other error as it is. */
function notReached(error: unknown, client: MongoClient, timeoutMs: number): unknown {
  return isTransient(error) ? new StoreNotReachedError({ host: hostsOf(client), timeoutMs }, error) : error;
}

/** Wire version of MongoDB 8.0, the first with bulk writes over several collections. */
const MIN_WIRE_VERSION = 25;
/** For a client that waits, and for a worker whose work would be done again. */
const RETRY_FOR_MS = { client: 10_000, worker: 30_000 };
/** Longest that a command of a backup or a restore may take, in milliseconds: an index of all records is one. */
const LONG_READ_MS = 3_600_000;
/** How often the clock is compared with the server's, in milliseconds. */
const CLOCK_EVERY_MS = 10_000;

const randomBytes: RandomBytes = (bytes) => webcrypto.getRandomValues(bytes);

async function connect(client: MongoClient, clock: ServerClock): Promise<void> {
  await client.connect();
  const hello = await readClock(client, clock);
  const host = hostsOf(client);
  if (!hello["setName"]) throw new StandaloneServerError({ host });
  if (Number(hello["maxWireVersion"]) < MIN_WIRE_VERSION) throw new ServerTooOldError({ host });
}

/** The servers of a connection string, without its credentials. */
function hostsOf(client: MongoClient): string {
  return client.options.hosts.join(",");
}

/** Reads the server's description and its clock. */
async function readClock(client: MongoClient, clock: ServerClock): Promise<Document> {
  const sentAt = performance.now();
  const hello = await client.db("admin").command({ hello: 1 });
  if (hello["localTime"] instanceof Date) clock.observe(hello["localTime"], sentAt);
  return hello;
}

/** The path of a connection string. A string that names several hosts is not a URL. */
function databaseOf(url: string): string {
  const path = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1];
  return path ? decodeURIComponent(path) : DEFAULT_DATABASE;
}

/** All operations of the store, with `ping` and `close`. */
export type Store = Awaited<ReturnType<typeof createStore>>;

/** The operations of the API, each bound to a tenant: another tenant's id looks like an unknown one. */
export type ClientStore = AcceptanceStore & ControlStore & ChangeStore & ReadStore;

/** Reports changes of all processes. */
export type LiveStore = Pick<Store, "watchChanges" | "watchRequestsAtRest" | "readChanged">;

/** Removes old requests, so that the database does not grow for ever. */
export type RetentionStore = Pick<Store, "removeEnded">;
