import { randomUUID, webcrypto } from "node:crypto";
import type { RandomBytes } from "@planwright/plan";
import { type ClientSession, MongoClient } from "mongodb";
import { createClientStore } from "./client/create-client-store.ts";
import { createIndexes, openCollections } from "./collections.ts";
import { StandaloneServerError, StoreUnavailableError } from "./errors.ts";
import { createExecutionStore } from "./execution/create-execution-store.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createPlanningStore } from "./planning-store.ts";
import { createServerClock } from "./server-clock.ts";
import type { Store } from "./store.ts";

/** Settings of {@link createStore}. */
export interface StoreOptions {
  /** Connection string; the database is its path, "planwright" without one. */
  url: string;
  /** Connections at most. Default 50. */
  maxPoolSize?: number | undefined;
  /** Longest one operation may take, in milliseconds. Default 10,000. */
  timeoutMs?: number | undefined;
  /** How long an executor may be silent before its plans are taken over, in milliseconds. Default 10,000. */
  leaseMs?: number | undefined;
  /** The same for planners. Default 30,000. */
  planningLeaseMs?: number | undefined;
  /** Longest a plan may take from its first claim, in milliseconds. Default 3,600,000. */
  planTimeoutMs?: number | undefined;
  /** Source of ids. Default: the CSPRNG of the platform. */
  randomBytes?: RandomBytes | undefined;
}

const DEFAULT_DATABASE = "planwright";

/**
 * Connects, refuses a standalone server, makes the indexes. Every write is majority and journalled.
 * @throws {StandaloneServerError | StoreUnavailableError}
 */
export async function createStore(options: StoreOptions): Promise<Store> {
  const client = new MongoClient(options.url, {
    maxPoolSize: options.maxPoolSize ?? 50,
    socketTimeoutMS: (options.timeoutMs ?? 10_000) * 2,
    connectTimeoutMS: options.timeoutMs ?? 10_000,
    waitQueueTimeoutMS: options.timeoutMs ?? 10_000,
    serverSelectionTimeoutMS: options.timeoutMs ?? 10_000,
    writeConcern: { w: "majority", journal: true, wtimeoutMS: options.timeoutMs ?? 10_000 },
    readConcern: { level: "majority" },
    ignoreUndefined: true,
    appName: "planwright",
  });
  try {
    await connect(client);
    const db = client.db(databaseOf(options.url));
    const collections = openCollections(client, db);
    await createIndexes(collections);
    const clock = createServerClock();
    const transact = <T>(run: (session: ClientSession) => Promise<T>): Promise<T> =>
      client.withSession((session) => session.withTransaction(() => run(session)));
    const randomBytes = options.randomBytes ?? ((bytes) => webcrypto.getRandomValues(bytes));
    const group = createGroupCommit(client, { database: db.databaseName, owner: randomUUID() });
    const execution = createExecutionStore({
      collections,
      group,
      clock,
      leaseMs: options.leaseMs ?? 10_000,
      planTimeoutMs: options.planTimeoutMs ?? 3_600_000,
    });
    const ping = async (): Promise<void> => {
      try {
        await db.command({ ping: 1, maxTimeMS: 2_000 });
      } catch (error) {
        throw new StoreUnavailableError({ operation: "ping" }, error);
      }
    };
    return {
      ...createClientStore({ collections, group, clock, randomBytes, transact }),
      ...createPlanningStore({
        collections,
        clock,
        planningLeaseMs: options.planningLeaseMs ?? 30_000,
        transact,
      }),
      ...execution,
      ping,
      async close() {
        await group.idle();
        await client.close();
      },
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function connect(client: MongoClient): Promise<void> {
  let hello: Record<string, unknown>;
  try {
    await client.connect();
    hello = await client.db("admin").command({ hello: 1 });
  } catch (error) {
    throw new StoreUnavailableError({ operation: "connect" }, error);
  }
  if (!hello["setName"]) throw new StandaloneServerError({ host: client.options.hosts.join(",") });
}

/** The path of a connection string, which may name several hosts and is then no URL. */
function databaseOf(url: string): string {
  const path = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1];
  return path ? decodeURIComponent(path) : DEFAULT_DATABASE;
}
