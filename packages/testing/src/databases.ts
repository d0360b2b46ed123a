import { randomBytes } from "node:crypto";

/**
 * The databases that this worker uses. Making the collections and indexes of one costs MongoDB a fifth of a second
 * of processor time, so what an ended test leaves is emptied and given to the next one. In `globalThis`, because
 * files that share a worker may load this module again.
 */
interface Databases {
  /** Empty, with collections and indexes. */
  free: string[];
  /** Taken by the test that runs. */
  ofTest: string[];
  /** Taken outside of tests. */
  ofFile: string[];
  isInTest: boolean;
  /** Tests of this file that passed and failed. What a failed test started may still write. */
  passed: number;
  failed: number;
  /** Of the server, with any path. */
  url: string;
}

declare global {
  var planwrightTestDatabases: Databases | undefined;
}
const databases = (globalThis.planwrightTestDatabases ??= {
  free: [],
  ofTest: [],
  ofFile: [],
  isInTest: false,
  passed: 0,
  failed: 0,
  url: "",
});

/** A database with more documents is dropped, which is faster than to empty it. */
const MOST_DOCUMENTS = 5_000;

/**
 * The name of an empty database that nobody else uses, until the end of the test that runs, else until the end of
 * the file.
 */
export function takeDatabase(url: string): string {
  databases.url = url;
  const name = databases.free.pop() ?? `test_${randomBytes(8).toString("hex")}`;
  (databases.isInTest ? databases.ofTest : databases.ofFile).push(name);
  return name;
}

/** From here on databases are taken for a test. */
export function startTest(): void {
  databases.isInTest = true;
}

/** Gives back what was taken for a test, unless it failed. */
export async function endTest(hasPassed: boolean): Promise<void> {
  databases.isInTest = false;
  databases[hasPassed ? "passed" : "failed"] += 1;
  const names = databases.ofTest.splice(0);
  if (hasPassed) await giveBack(names);
}

/** Gives back what was taken outside of tests, if they ran and none failed. */
export async function endFile(): Promise<void> {
  const { passed, failed } = databases;
  const names = databases.ofFile.splice(0);
  Object.assign(databases, { passed: 0, failed: 0 });
  if (passed > 0 && failed === 0) await giveBack(names);
}

async function giveBack(names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const { MongoClient } = await import("mongodb");
  const client = await MongoClient.connect(databases.url, { maxPoolSize: 1 });
  try {
    for (const name of names) if (await empty(client.db(name))) databases.free.push(name);
  } finally {
    await client.close();
  }
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
