import { setTimeout as delay } from "node:timers/promises";
import { isTerminalPlanStatus } from "@planwright/plan";
import { type JournalDocument, type PlanDocument, stepsOfJournals } from "@planwright/store";
import type { ClientSession, Document, MongoClient, WithId } from "mongodb";
import { z } from "zod";
import { type Evidence, FinalPlanSchema, FinalRequestSchema, FinalStepSchema } from "../evidence/evidence.ts";

/** Longest that a plan that reaches its deadline just now may take to end, in milliseconds. */
const REST_WITHIN_MS = 10_000;

/** What a run left, as of one instant. */
type Documents = Pick<Evidence, "requests" | "plans" | "steps" | "journal">;

/**
 * The documents of a run when no plan is being worked on: one that waited for an operator is taken up once
 * more at its deadline.
 */
export async function readAtRest(client: MongoClient): Promise<Documents> {
  const giveUpAt = performance.now() + REST_WITHIN_MS;
  for (;;) {
    const documents = await client.withSession({ snapshot: true }, (session) => readNow(client, session));
    if (isAtRest(documents) || performance.now() > giveUpAt) return documents;
    await delay(100);
  }
}

/** A plan's end is told to its request a moment later. */
function isAtRest({ requests, plans }: Documents): boolean {
  const hasEnded = new Map(plans.map(({ _id, status }) => [_id, isTerminalPlanStatus(status)]));
  return (
    plans.every(({ status }) => status !== "RUNNING") &&
    requests.every(({ status, planId }) => status !== "EXECUTING" || hasEnded.get(planId) !== true)
  );
}

/** The last entry of each request's journal that is durable now, by request. */
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
  // Written by the store alone.
  const steps = stepsOfJournals(plans as unknown as PlanDocument[], entries);
  return {
    requests: z.array(FinalRequestSchema).parse(requests),
    plans: z.array(FinalPlanSchema).parse(plans),
    steps: z.array(FinalStepSchema).parse(steps),
    journal: entries,
  };
}
