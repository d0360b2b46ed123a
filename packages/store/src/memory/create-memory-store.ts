import { webcrypto } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { JournalEntry, JournalEvent } from "@planwright/engine";
import type { RandomBytes } from "@planwright/plan";
import type { Document } from "mongodb";
import { assembleStore } from "../assemble-store.ts";
import type { ClientStore, RetentionStore } from "../create-store.ts";
import type { Collections } from "../database/collections.ts";
import { createServerClock } from "../database/server-clock.ts";
import { type Retry, repeatUntilAnswered } from "../database/transient-errors.ts";
import type { ExecutionStore } from "../execution/create-execution-store.ts";
import { type EntryLog, entryIdOf, toJournalDocument, withoutEventValues } from "../journal/entry-log.ts";
import type { GroupCommit } from "../journal/group-commit.ts";
import { followOneByOne, type GroupedWrite } from "../journal/pending-write.ts";
import type { WorkerStore } from "../leases/worker-store.ts";
import type { PlanningStore } from "../planning/create-planning-store.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { AcceptanceLog, AcceptedEntry } from "../requests/acceptance.ts";
import {
  evaluate,
  type MemoryDatabase,
  type MemoryTransaction,
  matches,
  type Reach,
  reachAtOnce,
  type StoredDocument,
  sortDocuments,
  valueAt,
  WriteConflictError,
} from "./memory-database.ts";

/**
 * Settings of {@link createMemoryStore}: the shared database, and the clocks and the connection of one
 * process.
 */
