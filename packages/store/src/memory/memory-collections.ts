import type { Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import type { Reach } from "./memory-database.ts";
import {
  evaluate,
  type MemoryDatabase,
  type MemoryTransaction,
  matches,
  type StoredDocument,
  sortDocuments,
  valueAt,
  WriteConflictError,
} from "./memory-database.ts";

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
    documents.map((document) => ({
      ...document,
      ...Object.fromEntries(
        Object.entries(fields).map(([name, expression]) => [
          name,
          evaluate(expression, { document, nowMs: database.now() }),
        ]),
      ),
    })),
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
    kept[name] = expression === 1 ? document[name] : evaluate(expression, { document, nowMs });
  }
  return kept;
}
