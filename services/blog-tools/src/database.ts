import { type Collection, MongoClient } from "mongodb";
import type { AuthorDocument, BlogDocument, CommentDocument, PictureDocument } from "./documents.ts";

/** What is deleted still answers repeats for this long: far beyond the life of any plan. */
const DELETED_KEPT_SECONDS = 7 * 24 * 3_600;
/** Longest wait for a server, for a connection, and for one answer. */
const OPERATION_TIMEOUT_MS = 10_000;
const NAMES_A_DATABASE = /^[a-z+]+:\/\/[^/]+\/[^?]/;

/** The collections of this service. Writes are durable (majority, journalled) when they return. */
export interface BlogDatabase {
  authors: Collection<AuthorDocument>;
  blogs: Collection<BlogDocument>;
  comments: Collection<CommentDocument>;
  pictures: Collection<PictureDocument>;
  /** Answers when MongoDB does. */
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

async function createIndexes({ authors, blogs, comments, pictures }: BlogDatabase): Promise<void> {
  await Promise.all([
    authors.createIndex(
      { email: 1 },
      {
        name: "email",
        unique: true,
        collation: { locale: "en", strength: 2 },
        partialFilterExpression: { email: { $type: "string" } },
      },
    ),
    blogs.createIndex({ authorId: 1, _id: 1 }, { name: "author" }),
    comments.createIndex({ blogId: 1, _id: 1 }, { name: "blog" }),
    pictures.createIndex({ blogId: 1, _id: 1 }, { name: "blog" }),
    ...[authors, blogs, comments, pictures].flatMap((collection) => [
      collection.createIndex(
        { "creation.key": 1 },
        { name: "key", unique: true, partialFilterExpression: { "creation.key": { $type: "string" } } },
      ),
      collection.createIndex(
        { "deletion.at": 1 },
        { name: "deleted", expireAfterSeconds: DELETED_KEPT_SECONDS },
      ),
    ]),
  ]);
}
