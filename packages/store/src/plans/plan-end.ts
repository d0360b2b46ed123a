/**
 * The end of a plan. The entry `plan.ended` is the commit point: from then on the plan has ended, whichever
 * executor holds its lease. The documents of the plan and the request follow. After a crash in between, the
 * next claim of the plan writes both (J4).
 */
import {
  type EventOf,
  type FoldedPlan,
  type FoldedUnit,
  type JournalEvent,
  MAX_END_BYTES,
  toEventError,
  waitedForPeopleMs,
} from "@planwright/engine";
import {
  hasPlanFailed,
  hasPlanResults,
  type JsonObject,
  type RequestId,
  type RequestStatus,
  STARTED_REQUEST_STATUSES,
  type StepStatus,
} from "@planwright/plan";
import { BSON, type Document } from "mongodb";
import { type Journal, MAX_ENTRY_BYTES } from "../journal/journal.ts";
import { isPlain, keptError } from "../journal/outputs.ts";
import type { GroupSet, GroupUpdate } from "../journal/pending-write.ts";
import { dueAtOnce } from "../records/new-documents.ts";
import type { FinishCommand, PlanDocument, PlanFollowUp } from "../records/plan-document.ts";
import type { PlanningWork } from "../records/request-document.ts";
import { controlsAfter, needsFields, summaryOf } from "./plan-needs.ts";

/** An error as it is stored in documents. */
function withoutBytes<WithBytes extends { dataBytes?: number | undefined }>(
  error: WithBytes,
): Omit<WithBytes, "dataBytes"> {
  const { dataBytes: _, ...kept } = error;
  return kept;
}

/** The event that ends a plan. Pure. */
export function endEvent({ status, outputs, error }: FinishCommand): EndEvent {
  return {
    type: "plan.ended",
    status,
    outputs: outputs && fitsInEntry(outputs) ? outputs : null,
    error: error ? toEventError(keptError(error)) : null,
  };
}

type EndEvent = EventOf<"plan.ended"> & Pick<FinishCommand, "status">;

/** A plan that has ended. */
export interface EndedPlan {
  end: EndEvent;
  /** Its state after that event. */
  folded: FoldedPlan | undefined;
  /** Number of the latest control with which nothing is left to do. Default: the latest in the journal. */
  settledSeq?: number;
}

/**
 * The end of a plan, read from the journal; undefined for a plan that has not ended. The documents may not
 * have it yet.
 * @throws {StoreUnavailableError}
 */
export async function readEnd(
  journal: Pick<Journal, "read">,
  requestId: RequestId,
  folded: FoldedPlan | undefined,
): Promise<EndedPlan | undefined> {
  if (!folded || folded.endedSeq === null) return undefined;
  const [entry] = await journal.read(requestId, folded.endedSeq - 1);
  const end = entry?.events.find(isEnd);
  return end && { end, folded };
}

function requestAfter({ followUp, updatedAt }: PlanDocument, { end, folded }: EndedPlan): Document {
  const { cancelAskedAt: cancelRequestedAt = null, finishedAt } = folded ?? {};
  const kept = { status: end.status, ...(end.error && { error: withoutBytes(end.error) }) };
  return requestAfterPlan({ followUp, cancelRequestedAt }, kept, finishedAt ?? updatedAt);
}

/**
 * The writes that follow from the end of a plan: to its document, then to the request's document. They change
 * nothing when they are repeated, or when the request has changed since. Pure.
 */
export function endWrites(document: PlanDocument, ended: EndedPlan): [GroupUpdate, GroupSet] {
  const { _id, requestId, plan, epoch, needs: before = [], mayHaveActed: actedBefore = 0 } = document;
  const { end, folded, settledSeq = folded?.controlSeq ?? 0 } = ended;
  const { status, outputs, error } = end;
  const { units = new Map<string, FoldedUnit>(), finishedAt = null } = folded ?? {};
  const { needs, mayHaveActed } = summaryOf(units.values());
  const late = controlsAfter(settledSeq);
  const expressions: Document = {
    status,
    // Controls that came too late are settled by the executor that takes the plan next.
    controls: late,
    dueAt: { $cond: [{ $gt: [{ $size: late }, 0] }, "$$NOW", null] },
    waitReason: null,
    counts: { $literal: countSteps(plan?.steps ?? [], units) },
    // An empty list would put every ended plan into the index of plans that need a person.
    ...((needs.length > 0 || before.length > 0) && needsFields(document, needs, finishedAt)),
    ...((mayHaveActed > 0 || actedBefore > 0) && { mayHaveActed }),
    ...(epoch > 1 && folded && finishedAt && { waitedForPeopleMs: waitedForPeopleMs(folded, finishedAt) }),
    outputs: { $literal: outputs },
    error: { $literal: error && withoutBytes(error) },
    lease: null,
    finishedAt,
    updatedAt: "$$NOW",
  };
  return [
    // Not fenced by the lease: the journal says that the plan has ended.
    { collection: "plans", id: _id, condition: { finishedAt: null }, expressions },
    {
      collection: "requests",
      id: requestId,
      condition: { planId: _id, status: { $in: STARTED_REQUEST_STATUSES } },
      set: requestAfter(document, ended),
    },
  ];
}

