import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStore, type Store, WORKER_DEAD_AFTER_MS } from "../src/index.ts";

let store: Store;
let client: MongoClient;
beforeAll(async () => {
  const { mongodbUrl } = testServers();
  store = await createStore({ url: mongodbUrl });
  client = await MongoClient.connect(mongodbUrl);
});
afterAll(async () => {
  await client.close();
  await store.close();
});

test("workers that say so are alive, until they stop or are silent for 5 s", async () => {
  expect(await store.liveWorkers()).toEqual({ planner: 0, executor: 0 });
  await store.beat({ _id: "e1", kind: "executor" });
  await store.beat({ _id: "e2", kind: "executor" });
  await store.beat({ _id: "p1", kind: "planner" });
  await store.beat({ _id: "e1", kind: "executor" });
  expect(await store.liveWorkers()).toEqual({ planner: 1, executor: 2 });

  await store.removeWorker("e2");
  expect(await store.liveWorkers()).toEqual({ planner: 1, executor: 1 });

  const silent = [{ $set: { seenAt: { $subtract: ["$$NOW", WORKER_DEAD_AFTER_MS] } } }];
  await client.db().collection<{ _id: string }>("workers").updateOne({ _id: "e1" }, silent);
  expect(await store.liveWorkers()).toEqual({ planner: 1, executor: 0 });
  await store.beat({ _id: "e1", kind: "executor" });
  expect(await store.liveWorkers()).toEqual({ planner: 1, executor: 1 });
});
