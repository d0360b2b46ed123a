/**
 * A control never competes with the owner of a plan (J6): it is one update of the plan's document, durable
 * when it is answered, and the owner puts it into its next entry before anything else.
 *
 * 1. Only a plan that was started and has not ended by its document takes controls. One that comes while the
 *    owner writes its last entry is settled by the rules of ended plans (`settleLateControls`).
 * 2. Controls are numbered: an executor applies each once, in their order, also after a crash.
 * 3. A plan that no executor holds becomes due, so that one claims it and gets its controls with the claim.
 */
import type { ControlEvent, EventOf } from "@planwright/engine";
import { type PlanId, STARTED_PLAN_STATUSES } from "@planwright/plan";
import { BSON, type Document } from "mongodb";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { PlanUnits } from "../journal/unit-reads.ts";
import { CONTROLS, type GivenDecisions, givenDecisions } from "../plans/plan-needs.ts";
import { TooManyControlsError } from "../records/errors.ts";
import {
  MAX_CONTROL_BYTES,
  MAX_CONTROLS,
  type PlanDocument,
  type UndecidedUnit,
} from "../records/plan-document.ts";

/** Expression: no executor holds the plan. */
export const IS_FREE = { $eq: ["$lease", null] };

/** Expression: the number of a plan's control after that many new ones. */
const after = (count: number) => ({ $add: ["$controlSeq", count] });

/** Expressions that add controls to a plan's document. */
export function withControls(
  events: readonly ControlEvent[],
  by: string,
  at: "$$NOW" | Date,
): { controlSeq: Document; controls: Document } {
  const added = events.map((event, index) => ({
    id: after(index + 1),
    event: { $literal: event },
    by: { $literal: by },
    at,
  }));
  return { controlSeq: after(events.length), controls: { $concatArrays: [CONTROLS, added] } };
}

/** Controls that are asked for together: the owner takes all of them, in this order, or none. */
interface NewControls {
  events: readonly ControlEvent[];
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

/**
 * Adds controls to plans' documents, over grouped writes: one whose answer was lost is recognized. Gives the plan with
 * the control; null when the plan is not open, is of another tenant, or the condition does not hold.
 * @throws {StoreUnavailableError | TooManyControlsError}
 */
export async function askControl(
  { collections, group }: StoreDependencies,
  tenant: string,
  planId: PlanId,
  { events, by, condition, change }: NewControls,
): Promise<PlanDocument | null> {
  const addedBytes = BSON.calculateObjectSize({ events }, { ignoreUndefined: true });
  const hasRoom = {
    $and: [
      { $lte: [{ $size: CONTROLS }, MAX_CONTROLS - events.length] },
      { $lte: [{ $bsonSize: { controls: CONTROLS } }, MAX_CONTROL_BYTES - addedBytes] },
    ],
  };
  const open = { tenant, status: { $in: STARTED_PLAN_STATUSES }, finishedAt: null, ...condition };
  const isCancel = events.some(({ type }) => type === "cancel.asked");
  const asked = await group.writeAndRead({
    collection: "plans",
    id: planId,
    // There is at most one cancel: it always finds room.
    condition: isCancel ? open : { ...open, $expr: hasRoom },
    expressions: {
      dueAt: { $cond: [IS_FREE, "$$NOW", "$dueAt"] },
      updatedAt: "$$NOW",
      ...change,
      ...withControls(events, by, "$$NOW"),
    },
  });
  if (asked) return asked;
  const isFull = { _id: planId, ...open, $expr: { $not: [hasRoom] } };
  if (!isCancel && (await collections.plans.findOne(isFull)))
    throw new TooManyControlsError({ planId, max: MAX_CONTROLS, maxBytes: MAX_CONTROL_BYTES });
  return null;
}

/** A decision of an operator about a call. */
type DecisionEvent = EventOf<"approval.given" | "doubt.resolved">;

/** What a decision of an operator is judged by. */
export interface DecisionState {
  plan: PlanDocument;
  read: PlanUnits;
  given: GivenDecisions;
}

/** Decisions that are asked for, or the answer why they are not. */
export type Decided<Answer> = readonly DecisionEvent[] | Answer;

/** Decisions of an operator that a caller asks for together. */
interface AskedDecisions<Answer> {
  tenant: string;
  planId: PlanId;
  by: string;
  /** The decisions, if each is about one of these units, which wait for one. */
  about: (units: readonly UndecidedUnit[]) => readonly DecisionEvent[] | undefined;
  decide: (now: DecisionState) => Decided<Answer>;
}

/** The fields that say which units wait for a decision. */
const DECISION_HEAD = {
  status: 1,
  finishedAt: 1,
  cancelRequestedAt: 1,
  undecided: 1,
  controls: 1,
  controlSeq: 1,
} as const;
type DecisionHead = Pick<PlanDocument, keyof typeof DECISION_HEAD>;

/**
 * The units that wait for a decision by the document of their plan; none if only the journal can say it:
 * after a cancel, and when controls were removed that `undecided` does not take into account. Pure.
 */
function waitingUnits(head: DecisionHead): UndecidedUnit[] {
  const { undecided, controls = [], controlSeq } = head;
  if (!undecided || !isOpen(head) || head.cancelRequestedAt !== null) return [];
  const later = controls.filter(({ id }) => id > undecided.controlSeq).map(({ event }) => event);
  if (undecided.controlSeq + later.length !== controlSeq) return [];
  const isDecided = (unit: UndecidedUnit): boolean =>
    later.some((event) =>
      "attempt" in unit
        ? event.type === "doubt.resolved" && event.key === unit.key
        : event.type === "approval.given" && event.stepId === unit.key,
    );
  return undecided.units.filter((unit) => !isDecided(unit));
}

/**
 * Decisions of operators: all of a call, or none. Those about units that wait for one by the plan's document are
 * accepted by that alone; any others are judged by the units as this process has folded them, which may take a second for a long
 * journal. The owner of the plan applies one only if the call still waits for exactly this decision. Gives undefined for
 * an unknown plan, for one that is being removed, and for another tenant's.
 * @throws {StoreUnavailableError | TooManyControlsError}
 */
export async function askDecision<Answer>(
  context: StoreDependencies,
  { tenant, planId, by, about, decide }: AskedDecisions<Answer>,
): Promise<{ type: "asked"; plan: PlanDocument } | Answer | undefined> {
  const { plans } = context.collections;
  /** Of two decisions at once the second is judged again. */
  const ask = (events: readonly DecisionEvent[], { controlSeq }: Pick<PlanDocument, "controlSeq">) => {
    const change = { decisionSeq: after(events.length) };
    return askControl(context, tenant, planId, { events, by, condition: { controlSeq }, change });
  };
  for (;;) {
    const head = await plans.findOne<DecisionHead>({ _id: planId, tenant }, { projection: DECISION_HEAD });
    const events = head ? about(waitingUnits(head)) : undefined;
    if (head && events) {
      const plan = await ask(events, head);
      if (plan) return { type: "asked", plan };
      continue;
    }
    // In this order: a control leaves the document after it is in the journal.
    const plan = await plans.findOne({ _id: planId, tenant });
    const read = plan && (await context.unitReads.ofPlan(tenant, planId));
    if (!plan || !read || read.request.isRemoved) return undefined;
    const decided = decide({ plan, read, given: givenDecisions(plan, read.plan) });
    if (!Array.isArray(decided)) return decided as Answer;
    const asked = await ask(decided, plan);
    if (asked) return { type: "asked", plan: asked };
  }
}
