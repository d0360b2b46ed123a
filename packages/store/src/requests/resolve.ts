import {
  type EventOf,
  type JournalEvent,
  type Resolution,
  type StepRun,
  stepRunAt,
  toEventError,
} from "@planwright/engine";
import type { PlanId } from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { measureValue } from "../journal/outputs.ts";
import { nextEntry } from "../journal/transact.ts";
import type { PlanUnits } from "../journal/unit-reads.ts";
import { askedEvent, controlsAfter, HAS_CONTROLS, needsFields, needsOf } from "../plans/plan-needs.ts";
import type { AskedControl, PlanDocument, UndecidedUnit } from "../records/plan-document.ts";
import { askDecision, type Decided, type DecisionState } from "./ask-control.ts";
import { createReplan } from "./replan.ts";

/** The part of the store that records operators' decisions on calls in doubt. */
export function createResolve(context: StoreDependencies) {
  const { transact } = context;
  const { requests } = context.collections;

  /** Gives units of an ended plan their last state. False when another entry was appended first. */
  async function settle({ plan, read, decided }: Settling, by: string): Promise<boolean> {
    const { _id: planId, requestId } = plan;
    const events = decided.map(({ unit, decision }) => settled(unit, decision.resolution, by));
    const { entry, after } = nextEntry(plan, read.request, { by: { kind: "api", id: by }, events });
    const needs = needsOf(after.plans.get(planId)?.units.values() ?? []);
    const { type } = await transact({
      entry,
      // The request has changed now: it is kept as long as one that ended now.
      following: ({ at: updatedAt }) => [
        {
          collection: "plans",
          id: planId,
          condition: { finishedAt: { $ne: null } },
          set: { ...needsFields(plan, needs, updatedAt), updatedAt },
        },
        { collection: "requests", id: requestId, condition: {}, set: { updatedAt } },
      ],
    });
    return type === "appended";
  }

  return {
    /**
     * Records an operator's decisions on units that are in doubt: all of them, or none. While the plan runs, its
     * executor applies them together, so that the first does not end a list whose other items are decided too. In
     * a plan that has ended the units get their last states here: FAILED if the call is to be repeated, which is
     * left to a rerun.
     * At least one decision, and at most one for each unit.
     */
    async resolveUnits(
      tenant: string,
      planId: PlanId,
      { by, decisions }: UnitDecisions,
    ): Promise<ResolutionAnswer> {
      for (const { key, resolution } of decisions) {
        if (resolution.type === "completed" && !measureValue(resolution.output).fits)
          return { type: "too large", key };
      }
      for (;;) {
        const about = (waiting: readonly UndecidedUnit[]) => {
          const events = decisions.flatMap((decision) => {
            const unit = waiting.find(({ key }) => key === decision.key);
            if (!unit || !("attempt" in unit)) return [];
            return (decision.attempt ?? unit.attempt) === unit.attempt
              ? [resolvedEvent(decision, unit.attempt)]
              : [];
          });
          return events.length === decisions.length ? events : undefined;
        };
        const decide = ({ plan, read, given }: DecisionState): Decided<ResolutionAnswer | Settling> => {
          const decided: Settling["decided"] = [];
          for (const decision of decisions) {
            const { key, attempt } = decision;
            const unit = stepRunAt(read, key);
            const step = stepRunAt(read, key.replace(/\[\d+\]$/, ""));
            if (!unit || !step) return { type: "unknown", key };
            const last = unit.attempts.length;
            // The output of a completed step says in_doubt for the item, and never changes. A rerun still needs
            // the decision.
            const isOpen = step.status !== "COMPLETED" || plan.finishedAt !== null;
            const isInDoubt = unit.status === "IN_DOUBT" && isOpen;
            if (!isInDoubt || (attempt ?? last) !== last) return { type: "not in doubt", unit, attempt };
            const isDecided = given.resolutions.some(
              (earlier) => earlier.key === key && earlier.attempt === last,
            );
            // Answered like that also while the end of the plan is in the journal but not in its document: a
            // later call settles the unit.
            if (!plan.finishedAt && (isDecided || read.plan?.endedSeq !== null))
              return { type: "decided", unit };
            decided.push({ unit, decision });
          }
          if (plan.finishedAt) return { type: "settling", plan, read, decided };
          return decided.map(({ unit, decision }) => resolvedEvent(decision, unit.attempts.length));
        };
        const answer = await askDecision(context, { tenant, planId, by, about, decide });
        if (!answer) return { type: "unknown" };
        if (answer.type === "asked") return { type: "recorded", plan: answer.plan };
        if (answer.type !== "settling") return answer;
        const { plan } = answer;
        if (await settle(answer, by)) return { type: "recorded", plan };
        // It is being removed.
        if (!(await requests.findOne({ _id: plan.requestId }))) return { type: "unknown" };
      }
    },
  };
}

