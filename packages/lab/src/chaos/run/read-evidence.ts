import { setTimeout as delay } from "node:timers/promises";
import { isTerminalPlanStatus } from "@planwright/plan";
import { type JournalDocument, type PlanDocument, stepsOfJournals } from "@planwright/store";
import type { ClientSession, Document, MongoClient, WithId } from "mongodb";
import { z } from "zod";
import { type Evidence, FinalPlanSchema, FinalRequestSchema, FinalStepSchema } from "../evidence/evidence.ts";

/** The longest time that a plan at its deadline needs to end, in milliseconds. */
const REST_WITHIN_MS = 10_000;

/** The documents that a run left, at one instant. */
type Documents = Pick<Evidence, "requests" | "plans" | "steps" | "journal">;

/**
 * The documents of a run at a time when no plan is running. A plan that waited for an operator runs once more
 * at its deadline.
 */
export async function readAtRest(client: MongoClient): Promise<Documents> {
  const timeoutAt = performance.now() + REST_WITHIN_MS;
  for (;;) {
    const documents = await client.withSession({ snapshot: true }, (session) => readNow(client, session));
    if (isAtRest(documents) || performance.now() > timeoutAt) return documents;
    await delay(100);
  }
}

/**
 * No plan is running, and every request has the end of its plan, which is written a moment after the plan's.
 */
function isAtRest({ requests, plans }: Documents): boolean {
  const hasEnded = new Map(plans.map(({ _id, status }) => [_id, isTerminalPlanStatus(status)]));
  return (
    plans.every(({ status }) => status !== "RUNNING") &&
    requests.every(({ status, planId }) => status !== "EXECUTING" || hasEnded.get(planId) !== true)
  );
}

/** The seq of the last durable entry of each request's journal, by requestId. */
export async function readLastSeqs(client: MongoClient): Promise<Map<string, number>> {
  const last = { $group: { _id: "$requestId", seq: { $max: "$seq" } } };
  const found = client
    .db()
    .collection("journal")
    .aggregate<{ _id: string; seq: number }>([last], {
      readConcern: { level: "majority" },
    });
  return new Map((await found.toArray()).map(({ _id, seq }) => [_id, seq]));
}

async function readNow(client: MongoClient, session: ClientSession): Promise<Documents> {
  const db = client.db();
  const read = async <T extends Document>(collection: string): Promise<WithId<T>[]> =>
    db.collection<T>(collection).find({}, { session }).sort({ _id: 1 }).toArray();
  const requests = await read("requests");
  const plans = await read("plans");
  const entries = await read<JournalDocument>("journal");
  // Safe casts: only the store writes these documents.
  const steps = stepsOfJournals(plans as unknown as PlanDocument[], entries);
  return {
    requests: z.array(FinalRequestSchema).parse(requests),
    plans: z.array(FinalPlanSchema).parse(plans),
    steps: z.array(FinalStepSchema).parse(steps),
    journal: entries,
  };
}
