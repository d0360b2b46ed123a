import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openCollections } from "../src/database/collections.ts";
import { watchChanges } from "../src/live/watch-changes.ts";

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

/** Hears of changes until the test has ended. */
function watching(client: MongoClient) {
  const heard: string[] = [];
  const gaps: string[] = [];
  const watch = watchChanges(openCollections(client, client.db()), {
    onChange: (id) => heard.push(id),
    onGap: () => gaps.push("gap"),
    onError: (error) => gaps.push(String(error)),
  });
  onTestFinished(() => watch.close());
  return { watch, heard, gaps };
}

test("a watch is ready before the stream has answered, and misses nothing from then on", async () => {
  const client = await connect();
  const other = await connect();
  const answered: string[] = [];
  client.on("commandSucceeded", ({ commandName }) => answered.push(commandName));
  const { watch, heard, gaps } = watching(client);
  await watch.ready;
  // MongoDB answers the first question for changes after a second, when there are none.
  expect(answered).not.toContain("getMore");
  const ids = Array.from({ length: 20 }, (_, index) => `req_${index}`);
  const requests = other.db().collection<{ _id: string }>("requests");
  for (const _id of ids) await requests.insertOne({ _id });
  await expect.poll(() => heard, { timeout: 30_000 }).toEqual(ids);
  expect(gaps).toEqual([]);
});

test("a watch that is closed before it was ready ends", async () => {
  const { watch } = watching(await connect());
  await watch.close();
  await watch.ready;
});
