/**
 * The end of a plan. The entry `plan.ended` is the commit point: from then on the plan has ended, whichever
 * executor holds its lease. Its document and its request's follow; after a crash in between the next claim of
 * the plan writes both (J4).
 */
import {
  type EventOf,
  type FoldedPlan,
  type FoldedUnit,
  type JournalEvent,
  MAX_END_BYTES,
  toldError,
} from "@planwright/engine";
import { type JsonObject, type RequestId, STARTED_REQUEST_STATUSES, type StepStatus } from "@planwright/plan";
import type { Document } from "mongodb";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { Journal } from "../journal/journal.ts";
import { withoutBytes } from "../journal/plan-units.ts";
import type { Following } from "../journal/turn-log.ts";
import { isPlain } from "../outputs/inline-value.ts";
import { keptError } from "../outputs/kept-error.ts";
import type { FinishCommand, PlanDocument } from "../records/plan-document.ts";
import { PLANNING_DUE } from "./parked-for.ts";
import { needsOf } from "./plan-needs.ts";
import { isPlanEnd, type RequestChange, requestAfterPlan } from "./request-after-plan.ts";

/** The event by which a plan ends. Pure. */
export function endEvent({ status, outputs, error }: FinishCommand): EndEvent {
  return {
    type: "plan.ended",
    status,
    outputs: outputs && fitsInEntry(outputs) ? outputs : null,
    error: error ? toldError(keptError(error)) : null,
  };
}

type EndEvent = EventOf<"plan.ended"> & Pick<FinishCommand, "status">;

/** A plan that has ended. */
export interface EndedPlan extends Pick<EndEvent, "status" | "outputs" | "error"> {
  units: ReadonlyMap<string, FoldedUnit>;
  finishedAt: Date | null;
}

/** A plan that ended by this event, as the journal tells it behind that. Pure. */
export function endedBy({ status, outputs, error }: EndEvent, plan: FoldedPlan | undefined): EndedPlan {
  return { status, outputs, error, units: plan?.units ?? new Map(), finishedAt: plan?.finishedAt ?? null };
}

/**
 * How a plan ended whose end its predecessor told, perhaps in the journal alone; undefined for one that has
 * not ended.
 * @throws {StoreUnavailableError}
 */
export async function readEnd(
  journal: Pick<Journal, "read">,
  requestId: RequestId,
  plan: FoldedPlan | undefined,
): Promise<EndedPlan | undefined> {
  if (!plan || plan.endedSeq === null) return undefined;
  const [entry] = await journal.read(requestId, plan.endedSeq - 1);
  const event = entry?.events.find(isEnd);
  return event && endedBy(event, plan);
}

/** What the end of a plan changes: its document, and behind that its request's. */
interface EndWrites {
  plan: Document;
  /** Not when that was done already and the request has changed since. */
  ifStarted: Document;
  request: RequestChange;
}

/** Pure. */
function requestAfter({ followUp }: PlanDocument, { status, error }: EndedPlan): RequestChange {
  return requestAfterPlan(followUp, { status, ...(error && { error: withoutBytes(error) }) });
}

/** Pure. */
function writesOf(document: PlanDocument, ended: EndedPlan): EndWrites {
  const { _id, plan, needs: before = [] } = document;
  const { status, units, outputs, error, finishedAt } = ended;
  const needs = needsOf(units.values());
  return {
    plan: {
      status,
      dueAt: null,
      waitReason: null,
      counts: countSteps(plan?.steps ?? [], units),
      // An empty list would stand in the index of what people have to look at, for every plan that ever
      // ended.
      ...((needs.length > 0 || before.length > 0) && { needs }),
      outputs,
      error: error && withoutBytes(error),
      lease: null,
      finishedAt,
    },
    ifStarted: { planId: _id, status: { $in: STARTED_REQUEST_STATUSES } },
    request: requestAfter(document, ended),
  };
}

/** The end of a plan as what follows from its entry, where that is the command that tells it. Pure. */
export function followingEnd(plan: PlanDocument, ended: EndedPlan, at: Date): Following[] {
  const { plan: set, ifStarted, request } = writesOf(plan, ended);
  const stamps = Object.fromEntries(request.stamps.map((field) => [field, at]));
  return [
    { collection: "plans", filter: { _id: plan._id }, set: { ...set, updatedAt: at } },
    {
      collection: "requests",
      filter: { _id: plan.requestId, ...ifStarted },
      set: { ...request.set, ...stamps },
    },
  ];
}

/** Whether a request waits for a planner by the end of its plan. Pure. */
export function isForPlanner(plan: PlanDocument, ended: EndedPlan): boolean {
  return requestAfter(plan, ended).stamps.includes(PLANNING_DUE);
}

/**
 * Has the plan's document and its request's say that the plan has ended: the request never before the plan.
 * Done again it changes nothing.
 * @returns whether the request waits for a planner by it
 */
export async function tellEnd(
  { group }: Pick<StoreDependencies, "group">,
  plan: PlanDocument,
  ended: EndedPlan,
): Promise<boolean> {
  const writes = writesOf(plan, ended);
  const [, isChanged] = await group.setInOrder(
    {
      collection: "plans",
      id: plan._id,
      // Not fenced by the lease: the journal says that the plan has ended.
      condition: { finishedAt: null },
      set: writes.plan,
      stamps: ["updatedAt"],
    },
    { collection: "requests", id: plan.requestId, condition: writes.ifStarted, ...writes.request },
  );
  return isChanged && isForPlanner(plan, ended);
}

function isEnd(event: JournalEvent): event is EndEvent {
  return event.type === "plan.ended" && isPlanEnd(event.status);
}

/** One output after the other: all of them together may be more than one text can hold. */
function fitsInEntry(outputs: JsonObject): boolean {
  let room = MAX_END_BYTES;
  for (const [name, output] of Object.entries(outputs)) {
    room -= name.length + JSON.stringify(output).length;
    if (room < 0) return false;
  }
  return isPlain(outputs);
}

/** Steps by status; items of a forEach are part of their step. */
function countSteps(
  steps: readonly { id: string }[],
  units: ReadonlyMap<string, FoldedUnit>,
): { [status in StepStatus]?: number } {
  const counts: { [status in StepStatus]?: number } = {};
  for (const { id } of steps) {
    const status = units.get(id)?.status ?? "PENDING";
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
