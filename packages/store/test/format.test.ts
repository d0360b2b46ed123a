import { createStore, DatabaseFormatError } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { type Db, MongoClient } from "mongodb";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DATABASE_FORMAT } from "../src/database/collections.ts";

let client: MongoClient;
let db: Db;
let url: string;
beforeEach(async () => {
  url = testServers().mongodbUrl;
  client = await MongoClient.connect(url);
  db = client.db();
});
afterEach(() => client.close());

const meta = () => db.collection<{ _id: string; version: number }>("meta");

test("a new database gets its format number from the first process, and all processes use it", async () => {
  const stores = await Promise.all(Array.from({ length: 5 }, () => createStore({ url })));
  await Promise.all(stores.map((store) => store.close()));
  expect(await meta().find().toArray()).toEqual([{ _id: "format", version: DATABASE_FORMAT }]);
  await (await createStore({ url })).close();
});

test("a database of another format is refused with a message that says what to do, and is not changed", async () => {
  await meta().insertOne({ _id: "format", version: DATABASE_FORMAT + 1 });
  const refused = createStore({ url });
  await expect(refused).rejects.toBeInstanceOf(DatabaseFormatError);
  await expect(refused).rejects.toThrow(
    new RegExp(`format ${DATABASE_FORMAT + 1}.* format ${DATABASE_FORMAT}; .*MONGODB_URL`),
  );
  expect((await db.listCollections().toArray()).map(({ name }) => name)).toEqual(["meta"]);
});

test("a database without a format number is refused too", async () => {
  await db.collection<{ _id: string }>("requests").insertOne({ _id: "req_1" });
  await expect(createStore({ url })).rejects.toMatchObject({
    facts: { found: 1, expected: DATABASE_FORMAT },
  });
  expect(await meta().countDocuments()).toBe(0);
});
