import type { StepDocument } from "../documents.ts";
import { LeaseLostError } from "../errors.ts";
import type { PlanClaim } from "../store.ts";
import type { ExecutionContext } from "./context.ts";

/**
 * Inserts the documents of items. A document that is not there yet carries no epoch that could refuse a stale owner, so the
 * plan's own is asked in the same transaction: it collides with every claim.
 * @throws {LeaseLostError}
 */
export async function insertUnits(
  { collections, transact }: ExecutionContext,
  claim: PlanClaim,
  documents: readonly StepDocument[],
): Promise<void> {
  const { plan, epoch } = claim;
  await transact(async (session) => {
    const held = await collections.plans.updateOne(
      { _id: plan._id, "lease.epoch": epoch },
      // A change, or the update would collide with nothing.
      [{ $set: { expansions: { $add: ["$expansions", 1] } } }],
      { session },
    );
    if (held.matchedCount === 0) throw new LeaseLostError({ id: plan._id, epoch });
    await collections.steps.insertMany([...documents], { session });
  });
  for (const document of documents) claim.steps.set(document.key, document);
}
