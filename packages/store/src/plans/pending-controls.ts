/**
 * Controls in the document of their plan: from the answer to their client until they are in the journal
 * (docs/architecture.md, J6).
 */
import type { ControlEvent, FoldedPlan } from "@planwright/engine";
import type { Document } from "mongodb";
import type { UnitReads } from "../journal/unit-reads.ts";
import type { PlanHead, StoredPlanHead } from "../records/document-heads.ts";
import type { PendingControl, PlanApproval, PlanDocument, UnitResolution } from "../records/plan-document.ts";

/** Expression: the controls of a plan. */
export const CONTROLS = { $ifNull: ["$controls", []] };

/** Filter: a plan with controls. */
export const HAS_CONTROLS = { controls: { $elemMatch: { id: { $gt: 0 } } } };

/** Expression: the controls after one of them. */
export function controlsAfter(id: number): Document {
  return { $filter: { input: CONTROLS, cond: { $gt: ["$$this.id", id] } } };
}

/** The event of a control in an entry that is not its client's. Pure. */
export function askedEvent({ event, ...asked }: PendingControl): ControlEvent {
  return { ...event, asked };
}

/** Operators' decisions on the calls of a plan, oldest first. */
export interface GivenDecisions {
  approvals: readonly PlanApproval[];
  resolutions: readonly UnitResolution[];
}

/**
 * The decisions in a journal, then those that wait in the plan's document. Pure.
 * @param plan - the document, or its head, read before the journal
 */
export function givenDecisions(
  { controls = [] }: Pick<PlanDocument, "controls">,
  folded: FoldedPlan | undefined,
): GivenDecisions {
  const isNew = ({ id }: PendingControl): boolean => id > (folded?.controlSeq ?? 0);
  const waiting = controls.filter(isNew).map(({ event, by, at }) => ({ event, by, at }));
  return {
    approvals: [
      ...(folded?.approvals ?? []),
      ...waiting.flatMap(({ event, by, at }) => {
        if (event.type !== "approval.given") return [];
        const { stepId, approved, approvalHash, reason } = event;
        return [{ stepId, approved, approvalHash, reason, by, at }];
      }),
    ],
    resolutions: [
      ...(folded?.resolutions ?? []),
      ...waiting.flatMap(({ event, by, at }) => {
        if (event.type !== "doubt.resolved") return [];
        const { key, attempt, resolution } = event;
        return [{ key, attempt, resolution, by, at }];
      }),
    ],
  };
}

/**
 * Heads of plans of any tenants, with the decisions of operators on their calls. Most plans have none and cost
 * no read.
 */
export function withDecisions(
  unitReads: Pick<UnitReads, "ofPlan">,
  heads: readonly StoredPlanHead[],
): Promise<PlanHead[]> {
  return Promise.all(
    heads.map(async (head) => {
      const hasDecisions = (head.decisionSeq ?? head.controlSeq) > 0;
      const read = hasDecisions ? await unitReads.ofPlan(head.tenant, head._id) : undefined;
      return { ...head, ...givenDecisions(head, read?.plan) };
    }),
  );
}
