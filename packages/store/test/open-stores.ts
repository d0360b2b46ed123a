import { randomUUID } from "node:crypto";
import { createStore } from "@planwright/store";
import { createMemoryDatabase, createMemoryStore, type MemoryStore } from "@planwright/store/memory";
import { testServers } from "@planwright/testing";
import { type Document, MongoClient } from "mongodb";

/** A store of either kind, empty for each test. */
export interface OpenStore {
  store: MemoryStore;
  /** Changes a document without the store. */
  change(collection: "requests" | "plans" | "journal", id: string, fields: Document): Promise<void>;
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
    async remove(collection, id) {
      const client = await MongoClient.connect(url);
      await client.db().collection<{ _id: string }>(collection).deleteOne({ _id: id });
      await client.close();
    },
    close: () => store.close(),
  };
}

async function openMemory(): Promise<OpenStore> {
  const database = createMemoryDatabase();
  return {
    store: createMemoryStore({ database, owner: randomUUID() }),
    async change(collection, id, fields) {
      database.update(collection, { _id: id }, { set: fields, isPipeline: false });
    },
    async remove(collection, id) {
      database.remove(collection, { _id: id });
    },
    close: async () => undefined,
  };
}
