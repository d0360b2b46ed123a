import { randomUUID } from "node:crypto";
import { createStore, type PlanDocument } from "@planwright/store";
import { createMemoryDatabase, createMemoryStore, type MemoryStore } from "@planwright/store/memory";
import { returnDatabase, testServers } from "@planwright/testing";
import { type Document, MongoClient } from "mongodb";

/** A store of either kind, empty for each test. */
export interface OpenStore {
  store: MemoryStore;
  /** Changes a document without the store. */
  change(collection: "requests" | "plans" | "journal", id: string, fields: Document): Promise<void>;
  /** All versions of a request's plan, newest first, read without the store. */
  plansOf(requestId: string): Promise<Pick<PlanDocument, "_id" | "version" | "status">[]>;
  /** Removes a document without the store. */
  remove(collection: "requests" | "plans", id: string): Promise<void>;
  close(): Promise<void>;
}

/** Both kinds of stores: they have the same guarantees. */
export const STORES: { name: string; open: () => Promise<OpenStore> }[] = [
  { name: "MongoDB", open: openMongo },
  { name: "memory", open: openMemory },
];

async function openMongo(): Promise<OpenStore> {
  const url = testServers().mongodbUrl;
  const store = await createStore({ url });
  return {
    store,
    async change(collection, id, fields) {
      const client = await MongoClient.connect(url);
      await client.db().collection<{ _id: string }>(collection).updateOne({ _id: id }, { $set: fields });
      await client.close();
    },
    async plansOf(requestId) {
      const client = await MongoClient.connect(url);
      const plans = client.db().collection<PlanDocument>("plans");
      const found = await plans
        .find({ requestId: requestId as PlanDocument["requestId"] })
        .sort({ version: -1 })
        .toArray();
      await client.close();
      return found;
    },
    async remove(collection, id) {
      const client = await MongoClient.connect(url);
      await client.db().collection<{ _id: string }>(collection).deleteOne({ _id: id });
      await client.close();
    },
    async close() {
      await store.close();
      await returnDatabase(url);
    },
  };
}

async function openMemory(): Promise<OpenStore> {
  const database = createMemoryDatabase();
  return {
    store: createMemoryStore({ database, owner: randomUUID() }),
    async change(collection, id, fields) {
      database.update(collection, { _id: id }, { set: fields, isPipeline: false });
    },
    async plansOf(requestId) {
      const found = database.find("plans", { requestId }) as unknown as PlanDocument[];
      return found.toSorted((one, other) => other.version - one.version);
    },
    async remove(collection, id) {
      database.remove(collection, { _id: id });
    },
    close: async () => undefined,
  };
}
