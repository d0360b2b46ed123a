import { type PlanId, parsePlan, type RequestId } from "@planwright/plan";
import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { createStore, type Store } from "../src/index.ts";

/** A store in a new database, and a client that changes documents of this database without the store. */
export interface StoreAndClient {
  store: Store;
  client: MongoClient;
  close(): Promise<void>;
}

/** Opens a store and a client. */
export async function openStoreAndClient(): Promise<StoreAndClient> {
  const { mongodbUrl } = testServers();
  const store = await createStore({ url: mongodbUrl });
  const client = await MongoClient.connect(mongodbUrl);
  return {
    store,
    client,
    async close() {
      await client.close();
      await store.close();
    },
  };
}

/** Submits a plan of one step for execution at once. */
export async function submitOneStep(
  store: Store,
  tenant: string,
): Promise<{ requestId: RequestId; planId: PlanId }> {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const input = { tenant, query: null, raw: "", diagnostics: [], autoExecute: true };
  const { request, plan } = await store.submitPlan({ ...input, plan: parsed.plan });
  return { requestId: request._id, planId: plan._id };
}
