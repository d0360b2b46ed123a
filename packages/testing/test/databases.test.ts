/** What an ended test leaves is given to the next one, empty. Tests of this file run in their order. */
import { MongoClient } from "mongodb";
import { afterAll, expect, test } from "vitest";
import { testServers } from "../src/index.ts";

const ofFile = testServers().mongodbUrl;
const client = await MongoClient.connect(ofFile);
afterAll(() => client.close());

const databaseOf = (url: string) => client.db(new URL(url).pathname.slice(1));
let first: string;

test("two calls have two databases", async () => {
  first = testServers().mongodbUrl;
  expect(new Set([ofFile, first, testServers().mongodbUrl]).size).toBe(3);
  const records = databaseOf(first).collection("records");
  await records.createIndex({ name: 1 });
  await records.insertOne({ name: "left" });
  await databaseOf(ofFile).collection("records").insertOne({ name: "of the file" });
});

test("the database of an ended test comes back empty, with its indexes", async () => {
  const urls = [testServers().mongodbUrl, testServers().mongodbUrl];
  expect(urls).toContain(first);
  const records = databaseOf(first).collection("records");
  expect(await records.countDocuments()).toBe(0);
  expect((await records.indexes()).map(({ name }) => name)).toEqual(["_id_", "name_1"]);
  expect(await databaseOf(ofFile).collection("records").countDocuments()).toBe(1);
});

test("a database with an option of its own is not used again as it is", async () => {
  expect([testServers().mongodbUrl, testServers().mongodbUrl]).toContain(first);
  await databaseOf(first).command({ collMod: "records", validator: { name: { $exists: true } } });
  await databaseOf(first).collection("records").insertOne({ name: "left" });
});

test("it was dropped", async () => {
  expect(await databaseOf(first).listCollections().toArray()).toEqual([]);
});
