import { type ControlEvent, type FoldedPlan, type FoldedUnit, hasFailedActing } from "@planwright/engine";
import { isToApprove, isToSettle, needsPerson, STEP_LIFECYCLE, type StepStatus } from "@planwright/plan";
import type { Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { IN_ONE_BATCH } from "../database/read-lists.ts";
import type { UnitReads } from "../journal/unit-reads.ts";
import { PLAN_HEAD, type PlanHead, type StoredPlanHead } from "../records/document-heads.ts";
import {
  type AskedControl,
  MAX_UNDECIDED,
  type PlanApproval,
  type PlanDocument,
  type UndecidedUnit,
  type UnitResolution,
} from "../records/plan-document.ts";

type Needs = NonNullable<PlanDocument["needs"]>;

/** What a plan needs from a person, by the states of its units. Sorted. Pure. */
export function needsOf(units: Iterable<Pick<FoldedUnit, "status">>): Needs {
  const needs = new Set<Needs[number]>();
  for (const { status } of units) addNeed(needs, status);
  return [...needs].toSorted();
}

function addNeed(needs: Set<Needs[number]>, status: StepStatus): void {
  const need = STEP_LIFECYCLE[status].needs;
  if (needsPerson(need)) needs.add(need as Needs[number]);
}

/**
 * What the document of a plan says about its units, in one pass: there may be 10,000. Pure.
 * @param plan - with the decisions. Default: nothing is undecided
 */
export function summaryOf(units: Iterable<FoldedUnit>, plan?: FoldedPlan) {
  const needs = new Set<Needs[number]>();
  const undecided: UndecidedUnit[] = [];
  let approvalUntil: Date | null = null;
  let items = 0;
  let mayHaveActed = 0;
  for (const unit of units) {
    const { status, expiresAt, item } = unit;
    addNeed(needs, status);
    if (expiresAt && (!approvalUntil || expiresAt < approvalUntil)) approvalUntil = expiresAt;
    if (item !== undefined) items += 1;
    if (hasFailedActing(unit)) mayHaveActed += 1;
    const one = plan && undecided.length < MAX_UNDECIDED && toUndecided(plan, unit);
    if (one) undecided.push(one);
  }
  return {
    needs: [...needs].toSorted(),
    /** When the first approval that units wait for expires; null without one. */
    approvalUntil,
    items,
    /** Units that failed or were cancelled after a call that acted or may have acted, without doubts. */
    mayHaveActed,
    /** The units about which an operator may decide, without those that were decided. */
    undecided,
  };
}

function toUndecided(
  { units, approvals, resolutions }: FoldedPlan,
  unit: FoldedUnit,
): UndecidedUnit | undefined {
  const { key, stepId, approvalHash, attempts } = unit;
  if (approvalHash !== null && isToApprove(stepId, unit, approvals)) return { key, approvalHash };
  // The output of a completed list says in_doubt for its items: they are settled after the end of the plan.
  if (units.get(stepId)?.status === "COMPLETED" || !isToSettle(unit, resolutions)) return undefined;
  return { key, attempt: attempts.length };
}

/** The fields of a plan about its needs. Pure. @param now - null: not known */
export function needsFields(
  before: Pick<PlanDocument, "needs" | "needsSince">,
  needs: Needs,
  now: Date | null,
): Required<Pick<PlanDocument, "needs" | "needsSince">> {
  if (needs.length === 0) return { needs, needsSince: null };
  // A plan of an earlier version may have needs without a time.
  return { needs, needsSince: (before.needs ?? []).length > 0 ? (before.needsSince ?? null) : now };
}

/*
 * Controls in the document of their plan: from the answer to their client until they are in the journal
 * (docs/architecture.md, J6).
 */

/** Expression: the controls of a plan. */
export const CONTROLS = { $ifNull: ["$controls", []] };

/** Filter: a plan with controls. */
export const HAS_CONTROLS = { controls: { $elemMatch: { id: { $gt: 0 } } } };

/** Expression: the controls after one of them. */
export function controlsAfter(id: number): Document {
  return { $filter: { input: CONTROLS, cond: { $gt: ["$$this.id", id] } } };
}

/** The event of a control in an entry that is not its client's. Pure. */
export function askedEvent({ event, ...asked }: AskedControl): ControlEvent {
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
  const isNew = ({ id }: AskedControl): boolean => id > (folded?.controlSeq ?? 0);
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

/** The heads of plans, in this order; by default in any. One read, and one for each plan with decisions of operators. */
export async function readPlanHeads(
  { plans }: Pick<Collections, "plans">,
  unitReads: UnitReads,
  match: Document,
  sort?: Document,
): Promise<PlanHead[]> {
  const stages = [{ $match: match }, ...(sort ? [{ $sort: sort }] : []), ...PLAN_HEAD];
  return withDecisions(unitReads, await plans.aggregate<StoredPlanHead>(stages, IN_ONE_BATCH).toArray());
}

/** Heads of plans with the decisions of operators on their calls. Most have none and cost no read. */
export function withDecisions(unitReads: UnitReads, heads: readonly StoredPlanHead[]): Promise<PlanHead[]> {
  return Promise.all(
    heads.map(async (head) => {
      const hasDecisions = (head.decisionSeq ?? head.controlSeq) > 0;
      const read = hasDecisions ? await unitReads.ofPlan(head.tenant, head._id) : undefined;
      return { ...head, ...givenDecisions(head, read?.plan) };
    }),
  );
}
