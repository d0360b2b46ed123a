import type { ClientSession } from "mongodb";
import type { Collections } from "../collections.ts";
import type { PlanDocument, StepDocument } from "../documents.ts";

/** Stores another version of a plan with its units, of which some are over already, inside the transaction that moves its request to it. */
export async function insertVersion(
  { plans, steps }: Pick<Collections, "plans" | "steps">,
  fresh: PlanDocument,
  units: StepDocument[],
  session: ClientSession,
): Promise<PlanDocument> {
  const progressSeen = units.filter(({ finishedAt }) => finishedAt !== null).length;
  const document = { ...fresh, isFresh: false, progressSeen };
  await plans.insertOne(document, { session });
  await steps.insertMany(units, { session });
  return document;
}
