import { type JournalEvent, toldError } from "@planwright/engine";
import { STARTED_PLAN_STATUSES } from "@planwright/plan";
import type { PlanDocument, StepDocument, UnitResolution } from "../documents.ts";
import { needsOf } from "../execution/plan-needs.ts";
import { stepDocumentAt } from "../journal/plan-units.ts";
import type { PlanUnits } from "../journal/unit-reads.ts";
import { measureValue } from "../outputs/inline-value.ts";
import type { ClientStore, ResolutionWord } from "../store.ts";
import type { ClientContext } from "./context.ts";
import { asData, WISH } from "./wish.ts";

/** The part of the store that takes the words of operators on calls in doubt. */
export function createResolve({
  collections: { plans },
  group,
  journal,
  unitReads,
}: ClientContext): Pick<ClientStore, "resolveUnit"> {
  /** A plan that is over has no executor that would act on a word: the unit itself gets its last state. False when another entry came between. */
  async function settle(
    plan: PlanDocument,
    read: PlanUnits,
    unit: StepDocument,
    word: ResolutionWord,
  ): Promise<boolean> {
    const { _id: planId, requestId, tenant } = plan;
    const { type } = await journal.append({
      requestId,
      tenant,
      planId,
      seq: read.seq + 1,
      by: { kind: "api", id: word.by },
      events: [settled(unit, word)],
    });
    if (type === "taken") return false;
    await tellNeeds(plan);
    return true;
  }

  /** Has a plan that is over say what its units need, where it says something else: read again until it was the last to say so. */
  async function tellNeeds({ _id: planId, tenant, needs: before = [] }: PlanDocument): Promise<void> {
    for (let said = before; ; ) {
      const read = await unitReads.ofPlan(tenant, planId);
      const needs = needsOf(read?.plan?.units.values() ?? []);
      if (needs.join() === said.join()) return;
      await group.set({
        collection: "plans",
        id: planId,
        condition: {},
        set: { needs },
        stamps: ["updatedAt"],
      });
      said = needs;
    }
  }

  /** True when the word is recorded; false when another word came between. */
  async function tell(
    plan: PlanDocument,
    unit: StepDocument,
    word: ResolutionWord,
  ): Promise<PlanDocument | null> {
    const { key, resolution, by } = word;
    const entry: Omit<UnitResolution, "at"> = { key, attempt: unit.attempts.length, resolution, by };
    return plans.findOneAndUpdate(
      { _id: plan._id, status: { $in: STARTED_PLAN_STATUSES }, wishes: plan.wishes },
      [
        {
          $set: {
            ...WISH,
            resolutions: { $concatArrays: ["$resolutions", [{ ...asData(entry), at: "$$NOW" }]] },
          },
        },
      ],
      { returnDocument: "after" },
    );
  }

  return {
    async resolveUnit(tenant, planId, word) {
      const { resolution } = word;
      if (resolution.type === "completed" && !measureValue(resolution.output).fits)
        return { type: "too large" };
      for (;;) {
        const [plan, read] = await Promise.all([
          plans.findOne({ _id: planId, tenant }),
          unitReads.ofPlan(tenant, planId),
        ]);
        const unit = read && stepDocumentAt(read, word.key);
        const step = read && stepDocumentAt(read, word.key.replace(/\[\d+\]$/, ""));
        if (!plan || !unit || !step) return { type: "unknown" };
        const attempt = unit.attempts.length;
        // The output of a completed step says in_doubt for its item, and never changes; a rerun wants to know all the same.
        const isOpen = step.status !== "COMPLETED" || plan.finishedAt !== null;
        const isInDoubt = unit.status === "IN_DOUBT" && isOpen;
        if (!isInDoubt || (word.attempt ?? attempt) !== attempt) {
          // Who settled it may have died before the plan said so.
          if (plan.finishedAt) await tellNeeds(plan);
          return { type: "not in doubt", unit };
        }
        const isSaid = plan.resolutions.some((said) => said.key === word.key && said.attempt === attempt);
        if (isSaid && !plan.finishedAt) return { type: "decided", unit };
        if (plan.finishedAt) {
          if (await settle(plan, read, unit, word)) return { type: "recorded", plan };
          continue;
        }
        const told = await tell(plan, unit, word);
        if (told) return { type: "recorded", plan: told };
      }
    },
  };
}

/** What a unit of a plan that is over becomes. Nothing is called any more: what should happen again is left to a rerun. */
function settled(
  { key, stepId, item, tool }: StepDocument,
  { resolution, by }: ResolutionWord,
): JournalEvent {
  const resolvedBy = { by, resolution: resolution.type };
  const unit = { type: "step.changed" as const, key, stepId, ...(item !== null && { item }), resolvedBy };
  switch (resolution.type) {
    case "completed": {
      const { output } = resolution;
      return { ...unit, status: "COMPLETED", output, outputBytes: measureValue(output).sizeBytes };
    }
    case "failed":
      return { ...unit, status: "FAILED", error: toldError(resolution.error) };
    case "retry":
      return {
        ...unit,
        status: "FAILED",
        error: {
          code: "SETTLED_AS_NOT_DONE",
          message: `An operator (${by}) said that the call of ${tool} did not happen`,
          retryable: true,
        },
      };
  }
}
