import { setTimeout as delay } from "node:timers/promises";
import type { MongoClient } from "mongodb";
import { z } from "zod";
import { type Evidence, FinalPlanSchema, FinalRequestSchema, FinalStepSchema } from "./evidence.ts";

/** Longest that a plan that reaches its deadline just now may take to end, in milliseconds. */
const REST_WITHIN_MS = 5_000;

/** Waits until no plan is being worked on: one that waited for somebody is taken up once more at its deadline. */
export async function comeToRest(client: MongoClient): Promise<void> {
  const giveUpAt = performance.now() + REST_WITHIN_MS;
  const plans = client.db().collection("plans");
  while ((await plans.countDocuments({ status: "RUNNING" })) > 0 && performance.now() < giveUpAt) {
    await delay(100);
  }
}

/** The documents of a run as they are now. */
export async function readDocuments(
  client: MongoClient,
): Promise<Pick<Evidence, "requests" | "plans" | "steps">> {
  const db = client.db();
  const read = async <T>(collection: string, schema: z.ZodType<T>): Promise<T[]> =>
    z.array(schema).parse(await db.collection(collection).find().sort({ _id: 1 }).toArray());
  return {
    requests: await read("requests", FinalRequestSchema),
    plans: await read("plans", FinalPlanSchema),
    steps: await read("steps", FinalStepSchema),
  };
}
