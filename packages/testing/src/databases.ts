import { randomBytes } from "node:crypto";

/**
 * The databases that this worker uses. Making the collections and indexes of one costs MongoDB a fifth of a second
 * of processor time, so what the tests of a file leave is emptied and given to the next file. In `globalThis`,
 * because files that share a worker may load this module again.
 */
interface Databases {
  /** Empty, with collections and indexes. */
  free: string[];
  /** Taken by the file that runs. */
  taken: string[];
  hasStarted: boolean;
  /** What a failed test started may still write. */
  hasFailed: boolean;
  /** Of the server, with any path. */
  url: string;
  /** One for the whole worker: a connection for each file takes more processor time than emptying its database. */
  client?: Promise<import("mongodb").MongoClient>;
}

declare global {
  var planwrightTestDatabases: Databases | undefined;
}
const databases = (globalThis.planwrightTestDatabases ??= {
  free: [],
  taken: [],
  hasStarted: false,
  hasFailed: false,
  url: "",
});

/** A database with more documents is dropped, which is faster than to empty it. */
const MOST_DOCUMENTS = 5_000;

/** The name of an empty database that no other file uses until the end of this one. */
export function takeDatabase(url: string): string {
  databases.url = url;
  const name = databases.free.pop() ?? `test_${randomBytes(8).toString("hex")}`;
  databases.taken.push(name);
  return name;
}

/**
 * Gives back a database before the end of the file: the caller has closed everything that used it, and needs
 * none of its documents. A file that opens something for each test so makes one database, not one for each test.
 * @param url - the address that `testServers()` gave; of any other database nothing is changed
 */
export async function returnDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const at = databases.taken.indexOf(name);
  if (at === -1 || databases.hasFailed) return;
  databases.taken.splice(at, 1);
  await giveBack([name]);
}

/** A test of the file has started, or has failed. */
export function noteTest(state: "started" | "failed"): void {
  databases[state === "started" ? "hasStarted" : "hasFailed"] = true;
}

/** Gives back what the file took, if its tests ran and none failed. */
export async function endFile(): Promise<void> {
  const { hasStarted, hasFailed } = databases;
  const names = databases.taken.splice(0);
  Object.assign(databases, { hasStarted: false, hasFailed: false });
  if (hasStarted && !hasFailed) await giveBack(names);
}

async function giveBack(names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  databases.client ??= connect();
  const client = await databases.client;
  const free: string[] = [];
  for (const name of names) if (await empty(client.db(name))) free.push(name);
  // A change stream begins with the last operation before it, which must not be a removal of these.
  await client.db("admin").command({ appendOplogNote: 1, data: { emptied: free } });
  databases.free.push(...free);
}

async function connect(): Promise<import("mongodb").MongoClient> {
  const { MongoClient } = await import("mongodb");
  return MongoClient.connect(databases.url, { maxPoolSize: 1 });
}

/** Empties a database, or drops one that cannot be as a new one. @returns whether it has its indexes still */
async function empty(db: import("mongodb").Db): Promise<boolean> {
  const infos = await db.listCollections({}, { nameOnly: false }).toArray();
  const collections = infos.map(({ name }) => db.collection(name));
  const counts = await Promise.all(collections.map((one) => one.estimatedDocumentCount()));
  const isPlain = infos.every(
    ({ type, name, options }) =>
      type === "collection" && !name.startsWith("system.") && Object.keys(options ?? {}).length === 0,
  );
  if (!isPlain || counts.some((count) => count > MOST_DOCUMENTS)) {
    await db.dropDatabase();
    return false;
  }
  for (const [at, one] of collections.entries()) if (counts[at] !== 0) await one.deleteMany({});
  return true;
}
