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

import { isDeepStrictEqual } from "node:util";
import type { JournalEntry } from "@planwright/engine";
import { BSON, type Document } from "mongodb";
import type { GroupedWrite } from "../journal/pending-write.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { JournalDocument, RequestDocument, WorkerDocument } from "../records/request-document.ts";

/** A document of any collection. */
export type StoredDocument = Document & { _id: string };

/** One document that was written; `before` is null for an insert. */
export type DocumentChange =
  | { collection: "requests"; before: RequestDocument | null; after: RequestDocument }
  | { collection: "plans"; before: PlanDocument | null; after: PlanDocument }
  | { collection: "journal"; before: null; after: JournalDocument }
  | { collection: "workers"; before: WorkerDocument | null; after: WorkerDocument };

/** The changes of a matching document. */
interface DocumentUpdate {
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
interface UpdateOptions {
  /** The value of `$$NOW`. Default: the server's clock. */
  nowMs?: number | undefined;
}

/** A document with this id is there already. Has the code of the driver's errors. */
class DuplicateKeyError extends TypeError {
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
        one.after = copyOf(document);
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
      put(collection, null, copyOf(document));
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
    // The driver leaves out what is undefined.
    if (set[path] === undefined) continue;
    const value: unknown = isPipeline ? evaluate(set[path], { document: before, nowMs }) : set[path];
    if (path.includes(".")) putAt(after, path.split("."), value);
    else if (value === undefined) Reflect.deleteProperty(after, path);
    else Object.assign(after, { [path]: value });
  }
  return after;
}

/** A copy without undefined fields, which the driver leaves out. */
function copyOf(document: StoredDocument): StoredDocument {
  const copy = { ...document };
  for (const name in copy) if (copy[name] === undefined) Reflect.deleteProperty(copy, name);
  return copy;
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

/** The inputs of an expression. */
interface Scope {
  document: Document;
  /** `$$NOW`, Unix milliseconds. */
  nowMs: number;
}

type Operator = (operands: unknown[], scope: Scope) => unknown;

/**
 * The operators of update pipelines that this store uses. Another one is refused until it is implemented
 * here, and so are operands that MongoDB refuses. A missing field is undefined, and is not null.
 */
const OPERATORS: Readonly<Record<string, Operator>> = {
  $add: (operands) => add(operands),
  $and: (operands) => operands.every(isTrue),
  $bsonSize: ([object]) => (isNothing(object) ? null : BSON.calculateObjectSize(objectOf(object))),
  $concatArrays: (operands) => (operands.some(isNothing) ? null : operands.flatMap(listOf)),
  $eq: ([a, b]) => isSame(a, b),
  $gt: ([a, b]) => order(a, b) > 0,
  $gte: ([a, b]) => order(a, b) >= 0,
  $ifNull: (operands) => operands.find((operand) => !isNothing(operand)) ?? operands.at(-1),
  $in: ([value, list]) => listOf(list).some((one) => isSame(one, value)),
  $lt: ([a, b]) => order(a, b) < 0,
  $lte: ([a, b]) => order(a, b) <= 0,
  $mergeObjects: (operands) =>
    Object.assign({}, ...operands.filter((operand) => !isNothing(operand)).map(objectOf)),
  $max: (operands) => extreme(operands, 1),
  $min: (operands) => extreme(operands, -1),
  $ne: ([a, b]) => !isSame(a, b),
  $not: ([value]) => !isTrue(value),
  $or: (operands) => operands.some(isTrue),
  $size: ([list]) => listOf(list).length,
};

/**
 * The value of an aggregation expression, as MongoDB computes it: `$field.path`, `$$NOW`, `{$operator:
 * operands}`, `{$literal: value}`, lists and objects of these. A missing field is undefined.
 * @throws {TypeError} for an operator that is not implemented here, and for operands that MongoDB refuses
 */
export function evaluate(expression: unknown, scope: Scope): unknown {
  if (typeof expression === "string") {
    if (expression === "$$NOW") return new Date(scope.nowMs);
    return expression.startsWith("$") ? fieldAt(scope.document, expression.slice(1)) : expression;
  }
  if (typeof expression !== "object" || expression === null || expression instanceof Date) return expression;
  if (Array.isArray(expression)) return expression.map((part) => evaluate(part, scope) ?? null);
  const entries = Object.entries(expression);
  const [first] = entries;
  if (first?.[0].startsWith("$")) return evaluateOperator(first[0], first[1], scope);
  const object: Document = {};
  for (const [name, part] of entries) {
    const value = evaluate(part, scope);
    if (value !== undefined) object[name] = value;
  }
  return object;
}

/** The value at a dotted path; undefined when there is none. A list on the path gives the values of its elements. */
function fieldAt(document: unknown, path: string): unknown {
  let value: unknown = document;
  for (const name of path.split(".")) {
    if (Array.isArray(value))
      value = value.map((one) => fieldAt(one, name)).filter((one) => one !== undefined);
    else if (typeof value !== "object" || value === null || value instanceof Date) return undefined;
    else value = Reflect.get(value, name);
  }
  return value;
}

/** {@link fieldAt}; null when there is no value. */
export function valueAt(document: Document, path: string): unknown {
  return fieldAt(document, path) ?? null;
}

function isNothing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** False for 0, null and a missing value too, and true for every text, as in MongoDB. */
function isTrue(value: unknown): boolean {
  return !isNothing(value) && value !== false && value !== 0;
}

function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError("MongoDB refuses what is not a list here");
}

