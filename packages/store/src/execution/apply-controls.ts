import { HAS_CONTROLS } from "../heads/pending-controls.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { ExecutionStore, PlanClaim } from "./execution-store.ts";
import { withoutSettledControls } from "./update-plan-summary.ts";

/**
 * The part of the store that brings the controls of clients and operators to the executor that holds the plan
 * (J6).
 */
export function createApplyControls({
  collections,
  group,
}: Pick<StoreDependencies, "collections" | "group">): Pick<ExecutionStore, "applyControls"> {
  /** Removes controls that are in the journal. It may be repeated; the next owner does it after a crash. */
  async function removeSettled(claim: PlanClaim): Promise<void> {
    await group.update({
      collection: "plans",
      id: claim.plan._id,
      condition: { "lease.epoch": claim.epoch },
      expressions: withoutSettledControls(claim),
    });
  }

  return {
    async applyControls(claims) {
      if (claims.length === 0) return;
      const byPlan = new Map(claims.map((claim) => [claim.plan._id, claim]));
      const found = await collections.plans
        .find<Pick<PlanDocument, "_id" | "controls">>(
          { _id: { $in: [...byPlan.keys()] }, ...HAS_CONTROLS },
          { projection: { controls: 1 } },
        )
        .toArray();
      const settled: PlanClaim[] = [];
      for (const { _id, controls = [] } of found) {
        const claim = byPlan.get(_id);
        if (!claim) continue;
        const settledSeq = claim.journal.settled();
        if (controls.some(({ id }) => id <= settledSeq)) settled.push(claim);
        claim.journal.take(controls);
      }
      await Promise.all(settled.map(removeSettled));
    },
  };
}
