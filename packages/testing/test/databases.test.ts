/** What the tests of a file leave is given to the next file, empty; what they return, to the next test. */
import { MongoClient } from "mongodb";
import { afterAll, expect, test } from "vitest";
import { endFile, noteTest } from "../src/databases.ts";
import { returnDatabase, testServers } from "../src/index.ts";

const client = await MongoClient.connect(testServers().mongodbUrl);
afterAll(() => client.close());

const take = (): string => new URL(testServers().mongodbUrl).pathname.slice(1);

/** A database that a test has used. */
async function used(): Promise<string> {
  const name = take();
  const records = client.db(name).collection("records");
  await records.createIndex({ name: 1 });
  await records.insertOne({ name: "left" });
  return name;
}

test("two calls of a file have two databases, and the next file has them, empty, with their indexes", async () => {
  const names = [await used(), await used()];
  expect(new Set(names).size).toBe(2);
  await endFile();
  expect([take(), take()].toSorted()).toEqual(names.toSorted());
  for (const name of names) {
    const records = client.db(name).collection("records");
    expect(await records.countDocuments()).toBe(0);
    expect((await records.indexes()).map((index) => index.name)).toEqual(["_id_", "name_1"]);
  }
  noteTest("started");
});

test("a database with an option of its own is dropped", async () => {
  const name = await used();
  await client.db(name).command({ collMod: "records", validator: { name: { $exists: true } } });
  await endFile();
  expect(await client.db(name).listCollections().toArray()).toEqual([]);
  noteTest("started");
});

test("the databases of a file with a failed test are not used again", async () => {
  const name = await used();
  noteTest("failed");
  await endFile();
  expect(await client.db(name).collection("records").countDocuments()).toBe(1);
  expect(take()).not.toBe(name);
  noteTest("started");
});

test("a database that is returned is given to the next call of the same file, empty", async () => {
  const { mongodbUrl } = testServers();
  const records = client.db(new URL(mongodbUrl).pathname.slice(1)).collection("records");
  await records.insertOne({ name: "left" });
  await returnDatabase(mongodbUrl);
  expect(await records.countDocuments()).toBe(0);
  expect(testServers().mongodbUrl).toBe(mongodbUrl);
});
