/**
 * A database in memory that several stores share, each like one process. It has documents, the server's
 * clock, and the conditional updates of MongoDB, one at a time.
 *
 * 1. An update is atomic, at one instant of the server's clock.
 * 2. A transaction is atomic too, when it is committed: unless one of its documents was changed since it was first
 *    used. MongoDB lets the other write wait or fails the transaction sooner; either result is possible there.
 * 3. Documents are copied when they are stored and read. Values inside them are shared, so the store replaces
 *    them and never changes them.
 */
import type { Document } from "mongodb";
import type { JournalDocument } from "../records/journal-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { WorkerDocument } from "../records/worker-document.ts";
import { compare, evaluate, valueAt } from "./evaluate.ts";
import { matches } from "./matches.ts";

/** A document of any collection. */
export type StoredDocument = Document & { _id: string };

/** One document that was written; `before` is null for an insert. */
export type DocumentChange =
  | { collection: "requests"; before: RequestDocument | null; after: RequestDocument }
  | { collection: "plans"; before: PlanDocument | null; after: PlanDocument }
  | { collection: "journal"; before: null; after: JournalDocument }
  | { collection: "workers"; before: WorkerDocument | null; after: WorkerDocument };

/** The changes of a matching document. */
export interface DocumentUpdate {
  /** Fields, dotted paths allowed, and their values; or expressions when `isPipeline`. */
  set: Document;
  isPipeline: boolean;
}

/** Documents by collection, with listeners for changes. */
export interface MemoryDatabase {
  /** The server's clock, Unix milliseconds. */
  now(): number;
  /** Copies of the matching documents, in the order in which they were first inserted. */
  find(collection: string, filter: Document): StoredDocument[];
  /** @throws {DuplicateKeyError} */
  insert(collection: string, document: StoredDocument): void;
  /** Updates the first matching document and returns it; an empty list when none matches. */
  update(
    collection: string,
    filter: Document,
    update: DocumentUpdate,
    options?: UpdateOptions,
  ): StoredDocument[];
  remove(collection: string, filter: Document): number;
  /** Begins a transaction. */
  transaction(): MemoryTransaction;
  /** Calls the listener at once for every write; not for removals. */
  onChange(listener: (change: DocumentChange) => void): void;
  /** Calls the listener at once for every document that was removed. */
  onRemove(listener: (collection: string, id: string) => void): void;
}

/** Writes that become visible together. */
export interface MemoryTransaction {
  /** @throws {DuplicateKeyError} */
  insert(collection: string, document: StoredDocument): void;
  /** Updates the document with the id in the filter, if it matches; returns whether it does. */
  update(collection: string, filter: Document, update: DocumentUpdate): boolean;
  /** A repeat changes nothing. @throws {WriteConflictError} Nothing is written then. */
  commit(): void;
}

/** How an update is done. */
export interface UpdateOptions {
  /** The value of `$$NOW`. Default: the server's clock. */
  nowMs?: number | undefined;
}

/** A document with this id is there already. Has the code of the driver's errors. */
export class DuplicateKeyError extends TypeError {
  readonly code = 11_000;
}

/** A document was changed by another write during the transaction. Has the code of the driver's errors. */
export class WriteConflictError extends TypeError {
  readonly code = 112;
}

