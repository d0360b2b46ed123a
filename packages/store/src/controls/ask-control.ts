/**
 * A control never competes with the owner of a plan (J6): it is one update of the plan's document, durable
 * when it is answered, and the owner puts it into its next entry before anything else.
 *
 * 1. Only a plan that was started and has not ended by its document takes controls. One that comes while the
 *    owner writes its last entry is settled by the rules of ended plans (`late-controls.ts`).
 * 2. Controls are numbered: an executor applies each once, in their order, also after a crash.
 * 3. A plan that no executor holds becomes due, so that one claims it and gets its controls with the claim.
 */
import type { ControlEvent, EventOf } from "@planwright/engine";
import { type PlanId, STARTED_PLAN_STATUSES } from "@planwright/plan";
import type { Document } from "mongodb";
import { CONTROLS, type GivenDecisions, givenDecisions } from "../heads/pending-controls.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { PlanUnits } from "../journal/unit-reads.ts";
import { TooManyControlsError } from "../records/errors.ts";
import { MAX_CONTROLS, type PlanDocument } from "../records/plan-document.ts";

/** Expression: no executor holds the plan. */
export const IS_FREE = { $eq: ["$lease", null] };

/** Expression: the number of a plan's next control. */
const NEXT = { $add: ["$controlSeq", 1] };

/** A control to ask for. */
export interface NewControl {
  event: ControlEvent;
  by: string;
  /** What must hold for the plan, in addition to being open. */
  condition: Document;
  /** Fields of the plan's document that change, as expressions. */
  change: Document;
}

/** True for a plan that takes controls. */
export function isOpen({ status, finishedAt }: Pick<PlanDocument, "status" | "finishedAt">): boolean {
  return STARTED_PLAN_STATUSES.includes(status) && finishedAt === null;
}

/** Adds a control to a plan's document. */
export interface AskControl {
  /**
   * The plan with the control; null when the plan is not open, is of another tenant, or the condition does not
   * hold.
   * @throws {StoreUnavailableError | TooManyControlsError}
   */
  (tenant: string, planId: PlanId, control: NewControl): Promise<PlanDocument | null>;
}

/** Controls over grouped writes: one whose answer was lost is recognized. */
export function createAskControl({
  collections,
  group,
}: Pick<StoreDependencies, "collections" | "group">): AskControl {
  return async (tenant, planId, { event, by, condition, change }) => {
    const hasRoom = { $lt: [{ $size: CONTROLS }, MAX_CONTROLS] };
    const open = { tenant, status: { $in: STARTED_PLAN_STATUSES }, finishedAt: null, ...condition };
    const control = { id: NEXT, event: { $literal: event }, by: { $literal: by }, at: "$$NOW" };
    const asked = await group.updateAndRead({
      collection: "plans",
      id: planId,
      // There is at most one cancel: it always finds room.
      condition: event.type === "cancel.asked" ? open : { ...open, $expr: hasRoom },
      expressions: {
        dueAt: { $cond: [IS_FREE, "$$NOW", "$dueAt"] },
        updatedAt: "$$NOW",
        ...change,
        controlSeq: NEXT,
        controls: { $concatArrays: [CONTROLS, [control]] },
      },
    });
    if (asked) return asked;
    const isFull = { _id: planId, ...open, $expr: { $not: [hasRoom] } };
    if (event.type !== "cancel.asked" && (await collections.plans.findOne(isFull)))
      throw new TooManyControlsError({ planId, max: MAX_CONTROLS });
    return null;
  };
}

/** What a decision of an operator is judged by. */
export interface DecisionState {
  plan: PlanDocument;
  read: PlanUnits;
  given: GivenDecisions;
}

/** Asks for a decision of an operator, or answers why it is not asked. */
export interface AskDecision {
  /** Undefined for an unknown plan, for one that is being removed, and for another tenant's. @throws {StoreUnavailableError | TooManyControlsError} */
  <Answer>(
    tenant: string,
    planId: PlanId,
    by: string,
    decide: (
      now: DecisionState,
    ) =>
      | { type: "ask"; event: EventOf<"approval.given" | "doubt.resolved"> }
      | { type: "answer"; answer: Answer },
  ): Promise<{ type: "asked"; plan: PlanDocument } | Answer | undefined>;
}

/**
 * Decisions of operators. Each is judged by the units as this process has folded them; the owner of the plan
 * applies it only if the call still waits for exactly this decision.
 */
export function createAskDecision(
  { collections, unitReads }: Pick<StoreDependencies, "collections" | "unitReads">,
  askControl: AskControl,
): AskDecision {
  return async (tenant, planId, by, decide) => {
    for (;;) {
      // In this order: a control leaves the document after it is in the journal.
      const plan = await collections.plans.findOne({ _id: planId, tenant });
      const read = plan && (await unitReads.ofPlan(tenant, planId));
      if (!plan || !read || read.request.isRemoved) return undefined;
      const decided = decide({ plan, read, given: givenDecisions(plan, read.plan) });
      if (decided.type === "answer") return decided.answer;
      // Of two decisions at once the second is judged again.
      const condition = { controlSeq: plan.controlSeq };
      const change = { decisionSeq: NEXT };
      const asked = await askControl(tenant, planId, { event: decided.event, by, condition, change });
      if (asked) return { type: "asked", plan: asked };
    }
  };
}
