import { randomUUID } from "node:crypto";
import { createStore } from "@planwright/store";
import { createMemoryDatabase, createMemoryStore, type MemoryStore } from "@planwright/store/memory";
import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";

/** A store of either kind, empty for each test. */
export interface OpenStore {
  store: MemoryStore;
  /** Changes a request behind the store's back. */
  changeRequest(requestId: string, fields: object): Promise<void>;
  close(): Promise<void>;
}

/** How each kind of store is opened: what one promises, the other does too. */
export const STORES: { name: string; open: (leaseMs: number) => Promise<OpenStore> }[] = [
  { name: "MongoDB", open: openMongo },
  { name: "memory", open: openMemory },
];

async function openMongo(leaseMs: number): Promise<OpenStore> {
  const url = testServers().mongodbUrl;
  const store = await createStore({ url, leaseMs, planningLeaseMs: leaseMs });
  return {
    store,
    async changeRequest(requestId, fields) {
      const client = await MongoClient.connect(url);
      const requests = client.db().collection<{ _id: string }>("requests");
      await requests.updateOne({ _id: requestId }, { $set: fields });
      await client.close();
    },
    close: () => store.close(),
  };
}

async function openMemory(leaseMs: number): Promise<OpenStore> {
  const database = createMemoryDatabase();
  return {
    store: createMemoryStore({ database, owner: randomUUID(), leaseMs }),
    async changeRequest(requestId, fields) {
      database.update("requests", { _id: requestId }, { set: fields, isPipeline: false });
    },
    close: async () => undefined,
  };
}
