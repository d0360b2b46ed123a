import type { MongoClient } from "mongodb";
import { z } from "zod";
import { type Evidence, FinalPlanSchema, FinalRequestSchema, FinalStepSchema } from "./evidence.ts";

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