function objectOf(value: unknown): Document {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new TypeError("MongoDB refuses what is not an object here");
}

/** The order of values of different types in MongoDB. */
function rankOf(value: unknown): number {
  if (value === undefined) return 0;
  if (value === null) return 1;
  if (typeof value === "number") return 2;
  if (typeof value === "string") return 3;
  if (typeof value === "boolean") return 6;
  if (value instanceof Date) return 7;
  return Array.isArray(value) ? 5 : 4;
}

/** Negative, positive or 0, like `a - b`. A missing value comes before null, and null before every other value. */
function order(a: unknown, b: unknown): number {
  const rank = rankOf(a);
  if (rank !== rankOf(b)) return rank - rankOf(b);
  if (isSame(a, b)) return 0;
  if (rank === 4 || rank === 5) throw new TypeError("The store in memory does not compare objects and lists");
  return (a as number) < (b as number) ? -1 : 1;
}

/** {@link order}, where a missing value is null. */
function compare(a: unknown, b: unknown): number {
  return order(a ?? null, b ?? null);
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (a instanceof Date || b instanceof Date)
    return a instanceof Date && b instanceof Date && a.getTime() === b.getTime();
  return a === b || isDeepStrictEqual(a, b);
}

function evaluateOperator(name: string, operand: unknown, scope: Scope): unknown {
  if (name === "$literal") return operand;
  if (name === "$filter") return filtered(operand, scope);
  const operands = Array.isArray(operand) ? operand : [operand];
  // What is not chosen is not evaluated: it may be refused.
  if (name === "$cond") return evaluate(operands[isTrue(evaluate(operands[0], scope)) ? 1 : 2], scope);
  const operator = OPERATORS[name];
  if (!operator) throw new TypeError(`The store in memory does not implement ${name}`);
  return operator(
    operands.map((one) => evaluate(one, scope)),
    scope,
  );
}

/** The elements of a list that fulfil a condition; each element is `$$this`. */
function filtered(operand: unknown, scope: Scope): unknown[] | null {
  const { input, cond } = operand as { input: unknown; cond: unknown };
  const list = evaluate(input, scope);
  if (isNothing(list)) return null;
  const fits = (element: unknown): boolean =>
    isTrue(evaluate(cond, { ...scope, document: { ...scope.document, $this: element } }));
  return listOf(list).filter(fits);
}

/** Adds numbers, or a date and numbers of milliseconds. Nothing is added to null. */
function add(operands: readonly unknown[]): number | Date | null {
  if (operands.some(isNothing)) return null;
  let sum = 0;
  for (const operand of operands) {
    if (typeof operand !== "number" && !(operand instanceof Date))
      throw new TypeError("MongoDB adds numbers and dates only");
    sum += Number(operand);
  }
  return operands.some((operand) => operand instanceof Date) ? new Date(sum) : sum;
}

/** As in MongoDB, null is ignored. */
function extreme(operands: readonly unknown[], sign: number): unknown {
  const known = operands.filter((operand) => !isNothing(operand));
  return known.reduce((best, next) => (sign * order(next, best) > 0 ? next : best), known[0]) ?? null;
}

type Test = (value: unknown, operand: unknown) => boolean;

/** In filters a missing value is null. */
const isEqual: Test = (value, other) => isSame(value ?? null, other ?? null);
const isAmong: Test = (value, list) => listOf(list).some((one) => isEqual(value, one));
/** Only values of one type are compared. */
const isOrdered = (value: unknown, operand: unknown, fits: (order: number) => boolean): boolean =>
  rankOf(value ?? null) === rankOf(operand) && fits(compare(value, operand));