interface Settling {
  type: "settling";
  plan: PlanDocument;
  read: PlanUnits;
  decided: { unit: StepRun; decision: UnitDecision }[];
}

function resolvedEvent({ key, resolution }: UnitDecision, attempt: number): EventOf<"doubt.resolved"> {
  const kept =
    resolution.type === "failed"
      ? ({ type: "failed", error: toEventError(resolution.error) } as const)
      : resolution;
  return { type: "doubt.resolved", key, attempt, resolution: kept };
}

/** The last state of a unit whose plan has ended: a call that should be repeated is left to a rerun. */
function settled({ key, stepId, item, tool }: StepRun, resolution: Resolution, by: string): JournalEvent {
  const resolvedBy = { by, resolution: resolution.type };
  const unit = { type: "step.changed" as const, key, stepId, ...(item !== null && { item }), resolvedBy };
  switch (resolution.type) {
    case "completed": {
      const { output } = resolution;
      return { ...unit, status: "COMPLETED", output, outputBytes: measureValue(output).sizeBytes };
    }
    case "failed":
      return { ...unit, status: "FAILED", error: toEventError(resolution.error) };
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

/**
 * Settles controls that were asked while the owner wrote the last entry of their plan: they follow the end in
 * the journal. A doubt gets its last state, and a cancel also ends the replanning that the end began. A pause,
 * a resume and an approval find nothing to do.
 */
export async function settleLateControls(context: StoreDependencies, planId: PlanId): Promise<void> {
  const { plans } = context.collections;
  const plan = await plans.findOne({ _id: planId, finishedAt: { $ne: null }, ...HAS_CONTROLS });
  if (!plan) return;
  for (const control of plan.controls ?? []) {
    await applyLate(context, plan, control);
    await recordLate(context, plan, control);
  }
  // A plan that has ended takes no controls.
  const set = { controls: [], dueAt: null };
  await context.group.write({ collection: "plans", id: planId, condition: {}, set });
}

/** A repeat after a crash changes nothing. */
async function applyLate(
  context: StoreDependencies,
  { _id: planId, requestId, tenant }: PlanDocument,
  { event, by }: AskedControl,
): Promise<void> {
  if (event.type === "doubt.resolved") {
    const { key, attempt, resolution } = event;
    const decisions = [{ key, attempt, resolution }];
    await createResolve(context).resolveUnits(tenant, planId, { by, decisions });
  }
  if (event.type !== "cancel.asked") return;
  const isReplanned = { _id: requestId, tenant, planId, status: "PLANNING" } as const;
  if (await context.collections.requests.findOne(isReplanned))
    await createReplan(context).cancelPlanning(tenant, requestId, by);
}

/** Appends a control behind the end, unless it is in the journal, or the request is being removed. */
async function recordLate(
  { collections: { plans }, transact, unitReads }: StoreDependencies,
  plan: PlanDocument,
  control: AskedControl,
): Promise<void> {
  const events: JournalEvent[] = [askedEvent(control)];
  for (;;) {
    const request = await unitReads.ofRequest(plan.requestId);
    if (request.isRemoved || (request.plans.get(plan._id)?.controlSeq ?? 0) >= control.id) return;
    const { entry } = nextEntry(plan, request, { by: { kind: "api", id: control.by }, events });
    const expressions = { controls: controlsAfter(control.id) };
    const condition = { finishedAt: { $ne: null } };
    const { type } = await transact({
      entry,
      following: () => [{ collection: "plans", id: plan._id, condition, expressions }],
    });
    if (type === "appended") return;
    if (!(await plans.findOne({ _id: plan._id }, { projection: { _id: 1 } }))) return;
  }
}

/** An operator's decision on a unit that is in doubt. */
export interface UnitDecision {
  key: string;
  /** The attempt that the operator looked at. Default: the one in doubt. */
  attempt?: number | undefined;
  resolution: Resolution;
}

/** Decisions of one operator on units of one plan. */
export interface UnitDecisions {
  by: string;
  decisions: readonly UnitDecision[];
}

/** Result of {@link ControlStore.resolveUnits}; names the first decision that cannot be recorded. */
type ResolutionAnswer =
  | { type: "recorded"; plan: PlanDocument }
  /**
   * The unit is not in doubt (any more), the step of this item is COMPLETED, or the attempt is another one.
   * `attempt` is the one that the operator named.
   */
  | { type: "not in doubt"; unit: StepRun; attempt: number | undefined }
  /** Another operator decided before. */
  | { type: "decided"; unit: StepRun }
  /** The output is larger than 32 KiB, or MongoDB cannot store it. */
  | { type: "too large"; key: string }
  /** No such plan, or with `key` no such unit in it. */
  | { type: "unknown"; key?: string };
