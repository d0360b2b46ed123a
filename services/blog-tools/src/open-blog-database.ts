import { hash } from "node:crypto";
import { createMongoClient } from "@planwright/store";
import { CallOpenError } from "@planwright/tool-kit";
import {
  type Collection,
  type Filter,
  type IndexDescription,
  MongoServerError,
  type ObjectId,
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
export interface StoredDocument {
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