/** The filter operators that this store uses, for one value. */
const TESTS: Readonly<Record<string, Test>> = {
  $elemMatch: (value, operand) => containsMatch(value, operand),
  $eq: isEqual,
  $gt: (value, operand) => isOrdered(value, operand, (order) => order > 0),
  $gte: (value, operand) => isOrdered(value, operand, (order) => order >= 0),
  $in: isAmong,
  $lt: (value, operand) => isOrdered(value, operand, (order) => order < 0),
  $lte: (value, operand) => isOrdered(value, operand, (order) => order <= 0),
  $regex: (value, operand) => typeof value === "string" && operand instanceof RegExp && operand.test(value),
  $type: (value, operand) => (operand === "date" ? value instanceof Date : typeof value === operand),
};

/** The opposites of tests. */
const NOT: Readonly<Record<string, string>> = { $ne: "$eq", $nin: "$in" };

/**
 * True when a document matches a filter, as in MongoDB.
 * @throws {TypeError} for an operator that is not implemented here
 */
export function matches(filter: Document, scope: Scope): boolean {
  for (const path in filter) if (!isMatch(path, filter[path], scope)) return false;
  return true;
}

function isMatch(path: string, wanted: unknown, scope: Scope): boolean {
  if (path === "$expr") return isTrue(evaluate(wanted, scope));
  if (path === "$or") return Array.isArray(wanted) && wanted.some((filter) => matches(filter, scope));
  if (path === "$and") return Array.isArray(wanted) && wanted.every((filter) => matches(filter, scope));
  if (path.startsWith("$")) throw new TypeError(`The store in memory does not implement ${path}`);
  const has = (name: string, operand: unknown): boolean => {
    const test = TESTS[name];
    if (!test) throw new TypeError(`The store in memory does not implement ${name}`);
    return someAt(scope.document, path, (value) => test(value, operand));
  };
  if (!isOperators(wanted)) return has("$eq", wanted);
  for (const name in wanted) {
    const operand = wanted[name];
    const opposite = NOT[name];
    const isFulfilled =
      name === "$all"
        ? listOf(operand).every((one) => has("$eq", one))
        : opposite === undefined
          ? has(name, operand)
          : !has(opposite, operand);
    if (!isFulfilled) return false;
  }
  return true;
}

/** True for the value at a path, or an element of it, or a value in an element of a list on the path. */
function someAt(document: unknown, path: string, test: (value: unknown) => boolean): boolean {
  let value = document;
  let rest = path;
  for (;;) {
    const dot = rest.indexOf(".");
    const name = dot < 0 ? rest : rest.slice(0, dot);
    value = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
    if (dot < 0) return test(value) || (Array.isArray(value) && value.some(test));
    const inner = rest.slice(dot + 1);
    if (Array.isArray(value))
      return value.some((one) => typeof one === "object" && one !== null && someAt(one, inner, test));
    rest = inner;
  }
}

function isOperators(wanted: unknown): wanted is Record<string, unknown> {
  if (typeof wanted !== "object" || wanted === null || wanted instanceof Date) return false;
  for (const name in wanted) if (name.startsWith("$")) return true;
  return false;
}

/** True when an object in a list matches a filter without expressions. */
function containsMatch(list: unknown, filter: unknown): boolean {
  if (!Array.isArray(list) || typeof filter !== "object" || filter === null) return false;
  return list.some(
    (one) => typeof one === "object" && one !== null && matches(filter, { document: one, nowMs: Number.NaN }),
  );
}

/** One atomic operation on the database. */
export interface ReachOperation<T> {
  /** Name of the operation, such as "plans.updateOne": for logs. */
  name: string;
  /** For a grouped write: the write as the store made it. */
  write?: GroupedWrite | undefined;
  /** For a write to journals: the entries as the store made them. */
  entries?: readonly JournalEntry[] | undefined;
  apply: () => T | Promise<T>;
}

/**
 * The connection of one process to the database. It applies the operation, now or later, and resolves. It
 * rejects with {@link UnreachableError} when no answer comes, whether or not the operation was applied.
 */
export type Reach = <T>(operation: ReachOperation<T>) => Promise<T>;

/** A connection that loses nothing and takes no time. */
export const reachAtOnce: Reach = async ({ apply }) => apply();

/**
 * The database did not answer. It has the name of the driver's error, so that the store handles it as one.
 */
export class UnreachableError extends TypeError {
  override readonly name = "MongoNetworkError";
}