export interface MemoryStoreOptions extends Retry {
  database: MemoryDatabase;
  /** Identifies this process in its writes; different for every store over one database. */
  owner: string;
  /** Longest a plan may take from its first claim, in milliseconds. Default 3,600,000. */
  planTimeoutMs?: number | undefined;
  /** The connection to the database. Default: operations are applied at once. */
  reach?: Reach | undefined;
  /** This process's wall clock, Unix milliseconds. Default `Date.now`. */
  wall?: (() => number) | undefined;
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

/** The operations of a store in memory: all except catalogues, API keys, watches, `ping` and `close`. */
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
  const entryLog = createMemoryEntryLog(database, reach, collections);
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

/**
 * Accepted work in a database in memory, over the connection of one process. Requests and plans are sent
 * separately, so that a process may die in between. With MongoDB this needs the death of the server too.
 */
function createMemoryAcceptanceLog(database: MemoryDatabase, reach: Reach): AcceptanceLog {
  function insertUnlessThere(collection: string, document: StoredDocument): void {
    if (database.find(collection, { _id: document._id }).length === 0) database.insert(collection, document);
  }

  async function insertPlans(accepted: readonly AcceptedEntry[]): Promise<void> {
    const plans = accepted.flatMap(({ plan }) => plan ?? []);
    if (plans.length === 0) return;
    await reach({
      name: "plans.insert",
      apply: () => {
        for (const plan of plans) insertUnlessThere("plans", plan);
      },
    });
  }

  /** True when another request of the tenant has the key. */
  function isTaken({ _id, tenant, idempotency }: RequestDocument): boolean {
    const key = idempotency?.key;
    return database.find("requests", { tenant, "idempotency.key": key }).some((other) => other._id !== _id);
  }

  return {
    async insert(accepted) {
      await reach({
        name: "requests.insert",
        apply: () => {
          for (const { request } of accepted) insertUnlessThere("requests", request);
        },
      });
      await insertPlans(accepted);
    },
    async insertKeyed(accepted) {
      const { request } = accepted;
      const isStored = await reach({
        name: "requests.insert",
        apply: () => {
          if (isTaken(request)) return false;
          insertUnlessThere("requests", request);
          return true;
        },
      });
      if (isStored) await insertPlans([accepted]);
      return isStored;
    },
  };
}

/** Options of {@link createMemoryGroup}. */
interface MemoryGroupParts extends Retry {
  database: MemoryDatabase;
  reach: Reach;
  /** Distinguishes this process's writeIds from all others. */
  owner: string;
  /** The value of `$$NOW`. Undefined: the server's clock. */
  serverNow: (() => number) | undefined;
  /** Changes writes before they are applied, to inject faults. */
  rewrite: ((write: GroupedWrite) => GroupedWrite) | undefined;
}

/**
 * Group commit over a database in memory, with the same guarantees: writes to one document are sent in order,
 * one at a time. A write whose answer was lost is sent again, and its `writeId` shows whether it was done the
 * first time. There are no bulks: each write is sent alone, which allows all orders that bulks allow, and
 * more. Documents are read after their write, as in bulks.
 */
function createMemoryGroup(parts: MemoryGroupParts): GroupCommit {
  const { database, reach, owner, rewrite } = parts;
  /** The last write in flight to each document. */
  const tails = new Map<string, Promise<unknown>>();
  let sequence = 0;

  function enqueue(write: GroupedWrite): Promise<boolean> {
    const key = `${write.collection}/${write.id}`;
    const tail = tails.get(key);
    sequence += 1;
    const writeId = `${owner}:${sequence}`;
    const done = tail ? tail.then(() => send(write, writeId)) : send(write, writeId);
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    tails.set(key, settled);
    void settled.then(() => tails.get(key) === settled && tails.delete(key));
    return done;
  }

  async function send(given: GroupedWrite, writeId: string): Promise<boolean> {
    const write = rewrite ? rewrite(given) : given;
    const name = `${write.collection}.write`;
    const attempt = async (isRepeat: boolean): Promise<boolean> => {
      const isMatched = await reach({ name, write: given, apply: () => apply(write, writeId, isRepeat) });
      if (isMatched || !isRepeat) return isMatched;
      return reach({ name: `${write.collection}.find`, apply: () => isDone(write, writeId) });
    };
    return repeatUntilAnswered("group commit", attempt, parts);
  }

  function apply(write: GroupedWrite, writeId: string, isRepeat: boolean): boolean {
    const { collection, id, condition } = write;
    const isPipeline = "expressions" in write;
    const options = { nowMs: parts.serverNow?.() };
    const set = { ...(isPipeline ? write.expressions : write.set), writeId };
    const filter = { _id: id, ...condition, ...(isRepeat && { writeId: { $ne: writeId } }) };
    const matched = database.update(collection, filter, { set, isPipeline }, options);
    return matched.length > 0;
  }

  function isDone({ collection, id }: GroupedWrite, writeId: string): boolean {
    return database.find(collection, { _id: id, writeId }).length > 0;
  }

  return {
    write: enqueue,
    async writeInOrder(first, second) {
      return [await enqueue(first), await enqueue(second)];
    },
    async writeAndRead(write) {
      if (!(await enqueue(write))) return null;
      const { collection, id } = write;
      const find = () =>
        reach({ name: `${collection}.find`, apply: () => database.find(collection, { _id: id }) });
      const [document] = await repeatUntilAnswered("group commit", find, parts);
      // A collection has only documents of its type.
      return (document ?? null) as never;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}

const COLLECTION = "journal";

/**
 * Entries in a database in memory, over the connection of one process. Entries are copied when they are
 * stored and read. Writes that follow from an entry are sent one by one, so that a process may die in between. With
 * MongoDB this needs the death of the server too.
 */
export function createMemoryEntryLog(
  database: MemoryDatabase,
  reach: Reach = reachAtOnce,
  collections: Collections = createMemoryCollections(database, reach),
): EntryLog {
  function insert(given: readonly JournalEntry[]): ReadonlyMap<string, JournalEntry> {
    const taken = new Map<string, JournalEntry>();
    for (const entry of given) {
      const found = entryAt(entryIdOf(entry));
      if (found) taken.set(entryIdOf(entry), found);
      else database.insert(COLLECTION, structuredClone(toJournalDocument(entry)));
    }
    return taken;
  }

  function entryAt(id: string): JournalEntry | undefined {
    const [found] = database.find(COLLECTION, { _id: id });
    return found && toEntry(found);
  }

  function read(requestId: string, afterSeq: number, limit = Number.POSITIVE_INFINITY): JournalEntry[] {
    const found: JournalEntry[] = [];
    for (let seq = afterSeq + 1; found.length < limit; seq++) {
      const entry = entryAt(entryIdOf({ requestId, seq }));
      if (!entry) break;
      found.push(entry);
    }
    return found;
  }

  return {
    async insert(given, following = []) {
      const taken = await reach({ name: "journal.insert", entries: given, apply: () => insert(given) });
      const isOwn = (entry: JournalEntry): boolean =>
        (taken.get(entryIdOf(entry)) ?? entry).writeId === entry.writeId;
      if (given.every(isOwn)) await followOneByOne(collections, following);
      return taken;
    },
    read: (requestId, afterSeq, limit) =>
      reach({ name: "journal.read", apply: () => read(requestId, afterSeq, limit) }),
    async *readTails(positions) {
      const apply = () =>
        positions.flatMap(({ requestId, seq }) => read(requestId, seq)).map(withoutEventValues);
      yield* await reach({ name: "journal.readTails", apply });
    },
    readAt: (positions, { keys }) => {
      const wanted = new Set(keys);
      const apply = () =>
        positions
          .flatMap((position) => entryAt(entryIdOf(position)) ?? [])
          .map((entry) => withEventsOf(entry, wanted))
          .filter(({ events }) => events.length > 0);
      return reach({ name: "journal.readAt", apply });
    },
  };
}

/** The entry with the events of these units. Unwanted values are not removed here. */
function withEventsOf(entry: JournalEntry, wanted: ReadonlySet<string>): JournalEntry {
  const isWanted = (event: JournalEvent): boolean =>
    ("key" in event && wanted.has(event.key)) ||
    ("units" in event && event.units.some((key) => wanted.has(key)));
  return { ...entry, events: entry.events.filter(isWanted) };
}

function toEntry({ _id, ...entry }: StoredDocument): JournalEntry {
  // Only entries are written into this collection.
  return structuredClone(entry) as JournalEntry;
}

type Filter = Document;
type Change = { $set: Document } | { $set: Document }[];
/** The parts of the driver's session that this store uses. */
interface MemorySession {
  transaction: MemoryTransaction | null;
  withTransaction<T>(write: () => Promise<T>): Promise<T>;
  abortTransaction(): Promise<void>;
}
interface InSession {
  session?: MemorySession;
}
/** Result of `find`: the parts of the driver's cursor that this store uses. */
interface MemoryCursor {
  sort(by: Document): MemoryCursor;
  limit(count: number): MemoryCursor;
  toArray(): Promise<StoredDocument[]>;
  [Symbol.asyncIterator](): AsyncIterator<StoredDocument>;
}

/** The parts of the driver's collection that this store uses. */
function createMemoryCollection(name: string, database: MemoryDatabase, reach: Reach) {
  const run = <T>(operation: string, apply: () => T): Promise<T> =>
    reach({ name: `${name}.${operation}`, apply });

  const toUpdate = (change: Change) =>
    Array.isArray(change)
      ? { set: Object.assign({}, ...change.map(({ $set }) => $set)), isPipeline: true }
      : { set: change.$set, isPipeline: false };

  function cursor(filter: Filter, by: Document, count: number): MemoryCursor {
    const read = async () =>
      run("find", () => sortDocuments(database.find(name, filter), by).slice(0, count));
    return {
      sort: (next) => cursor(filter, next, count),
      limit: (next) => cursor(filter, by, next),
      toArray: read,
      async *[Symbol.asyncIterator]() {
        yield* await read();
      },
    };
  }

  return {
    find: (filter: Filter = {}) => cursor(filter, {}, Number.POSITIVE_INFINITY),
    aggregate: (pipeline: Document[]) => ({
      toArray: async () => run("aggregate", () => aggregate(database, name, pipeline)),
    }),
    findOne: async (filter: Filter) => run("findOne", () => database.find(name, filter)[0] ?? null),
    countDocuments: async (filter: Filter, { limit = Number.POSITIVE_INFINITY }: { limit?: number } = {}) =>
      run("countDocuments", () => Math.min(database.find(name, filter).length, limit)),
    insertOne: async (document: StoredDocument, { session }: InSession = {}) =>
      run("insertOne", () => (session?.transaction ?? database).insert(name, structuredClone(document))),
    updateOne: async (filter: Filter, change: Change, options: { upsert?: boolean } & InSession = {}) =>
      run("updateOne", () => {
        const transaction = options.session?.transaction;
        if (transaction) return { matchedCount: Number(transaction.update(name, filter, toUpdate(change))) };
        const updated = database.update(name, filter, toUpdate(change));
        if (updated.length > 0 || !options.upsert) return countOf(updated);
        database.insert(name, { _id: String(filter["_id"]) });
        return countOf(database.update(name, filter, toUpdate(change)));
      }),
    updateMany: async (filter: Filter, change: Change) =>
      run("updateMany", () => {
        const ids = database.find(name, filter).map(({ _id }) => _id);
        return countOf(ids.flatMap((_id) => database.update(name, { ...filter, _id }, toUpdate(change))));
      }),
    distinct: async (path: string, filter: Filter = {}) =>
      run("distinct", () => [...new Set(database.find(name, filter).map((found) => valueAt(found, path)))]),
    deleteMany: async (filter: Filter) =>
      run("deleteMany", () => ({ deletedCount: database.remove(name, filter) })),
    findOneAndUpdate: async (
      filter: Filter,
      change: Change,
      options: { returnDocument?: "before" | "after" } = {},
    ) =>
      run("findOneAndUpdate", () => {
        const [before] = database.find(name, filter);
        const [after] = database.update(name, filter, toUpdate(change));
        return (options.returnDocument === "after" ? after : before) ?? null;
      }),
  };
}

function countOf(documents: readonly StoredDocument[]): { matchedCount: number; modifiedCount: number } {
  return { matchedCount: documents.length, modifiedCount: documents.length };
}

/** The parts of the driver's client that this store uses: transactions are repeated after a conflict, as it does. */
function createMemoryClient(database: MemoryDatabase, reach: Reach) {
  return {
    withSession<T>(use: (session: MemorySession) => Promise<T>): Promise<T> {
      const session: MemorySession = {
        transaction: null,
        async withTransaction(write) {
          for (;;) {
            const transaction = database.transaction();
            session.transaction = transaction;
            const result = await write();
            // Aborted.
            if (session.transaction === null) return result;
            session.transaction = null;
            try {
              await reach({ name: "transaction.commit", apply: () => transaction.commit() });
              return result;
            } catch (error) {
              if (!(error instanceof WriteConflictError)) throw error;
            }
          }
        },
        async abortTransaction() {
          session.transaction = null;
        },
      };
      return use(session);
    },
  };
}

/** The collections of a database in memory, over the connection of one process. */
export function createMemoryCollections(database: MemoryDatabase, reach: Reach): Collections {
  const names = [
    "requests",
    "plans",
    "journal",
    "outputs",
    "modelCalls",
    "tools",
    "toolServers",
    "signIns",
    "observedOutputs",
    "removals",
    "workers",
  ];
  const collections: unknown = Object.fromEntries(
    names.map((name) => [name, createMemoryCollection(name, database, reach)]),
  );
  // The driver's types have a hundred more members than this store uses. The tests of both stores check the
  // members that it uses.
  return Object.assign(collections as Collections, { client: createMemoryClient(database, reach) });
}

// The driver types an operand as `any`: its form depends on the stage.
type Stage = (
  documents: StoredDocument[],
  operand: Document[string],
  database: MemoryDatabase,
) => StoredDocument[];

/** The stages that this store uses, in the forms that it uses. */
const STAGES: Readonly<Record<string, Stage>> = {
  $match: (documents, filter, database) =>
    documents.filter((document) => matches(filter, { document, nowMs: database.now() })),
  $sort: (documents, by) => sortDocuments(documents, by),
  $skip: (documents, count) => documents.slice(Number(count)),
  $limit: (documents, count) => documents.slice(0, Number(count)),
  $unionWith: (documents, { coll, pipeline }, database) => [
    ...documents,
    ...aggregate(database, coll, pipeline).map((document) => ({ _id: "", ...document })),
  ],
  $lookup: (documents, { from, localField, foreignField, as }, database) =>
    documents.map((document) => ({
      ...document,
      [as]: database.find(from, { [foreignField]: valueAt(document, localField) }),
    })),
  $unwind: (documents, path) => documents.flatMap((document) => unwound(document, String(path).slice(1))),
  $set: (documents, fields, database) =>
    documents.map((document) => {
      const changed = { ...document };
      for (const [name, expression] of Object.entries(fields))
        put(changed, name, evaluate(expression, { document, nowMs: database.now() }));
      return changed;
    }),
  $unset: (documents, fields) =>
    documents.map((document) =>
      [fields].flat().reduce((rest, path) => without(rest, String(path)), document),
    ),
  $project: (documents, fields, database) =>
    documents.map((document) => projected(document, fields, database.now())),
};

/**
 * The result of an aggregation over a collection in memory.
 * @throws {TypeError} for a stage that is not implemented here
 */
function aggregate(database: MemoryDatabase, collection: string, pipeline: Document[]): Document[] {
  let documents = database.find(collection, {});
  for (const [name, operand] of pipeline.flatMap((stage) => Object.entries(stage))) {
    const stage = STAGES[name];
    if (!stage) throw new TypeError(`The store in memory does not implement ${name}`);
    documents = stage(documents, operand, database);
  }
  return documents;
}

/** A copy without the field at a dotted path. */
function without<T extends Document>(document: T, path: string): T {
  const [name = "", ...rest] = path.split(".");
  const { [name]: value, ...others } = document;
  if (rest.length === 0) return others as T;
  const isInside = typeof value === "object" && value !== null;
  return isInside ? { ...document, [name]: without(value as Document, rest.join(".")) } : document;
}

function unwound(document: StoredDocument, field: string): StoredDocument[] {
  const list: unknown = document[field];
  return Array.isArray(list) ? list.map((value: unknown) => ({ ...document, [field]: value })) : [];
}

function projected(document: StoredDocument, fields: Document, nowMs: number): StoredDocument {
  const kept: StoredDocument = { _id: document._id };
  for (const [name, expression] of Object.entries(fields)) {
    put(kept, name, expression === 1 ? document[name] : evaluate(expression, { document, nowMs }));
  }
  return kept;
}

/** Sets a field; without a value it is not there. */
function put(document: StoredDocument, name: string, value: unknown): void {
  if (value === undefined) Reflect.deleteProperty(document, name);
  else document[name] = value;
}