/** An empty database. @param now - the server's clock, Unix milliseconds */
export function createMemoryDatabase(now: () => number = () => Date.now()): MemoryDatabase {
  const collections = new Map<string, Map<string, StoredDocument>>();
  const listeners: ((change: DocumentChange) => void)[] = [];
  const removeListeners: ((collection: string, id: string) => void)[] = [];

  function documentsOf(collection: string): Map<string, StoredDocument> {
    let documents = collections.get(collection);
    if (!documents) {
      documents = new Map();
      collections.set(collection, documents);
    }
    return documents;
  }

  function matching(collection: string, filter: Document, nowMs: number): StoredDocument[] {
    const documents = documentsOf(collection);
    const id: unknown = filter["_id"];
    if (typeof id !== "string") {
      return [...documents.values()].filter((document) => matches(filter, { document, nowMs }));
    }
    const document = documents.get(id);
    return document && matches(filter, { document, nowMs }) ? [document] : [];
  }

  function put(collection: string, before: StoredDocument | null, after: StoredDocument): void {
    documentsOf(collection).set(after._id, after);
    // The store writes only documents of these types, and their fields.
    for (const listener of listeners) listener({ collection, before, after } as DocumentChange);
  }

  function transaction(): MemoryTransaction {
    /** The documents that it uses: as they were when it used them first, and as it leaves them. */
    const used = new Map<
      string,
      { collection: string; id: string; before: StoredDocument | null; after: StoredDocument | null }
    >();
    let isCommitted = false;

    function use(collection: string, id: string) {
      const before = documentsOf(collection).get(id) ?? null;
      const known = used.get(`${collection}/${id}`) ?? { collection, id, before, after: before };
      used.set(`${collection}/${id}`, known);
      return known;
    }

    return {
      insert(collection, document) {
        const one = use(collection, document._id);
        if (one.after) throw new DuplicateKeyError(`${collection} has ${document._id} already`);
        one.after = { ...document };
      },
      update(collection, filter, update) {
        const one = use(collection, String(filter["_id"]));
        if (!one.after || !matches(filter, { document: one.after, nowMs: now() })) return false;
        one.after = updated(one.after, update, now());
        return true;
      },
      commit() {
        if (isCommitted) return;
        for (const { collection, id, before } of used.values())
          if ((documentsOf(collection).get(id) ?? null) !== before)
            throw new WriteConflictError(`${collection}/${id} was changed during the transaction`);
        isCommitted = true;
        for (const { collection, before, after } of used.values())
          if (after && after !== before) put(collection, before, after);
      },
    };
  }

  return {
    now,
    transaction,
    find: (collection, filter) => matching(collection, filter, now()).map((document) => ({ ...document })),
    insert(collection, document) {
      if (documentsOf(collection).has(document._id)) {
        throw new DuplicateKeyError(`${collection} has ${document._id} already`);
      }
      put(collection, null, { ...document });
    },
    update(collection, filter, update, { nowMs = now() } = {}) {
      const matched = matching(collection, filter, nowMs);
      return matched.slice(0, 1).map((before) => {
        const after = updated(before, update, nowMs);
        put(collection, before, after);
        return { ...after };
      });
    },
    remove(collection, filter) {
      const matched = matching(collection, filter, now());
      for (const { _id } of matched) documentsOf(collection).delete(_id);
      for (const { _id } of matched) for (const listener of removeListeners) listener(collection, _id);
      return matched.length;
    },
    onChange: (listener) => void listeners.push(listener),
    onRemove: (listener) => void removeListeners.push(listener),
  };
}

/** Sorts in place by fields, as a MongoDB sort does. */
export function sortDocuments(documents: StoredDocument[], by: Document): StoredDocument[] {
  const fields = Object.entries(by);
  return documents.sort((a, b) => {
    for (const [path, direction] of fields) {
      const order = compare(valueAt(a, path), valueAt(b, path));
      if (order !== 0) return order * Number(direction);
    }
    return 0;
  });
}

function updated(before: StoredDocument, { set, isPipeline }: DocumentUpdate, nowMs: number): StoredDocument {
  const after = { ...before };
  for (const path in set) {
    const value: unknown = isPipeline ? evaluate(set[path], { document: before, nowMs }) : set[path];
    if (path.includes(".")) putAt(after, path.split("."), value);
    else Object.assign(after, { [path]: value });
  }
  return after;
}

/** Sets a value at a path. Objects on the path are copied, because they may be shared. */
function putAt(document: Document, [name = "", ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    document[name] = value;
    return;
  }
  const inner: unknown = document[name];
  const copy: Document = typeof inner === "object" && inner !== null ? { ...inner } : {};
  document[name] = copy;
  putAt(copy, rest, value);
}
