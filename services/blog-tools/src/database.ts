import { type ClientSession, type Collection, MongoClient } from "mongodb";
import type {
  AuthorDocument,
  BlogDocument,
  CommentDocument,
  EffectDocument,
  PictureDocument,
} from "./documents.ts";
import { ReplicaSetRequiredError } from "./errors.ts";

/** Keys are kept this long: far beyond the life of any plan. */
const EFFECTS_KEPT_SECONDS = 7 * 24 * 3_600;
const OPERATION_TIMEOUT_MS = 10_000;
const NAMES_A_DATABASE = /^[a-z+]+:\/\/[^/]+\/[^?]/;

/** The collections of this service, and the transactions over them. */
export interface BlogDatabase {
  authors: Collection<AuthorDocument>;
  blogs: Collection<BlogDocument>;
  comments: Collection<CommentDocument>;
  pictures: Collection<PictureDocument>;
  effects: Collection<EffectDocument>;
  /** Runs the work in one transaction, again when it conflicts with another; durable (majority, journalled) when it returns. */
  transaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T>;
  /** Answers when MongoDB does. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects and creates the indexes.
 * @param url - with the name of the database in its path; `blog` when it names none
 * @throws {ReplicaSetRequiredError}
 */
export async function openBlogDatabase(url: string): Promise<BlogDatabase> {
  const client = await MongoClient.connect(url, {
    appName: "planwright-blog-tools",
    serverSelectionTimeoutMS: OPERATION_TIMEOUT_MS,
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
    effects: database.collection("effects"),
    transaction: (work) =>
      client.withSession((session) =>
        session.withTransaction(() => work(session), {
          readConcern: { level: "snapshot" },
          writeConcern: { w: "majority", journal: true },
          timeoutMS: OPERATION_TIMEOUT_MS,
        }),
      ),
    ping: async () => void (await database.command({ ping: 1 }, { timeoutMS: OPERATION_TIMEOUT_MS })),
    close: () => client.close(),
  };
  try {
    const hello = await database.command({ hello: 1 });
    if (hello["setName"] === undefined && hello["msg"] !== "isdbgrid") throw new ReplicaSetRequiredError();
    await createIndexes(blogDatabase);
  } catch (error) {
    await client.close();
    throw error;
  }
  return blogDatabase;
}

async function createIndexes({ authors, blogs, comments, pictures, effects }: BlogDatabase): Promise<void> {
  await Promise.all([
    authors.createIndex(
      { email: 1 },
      { name: "email", unique: true, collation: { locale: "en", strength: 2 } },
    ),
    blogs.createIndex({ authorId: 1, _id: 1 }, { name: "author" }),
    comments.createIndex({ blogId: 1, _id: 1 }, { name: "blog" }),
    pictures.createIndex({ blogId: 1, _id: 1 }, { name: "blog" }),
    effects.createIndex({ createdAt: 1 }, { name: "expiry", expireAfterSeconds: EFFECTS_KEPT_SECONDS }),
  ]);
}
