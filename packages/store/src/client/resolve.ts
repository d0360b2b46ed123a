import type { PlanDocument, StepDocument, UnitResolution } from "../documents.ts";
import { measureValue } from "../outputs/inline-value.ts";
import type { ClientStore, ResolutionWord } from "../store.ts";
import type { ClientContext } from "./context.ts";
import { asData, HEARING, WISH } from "./wish.ts";

/** The part of the store that takes the words of operators on what nobody knows. */
export function createResolve({
  collections: { plans, steps },
}: ClientContext): Pick<ClientStore, "resolveUnit"> {
  /** A plan that is over has nobody who would act on a word: the unit itself gets its last state. */
  async function settle(unit: StepDocument, word: ResolutionWord): Promise<boolean> {
    const { matchedCount } = await steps.updateOne(
      {
        _id: unit._id,
        status: "IN_DOUBT",
        finishedAt: null,
        $expr: { $eq: [{ $size: "$attempts" }, unit.attempts.length] },
      },
      [
        {
          $set: {
            ...asData(lastState(unit, word)),
            resolvedBy: asData({ by: word.by, resolution: word.resolution.type }),
            waitReason: null,
            finishedAt: "$$NOW",
            updatedAt: "$$NOW",
          },
        },
      ],
    );
    return matchedCount === 1;
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
      { _id: plan._id, status: { $in: [...HEARING] }, wishes: plan.wishes },
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
        const [plan, unit, step] = await Promise.all([
          plans.findOne({ _id: planId, tenant }),
          steps.findOne({ _id: `${planId}/${word.key}`, tenant }),
          steps.findOne({ _id: `${planId}/${word.key.replace(/\[\d+\]$/, "")}`, tenant }),
        ]);
        if (!plan || !unit || !step) return { type: "unknown" };
        const attempt = unit.attempts.length;
        // The output of a completed step says in_doubt for its item, and never changes; a rerun wants to know all the same.
        const isOpen = step.status !== "COMPLETED" || plan.finishedAt !== null;
        const isInDoubt = unit.status === "IN_DOUBT" && isOpen;
        if (!isInDoubt || (word.attempt ?? attempt) !== attempt) return { type: "not in doubt", unit };
        const isSaid = plan.resolutions.some((said) => said.key === word.key && said.attempt === attempt);
        if (isSaid && !plan.finishedAt) return { type: "decided", unit };
        if (plan.finishedAt) {
          if (await settle(unit, word)) return { type: "recorded", plan };
          continue;
        }
        const told = await tell(plan, unit, word);
        if (told) return { type: "recorded", plan: told };
      }
    },
  };
}

/** What a unit of a plan that is over becomes. Nothing is called any more: what should happen again is left to a rerun. */
function lastState(
  unit: StepDocument,
  { resolution, by }: ResolutionWord,
): Pick<StepDocument, "status"> & Partial<StepDocument> {
  switch (resolution.type) {
    case "completed":
      return { status: "COMPLETED", output: resolution.output, error: null };
    case "failed":
      return { status: "FAILED", error: resolution.error };
    case "retry":
      return {
        status: "FAILED",
        error: {
          code: "SETTLED_AS_NOT_DONE",
          message: `An operator (${by}) said that the call of ${unit.tool} did not happen`,
          retryable: true,
        },
      };
  }
}
