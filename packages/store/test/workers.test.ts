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

test("a model is missing while planners live and each of them says that it has none", async () => {
  for (const id of ["p1", "p2", "p3"]) await store.removeWorker(id);
  expect(await store.isModelMissing()).toBe(false);
  await store.beat({ _id: "p2", kind: "planner", hasModel: false });
  expect(await store.isModelMissing()).toBe(true);
  await store.beat({ _id: "p3", kind: "planner", hasModel: true });
  expect(await store.isModelMissing()).toBe(false);
  await store.removeWorker("p3");
  await store.beat({ _id: "p1", kind: "planner" });
  expect(await store.isModelMissing()).toBe(false);
});
