import { hash } from "node:crypto";
import { createMongoClient } from "@planwright/store";
import { CallOpenError, Refusal } from "@planwright/tool-kit";
import {
  type Collection,
  type Document,
  type Filter,
  type IndexDescription,
  type MatchKeysAndValues,
  MongoServerError,
  ObjectId,
  type OptionalUnlessRequiredId,
  type UpdateFilter,
} from "mongodb";

/** How long a deleted document can still answer repeats; far longer than any plan takes. */
const DELETED_KEPT_SECONDS = 7 * 24 * 3_600;
/** Longest wait for a server, for a connection, and for one answer, in milliseconds. */
const OPERATION_TIMEOUT_MS = 10_000;
const NAMES_A_DATABASE = /^[a-z+]+:\/\/[^/]+\/[^?]/;

/** The collections of this service. Writes are durable (majority, journalled) when they return. */
export interface BlogDatabase {
  authors: Collection<AuthorDocument>;
  blogs: Collection<BlogDocument>;
  comments: Collection<CommentDocument>;
  pictures: Collection<PictureDocument>;
  /** Resolves when MongoDB answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects and creates the indexes.
 * @param url - with the name of the database in its path; `blog` when it names none
 */
export async function openBlogDatabase(url: string): Promise<BlogDatabase> {
  const client = createMongoClient(url, {
    appName: "planwright-blog-tools",
    serverSelectionTimeoutMS: OPERATION_TIMEOUT_MS,
    connectTimeoutMS: OPERATION_TIMEOUT_MS,
    socketTimeoutMS: OPERATION_TIMEOUT_MS,
    waitQueueTimeoutMS: OPERATION_TIMEOUT_MS,
    writeConcern: { w: "majority", journal: true },
    readConcern: { level: "majority" },
    ignoreUndefined: true,
  });
  const database = NAMES_A_DATABASE.test(url) ? client.db() : client.db("blog");
  const blogDatabase: BlogDatabase = {
    authors: database.collection("authors"),
    blogs: database.collection("blogs"),
    comments: database.collection("comments"),
    pictures: database.collection("pictures"),
    ping: async () => void (await database.command({ ping: 1 })),
    close: () => client.close(),
  };
  try {
    await client.connect();
    await createIndexes(blogDatabase);
  } catch (error) {
    await client.close();
    throw error;
  }
  return blogDatabase;
}

/**
 * Creates all indexes of a collection in one command, which also creates the collection, so they exist
 * together.
 */
async function createIndexes({ authors, blogs, comments, pictures }: BlogDatabase): Promise<void> {
  const email: IndexDescription = {
    key: { email: 1 },
    name: "email",
    unique: true,
    collation: { locale: "en", strength: 2 },
    partialFilterExpression: { email: { $type: "string" } },
  };
  const ofBlog: IndexDescription = { key: { blogId: 1, _id: 1 }, name: "blog" };
  await Promise.all([
    authors.createIndexes([...OF_ALL, email]),
    blogs.createIndexes([...OF_ALL, { key: { authorId: 1, _id: 1 }, name: "author" }]),
    comments.createIndexes([...OF_ALL, ofBlog]),
    pictures.createIndexes([...OF_ALL, ofBlog]),
  ]);
}

const OF_ALL: readonly IndexDescription[] = [
  {
    key: { "creation.key": 1 },
    name: "key",
    unique: true,
    partialFilterExpression: { "creation.key": { $type: "string" } },
  },
  { key: { "deletion.at": 1 }, name: "deleted", expireAfterSeconds: DELETED_KEPT_SECONDS },
];

/** Fields of every document of this service. */
interface StoredDocument {
  _id: ObjectId;
  createdAt: Date;
  updatedAt: Date;
  /** Present when it was created under an idempotency key. */
  creation?: Creation | undefined;
  /**
   * Present when it was deleted. Then only `_id`, `creation` and this field remain, so that repeats of both
   * calls still get their answer. The document is removed after 7 days.
   */
  deletion?: Deletion | undefined;
}

/** The call that created a document. It is written together with the document, so both exist or neither. */
interface Creation {
  /** The caller's idempotency key, unique in its collection. */
  key: string;
  /**
   * SHA-256 of the arguments, to distinguish a repeat from another call that uses the same key by mistake.
   */
  argumentsHash: string;
  /** The answer of the first call. */
  result: Record<string, unknown>;
  /** How often the call was repeated. */
  repeats: number;
}

/** The call that deleted a document. */
interface Deletion {
  key: string | null;
  at: Date;
}

export interface AuthorDocument extends StoredDocument {
  name: string;
  /** Unique, ignoring upper and lower case. */
  email: string;
}

export interface BlogDocument extends StoredDocument {
  title: string;
  content: string;
  authorId: ObjectId;
}

export interface CommentDocument extends StoredDocument {
  blogId: ObjectId;
  authorId: ObjectId;
  content: string;
}

export interface PictureDocument extends StoredDocument {
  blogId: ObjectId;
  url: string;
  caption: string | null;
}

/** A call that creates something. */
interface CreateCall {
  tool: string;
  arguments: object;
  /** Absent: each call creates something. */
  key: string | undefined;
}

/** The document that a call creates, with the answer prepared in advance. */
interface NewDocument<T extends StoredDocument, Result extends object> {
  document: T;
  result: Result;
  /** Throws when the document must not be created. */
  check?: (() => Promise<unknown>) | undefined;
}

/**
 * Creates a document, at most once for each key, and returns the answer of the first call.
 *
 * The key and the answer are part of the document, under a unique index. So a crash at any point leaves both
 * or neither. Of concurrent calls with one key, one inserts and the others find its document. A repeat gets
 * the first answer even after the document was changed or deleted. A transaction is not needed; it would
 * block repeats for a minute after a crash.
 * @throws {CallOpenError} when the key belongs to a call with other arguments
 */
export async function createOnce<T extends StoredDocument, Result extends object>(
  collection: Collection<T>,
  call: CreateCall,
  { document, result, check }: NewDocument<T, Result>,
): Promise<Result> {
  const { key, tool } = call;
  if (key === undefined) {
    await check?.();
    await collection.insertOne(document as OptionalUnlessRequiredId<T>);
    return result;
  }
  const argumentsHash = hash("sha256", canonicalText(call.arguments));
  const creation = { key, argumentsHash, result, repeats: 0 };
  try {
    await check?.();
    await collection.insertOne({ ...document, creation } as OptionalUnlessRequiredId<T>);
    return result;
  } catch (error) {
    // Whatever prevents the insert (the key, or an email that the first call used), the first answer is
    // returned if there is one.
    const first = await findFirst(collection, key);
    if (first === undefined) throw error;
    if (first.argumentsHash !== argumentsHash)
      throw new CallOpenError(
        `The idempotency key was already used for another call of ${tool}, which may have acted`,
      );
    return first.result as Result;
  }
}

/**
 * The creation under this key, durable when it returns. The first insert may not be durable yet; waiting for
 * a later write waits for both.
 */
async function findFirst<T extends StoredDocument>(collection: Collection<T>, key: string) {
  const found = await collection.findOneAndUpdate(
    { "creation.key": key } as unknown as Filter<T>,
    { $inc: { "creation.repeats": 1 } } as unknown as UpdateFilter<T>,
    { returnDocument: "after" },
  );
  return found?.creation;
}

/** True for a violation of the unique index over this field. */
export function isDuplicateKey(error: unknown, field: string): error is MongoServerError {
  if (!(error instanceof MongoServerError) || error.code !== 11_000) return false;
  const pattern: unknown = error["keyPattern"];
  return typeof pattern === "object" && pattern !== null && Object.hasOwn(pattern, field);
}

/** Arguments are flat objects of texts and numbers; only the order of their names varies. */
function canonicalText(value: object): string {
  return JSON.stringify(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** Names of document types in refusals. */
type Thing = "author" | "blog" | "comment" | "picture";

/** Matches documents that are not deleted. */
const ALIVE = { deletion: { $exists: false } } as const;

/** The document with this id. @throws {Refusal} */
export async function getById<T extends StoredDocument>(
  collection: Collection<T>,
  thing: Thing,
  id: string,
): Promise<T> {
  const _id = parseId(`${thing}Id`, id);
  const found = await collection.findOne({ _id, ...ALIVE } as unknown as Filter<T>);
  if (found === null) throw notFound(thing, id);
  return found as T;
}

/** Sets the fields that are given. @throws {Refusal} */
export async function updateById<T extends StoredDocument>(
  collection: Collection<T>,
  thing: Thing,
  id: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<T> {
  const _id = parseId(`${thing}Id`, id);
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  if (Object.keys(given).length === 0)
    throw new Refusal(`Give at least one of ${Object.keys(fields).join(", ")}`);
  const changes = { ...given, updatedAt: new Date() } as unknown as MatchKeysAndValues<T>;
  const updated = await collection.findOneAndUpdate(
    { _id, ...ALIVE } as unknown as Filter<T>,
    { $set: changes },
    { returnDocument: "after" },
  );
  if (updated === null) throw notFound(thing, id);
  return updated as T;
}

/**
 * Deletes a document; a repeat with the same key finds it deleted. The rest of the document holds no data,
 * only the answers to repeats.
 * @throws {Refusal}
 */
export async function deleteById<T extends StoredDocument>(
  collection: Collection<T>,
  thing: Thing,
  id: string,
  key: string | undefined,
): Promise<{ _id: string; deleted: true }> {
  const _id = parseId(`${thing}Id`, id);
  const { modifiedCount } = await collection.updateOne(
    { _id, ...ALIVE } as unknown as Filter<T>,
    toDeleted(key ?? null),
  );
  if (modifiedCount === 0) {
    const repeated =
      key === undefined
        ? null
        : await collection.findOne({ _id, "deletion.key": key } as unknown as Filter<T>);
    if (repeated === null) throw notFound(thing, _id.toHexString());
  }
  return { _id: _id.toHexString(), deleted: true };
}

/** Deletes all matching documents. */
export async function deleteAll<T extends StoredDocument>(
  collection: Collection<T>,
  filter: Document,
): Promise<void> {
  await collection.updateMany({ ...filter, ...ALIVE } as unknown as Filter<T>, toDeleted(null));
}

function toDeleted(key: string | null): Document[] {
  const deletion = { key, at: new Date() };
  return [{ $replaceWith: { _id: "$_id", creation: "$creation", deletion: { $literal: deletion } } }];
}

/** Throws when no document has this id. @throws {Refusal} */
export async function requireById<T extends StoredDocument>(
  collection: Collection<T>,
  thing: Thing,
  _id: ObjectId,
): Promise<void> {
  const found = await collection.findOne({ _id, ...ALIVE } as unknown as Filter<T>, {
    projection: { _id: 1 },
  });
  if (found === null) throw notFound(thing, _id.toHexString());
}

function notFound(thing: Thing, id: string): Refusal {
  return new Refusal(`There is no ${thing} with the _id ${id}`);
}

/** One page, oldest first. @throws {Refusal} */
export async function findPage<T extends Document & { _id: ObjectId }>(
  collection: Collection<T>,
  filter: Document,
  page: { limit: number; cursor?: string | undefined },
): Promise<{ items: T[]; count: number; nextCursor: string | null }> {
  const after = page.cursor === undefined ? {} : { _id: { $gt: parseCursor(page.cursor) } };
  const found = await collection
    .find({ ...filter, ...after, ...ALIVE } as unknown as Filter<T>)
    .sort({ _id: 1 })
    .limit(page.limit + 1)
    .toArray();
  const items = found.slice(0, page.limit) as T[];
  const last = found.length > page.limit ? items.at(-1) : undefined;
  return { items, count: items.length, nextCursor: last === undefined ? null : last._id.toHexString() };
}

function parseCursor(cursor: string): ObjectId {
  if (!/^[0-9a-f]{24}$/.test(cursor)) throw new Refusal("The cursor is not one that this list gave");
  return ObjectId.createFromHexString(cursor);
}

/** The id in an argument. @throws {Refusal} */
export function parseId(field: string, value: string): ObjectId {
  if (!/^[0-9a-fA-F]{24}$/.test(value)) {
    const shown = value.length > 60 ? `${value.slice(0, 60)}...` : value;
    throw new Refusal(`${field} "${shown}" is not a valid id: ids have 24 hexadecimal characters`);
  }
  return ObjectId.createFromHexString(value);
}