/** True when the request waits for a planner after this end of its plan. Pure. */
export function isForPlanner(plan: PlanDocument, ended: EndedPlan): boolean {
  return requestAfter(plan, ended)["dueAt"] !== undefined;
}

function isEnd(event: JournalEvent): event is EndEvent {
  return event.type === "plan.ended" && isPlanEnd(event.status);
}

/**
 * True for outputs that the last event can have. They may be longer than the longest string, so one is measured after
 * the other. Short numbers in lists take six times as many bytes in MongoDB as in JSON; the rest of an entry is for
 * the error.
 */
function fitsInEntry(outputs: JsonObject): boolean {
  let room = MAX_END_BYTES;
  for (const [name, output] of Object.entries(outputs)) {
    room -= Buffer.byteLength(name) + Buffer.byteLength(JSON.stringify(output));
    if (room < 0) return false;
  }
  return isPlain(outputs) && BSON.calculateObjectSize(outputs) <= MAX_ENTRY_BYTES / 2;
}

/** Steps by status; items of a forEach are part of their step. Pure. @param units - default: no unit has events */
export function countSteps(
  steps: readonly { id: string }[],
  units: ReadonlyMap<string, Pick<FoldedUnit, "status">> = new Map(),
): { [status in StepStatus]?: number } {
  const counts: { [status in StepStatus]?: number } = {};
  for (const { id } of steps) {
    const status = units.get(id)?.status ?? "PENDING";
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

/** The status of a request after the end of its plan. */
export const REQUEST_STATUS: Record<FinishCommand["status"], RequestStatus> = {
  COMPLETED: "COMPLETED",
  PARTIAL: "PARTIAL",
  FAILED: "FAILED",
  EXPIRED: "FAILED",
  CANCELLED: "CANCELLED",
};

/** True for a status in which a plan that ran can end. */
export function isPlanEnd(status: string): status is FinishCommand["status"] {
  return Object.hasOwn(REQUEST_STATUS, status);
}

/**
 * Changes of a request by the end of its plan: the status, and the next work of a planner. It is one write,
 * so that the status never changes without that work. A plan that was to be cancelled is not replanned, even
 * if it ended in another status. Pure.
 * @param updatedAt - the time of that end
 */
export function requestAfterPlan(
  {
    followUp,
    cancelRequestedAt,
  }: { followUp?: PlanFollowUp | null | undefined; cancelRequestedAt: Date | null },
  { status, error }: Pick<FinishCommand, "status" | "error">,
  updatedAt: Date,
): Document {
  const ended = { status: REQUEST_STATUS[status], updatedAt };
  if (!followUp) return ended;
  // A POISONED plan, which killed five executors, is not replanned: the new plan could kill a sixth.
  const mayReplan = hasPlanFailed(status) && error?.code !== "POISONED" && cancelRequestedAt === null;
  if (mayReplan && followUp.replans < followUp.maxReplans) {
    const replan = { note: null, execute: true };
    const made = { "replans.made": followUp.replans + 1 };
    return { ...parkedFor("replan", updatedAt), ...made, status: "PLANNING", replan, updatedAt };
  }
  if (!followUp.answer) return ended;
  if (hasPlanResults(status)) return { ...parkedFor("answer", updatedAt), ...ended };
  const answerError = {
    code: "PLAN_NOT_COMPLETED",
    message: `The plan is ${status}, so there are no results to describe`,
  };
  return { ...ended, answerError };
}

/** Fields that make a request due for any planner: writes of an earlier planner do not match any more. */
export function parkedFor(work: PlanningWork, now: Date): Document {
  return {
    lease: null,
    dueAt: dueAtOnce(now),
    claims: 0,
    "planning.claimsOfWork": 0,
    "planning.work": work,
    "planning.wait": null,
    ...(work !== "answer" && {
      "planning.startedAt": null,
      "planning.finishedAt": null,
      error: null,
      diagnostics: [],
    }),
    answer: null,
    answerError: null,
  };
}
