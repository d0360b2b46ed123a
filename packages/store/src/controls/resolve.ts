import { type EventOf, type JournalEvent, type Resolution, toldError } from "@planwright/engine";
import type { PlanId } from "@planwright/plan";
import { needsOf } from "../heads/plan-needs.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { nextEntry } from "../journal/next-entry.ts";
import { stepDocumentAt } from "../journal/plan-units.ts";
import type { PlanUnits } from "../journal/unit-reads.ts";
import { measureValue } from "../outputs/inline-value.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { StepDocument } from "../records/step-document.ts";
import type { AppendControl } from "./append-control.ts";
import type { ControlStore, ResolutionAnswer, UnitDecision } from "./control-store.ts";

/** The part of the store that records decisions of operators on calls in doubt. */
export function createResolve(
  { collections: { plans }, group, journal, unitReads }: StoreDependencies,
  appendControl: AppendControl,
): Pick<ControlStore, "resolveUnit"> {
  /**
   * A plan that has ended has no executor that would apply the decision: the unit gets its last state here.
   * False when another entry took the place.
   */
  async function settle(
    plan: PlanDocument,
    read: PlanUnits,
    unit: StepDocument,
    word: UnitDecision,
  ): Promise<boolean> {
    const events = [settled(unit, word)];
    const { entry } = nextEntry(plan, read.request, { by: { kind: "api", id: word.by }, events });
    const { type } = await journal.append(entry);
    if (type === "taken") return false;
    await tellNeeds(plan);
    return true;
  }

  /**
   * Updates `needs` of a plan that has ended. It reads again until no other process has written in between.
   */
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

  return {
    async resolveUnit(tenant, planId, word) {
      const { resolution, key, by } = word;
      if (resolution.type === "completed" && !measureValue(resolution.output).fits)
        return { type: "too large" };
      for (;;) {
        const said = await appendControl<ResolutionAnswer | Settling>(tenant, planId, ({ plan, read }) => {
          const unit = stepDocumentAt(read, key);
          const step = stepDocumentAt(read, key.replace(/\[\d+\]$/, ""));
          if (!unit || !step) return { type: "answer", answer: { type: "unknown" } };
          const attempt = unit.attempts.length;
          // The output of a completed step says in_doubt for its item, and never changes; a rerun wants to
          // know all the same.
          const isOpen = step.status !== "COMPLETED" || plan.finishedAt !== null;
          const isInDoubt = unit.status === "IN_DOUBT" && isOpen;
          if (!isInDoubt || (word.attempt ?? attempt) !== attempt)
            return { type: "answer", answer: { type: "not in doubt", unit } };
          if (plan.finishedAt) return { type: "answer", answer: { type: "settling", plan, read, unit } };
          const isSaid = read.plan?.resolutions.some(
            (earlier) => earlier.key === key && earlier.attempt === attempt,
          );
          // A plan that is just ending is looked at again once its document says so.
          if (isSaid || read.plan?.endedSeq !== null)
            return { type: "answer", answer: { type: "decided", unit } };
          return {
            type: "tell",
            event: { type: "doubt.resolved", key, attempt, resolution: toldResolution(resolution) },
            by,
            head: {},
          };
        });
        if (!said) return { type: "unknown" };
        if (said.type === "told") return { type: "recorded", plan: said.plan };
        if (said.type !== "settling") {
          // Who settled it may have died before the plan said so.
          if (said.type === "not in doubt") await tellNeedsOf(tenant, planId);
          return said;
        }
        if (await settle(said.plan, said.read, said.unit, word)) return { type: "recorded", plan: said.plan };
      }
    },
  };

  async function tellNeedsOf(tenant: string, planId: PlanId): Promise<void> {
    const plan = await plans.findOne({ _id: planId, tenant });
    if (plan?.finishedAt) await tellNeeds(plan);
  }
}

/** Settles a doubt of a plan that has ended. */
interface Settling {
  type: "settling";
  plan: PlanDocument;
  read: PlanUnits;
  unit: StepDocument;
}

function toldResolution(resolution: Resolution): EventOf<"doubt.resolved">["resolution"] {
  return resolution.type === "failed" ? { type: "failed", error: toldError(resolution.error) } : resolution;
}

/**
 * The last state of a unit whose plan has ended. Nothing is called any more: a call that should be repeated
 * is left to a rerun.
 */
function settled({ key, stepId, item, tool }: StepDocument, { resolution, by }: UnitDecision): JournalEvent {
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
