import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openCollections } from "../src/database/collections.ts";
import { watchChanges } from "../src/reads/watch-changes.ts";

let url: string;
beforeEach(() => {
  url = testServers().mongodbUrl;
});

async function connect(): Promise<MongoClient> {
  const client = new MongoClient(url, { monitorCommands: true });
  onTestFinished(() => client.close());
  await client.connect();
  return client;
}

/** Watches changes until the end of the test. */
function watching(client: MongoClient) {
  const reported: string[] = [];
  const gaps: string[] = [];
  const watch = watchChanges(openCollections(client, client.db()), {
    onChange: (id) => reported.push(id),
    onGap: () => gaps.push("gap"),
    onError: (error) => gaps.push(String(error)),
  });
  onTestFinished(() => watch.close());
  return { watch, reported, gaps };
}

test("a watch is ready before the first answer of the stream, and misses no later change", async () => {
  const client = await connect();
  const other = await connect();
  const answered: string[] = [];
  client.on("commandSucceeded", ({ commandName }) => answered.push(commandName));
  const { watch, reported, gaps } = watching(client);
  await watch.ready;
  // Without changes MongoDB answers the first getMore after a second.
  expect(answered).not.toContain("getMore");
  const ids = Array.from({ length: 20 }, (_, index) => `req_${index}`);
  const requests = other.db().collection<{ _id: string }>("requests");
  for (const _id of ids) await requests.insertOne({ _id });
  await expect.poll(() => reported, { timeout: 30_000 }).toEqual(ids);
  expect(gaps).toEqual([]);
});

test("a watch that is closed before it is ready ends", async () => {
  const { watch } = watching(await connect());
  await watch.close();
  await watch.ready;
});
