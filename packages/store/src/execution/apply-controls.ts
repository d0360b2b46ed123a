import type { StoreDependencies } from "../journal/dependencies.ts";
import { LeaseLostError } from "../records/errors.ts";
import type { ExecutionStore } from "./execution-store.ts";

/**
 * The part of the store that brings the controls of clients and operators to the executor that holds the plan
 * (J6).
 */
export function createApplyControls({
  collections,
}: StoreDependencies): Pick<ExecutionStore, "applyControls"> {
  return {
    async applyControls(claims) {
      if (claims.length === 0) return;
      const byPlan = new Map(claims.map((claim) => [claim.plan._id, claim]));
      const controlled = await collections.plans
        .find({ _id: { $in: [...byPlan.keys()] }, controlSeq: { $gt: 0 } }, { projection: { controlSeq: 1 } })
        .toArray();
      await Promise.all(
        controlled.map(async ({ _id, controlSeq }) => {
          const journal = byPlan.get(_id)?.journal;
          if (!journal || journal.seq() >= controlSeq) return;
          await journal.catchUp().catch((error: unknown) => {
            // The executor gets this error from its next append.
            if (!(error instanceof LeaseLostError)) throw error;
          });
        }),
      );
    },
  };
}
