import { type Collection, type IndexDescription, MongoClient } from "mongodb";
import type { AuthorDocument, BlogDocument, CommentDocument, PictureDocument } from "./documents.ts";

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
  const client = await MongoClient.connect(url, {
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
