/**
 * A database in memory that several stores share, each as one process would: documents, the server's clock,
 * and the conditional updates of MongoDB one at a time.
 *
 * 1. An update happens as a whole at one instant of the server's clock, or not at all.
 * 2. What is stored is never the object that a caller holds: documents are copied on their way in and out.
 *    Values inside them are shared, so they are replaced and never changed, as everywhere in this store.
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

/** What an update does to a document that matched. */
export interface DocumentUpdate {
  /** Fields, dotted paths allowed, and their values; or expressions when `isPipeline`. */
  set: Document;
  isPipeline: boolean;
}

/** Documents by collection, and who wants to hear of changes. */
export interface MemoryDatabase {
  /** The server's clock, Unix milliseconds. */
  now(): number;
  /** Copies of the documents that fit, in the order of their ids' first insertion. */
  find(collection: string, filter: Document): StoredDocument[];
  /** @throws {DuplicateKeyError} */
  insert(collection: string, document: StoredDocument): void;
  /**
   * The first document that fitted, as it is now; none when none did. `nowMs`: what the update takes for the
   * server's time.
   */
  update(
    collection: string,
    filter: Document,
    update: DocumentUpdate,
    options?: UpdateOptions,
  ): StoredDocument[];
  remove(collection: string, filter: Document): number;
  /** Hears of every write, at once. */
  onChange(listener: (change: DocumentChange) => void): void;
}

/** How an update is done. */
export interface UpdateOptions {
  /** What `$$NOW` is; default the server's clock. */
  nowMs?: number | undefined;
}

/** An insert met a document with the same id; has the code by which the driver's errors say so. */
export class DuplicateKeyError extends TypeError {
  readonly code = 11_000;
}

/** An empty database. @param now - the server's clock, Unix milliseconds */
export function createMemoryDatabase(now: () => number = () => Date.now()): MemoryDatabase {
  const collections = new Map<string, Map<string, StoredDocument>>();
  const listeners: ((change: DocumentChange) => void)[] = [];

  function documentsOf(collection: string): Map<string, StoredDocument> {
    let documents = collections.get(collection);
    if (!documents) {
      documents = new Map();
      collections.set(collection, documents);
    }
    return documents;
  }

  function fitting(collection: string, filter: Document, nowMs: number): StoredDocument[] {
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
    // The store writes whole documents of these types, and fields of them.
    for (const listener of listeners) listener({ collection, before, after } as DocumentChange);
  }

  return {
    now,
    find: (collection, filter) => fitting(collection, filter, now()).map((document) => ({ ...document })),
    insert(collection, document) {
      if (documentsOf(collection).has(document._id)) {
        throw new DuplicateKeyError(`${collection} holds ${document._id} already`);
      }
      put(collection, null, { ...document });
    },
    update(collection, filter, update, { nowMs = now() } = {}) {
      const fitted = fitting(collection, filter, nowMs);
      return fitted.slice(0, 1).map((before) => {
        const after = updated(before, update, nowMs);
        put(collection, before, after);
        return { ...after };
      });
    },
    remove(collection, filter) {
      const fitted = fitting(collection, filter, now());
      for (const { _id } of fitted) documentsOf(collection).delete(_id);
      return fitted.length;
    },
    onChange: (listener) => void listeners.push(listener),
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

/** Puts a value at a path, with copies of the objects on the way: others may hold those. */
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
