import { testServers } from "@planwright/testing";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { expect, test } from "vitest";

test("the test run's MongoDB has change streams", async () => {
  const client = new MongoClient(testServers().mongodbUrl);
  const notes = client.db().collection<{ text: string }>("notes");
  await notes.insertOne({ text: "first" });
  const changes = notes.watch();
  const next = changes.next();
  await notes.insertOne({ text: "second" });
  expect(await next).toMatchObject({ operationType: "insert", fullDocument: { text: "second" } });
  await changes.close();
  await client.close();
});

test("the test run's Redis never evicts and writes an append-only file", async () => {
  const client = new Redis(testServers().redisUrl);
  const policy = await client.config("GET", "maxmemory-policy");
  const appendOnly = await client.config("GET", "appendonly");
  client.disconnect();
  expect({ policy, appendOnly }).toEqual({
    policy: ["maxmemory-policy", "noeviction"],
    appendOnly: ["appendonly", "yes"],
  });
});

test("each call of testServers returns a new database and a new key prefix", () => {
  const [first, second] = [testServers(), testServers()];
  expect(new URL(first.mongodbUrl).pathname).not.toBe(new URL(second.mongodbUrl).pathname);
  expect(first.redisPrefix).not.toBe(second.redisPrefix);
});
