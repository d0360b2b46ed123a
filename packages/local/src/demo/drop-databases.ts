import { MongoClient } from "mongodb";

/** Empties the demo's own databases on a server that the user runs; does nothing when there is none. */
export async function dropDatabases(url: string | undefined, names: readonly string[]): Promise<void> {
  if (url === undefined || url === "") return;
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 10_000 });
  try {
    for (const name of names) await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}
