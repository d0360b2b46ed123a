/**
 * The end of a plan. The entry `plan.ended` is the commit point: from then on the plan has ended, whichever executor holds its lease. Its
 * document and its request's follow; after a crash in between the next claim of the plan writes both (J4).
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
import type { FinishCommand, PlanDocument } from "../documents.ts";
import type { Journal } from "../journal/journal.ts";
import { withoutBytes } from "../journal/plan-units.ts";
import { isPlain } from "../outputs/inline-value.ts";
import { PLANNING_DUE } from "../planning/parked-for.ts";
import type { ExecutionContext } from "./context.ts";
import { needsOf } from "./plan-needs.ts";
import { isPlanEnd, requestAfterPlan } from "./request-after-plan.ts";
import { keptError } from "./turns.ts";

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

/** How a plan ended whose end its predecessor told, perhaps in the journal alone; undefined for one that goes on. @throws {StoreUnavailableError} */
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

/**
 * Has the plan's document and its request's say that the plan has ended: the request never before the plan. Done again it changes nothing.
 * @returns whether the request waits for a planner by it
 */
export async function tellEnd(
  { group }: Pick<ExecutionContext, "group">,
  { _id, requestId, plan, followUp, needs: before = [] }: PlanDocument,
  { status, units, outputs, error, finishedAt }: EndedPlan,
): Promise<boolean> {
  const told = error && withoutBytes(error);
  const needs = needsOf(units.values());
  const change = requestAfterPlan(followUp, { status, ...(told && { error: told }) });
  const [, isChanged] = await group.setInOrder(
    {
      collection: "plans",
      id: _id,
      // Not fenced by the lease: the journal says that the plan has ended.
      condition: { finishedAt: null },
      set: {
        status,
        dueAt: null,
        waitReason: null,
        counts: countSteps(plan?.steps ?? [], units),
        // An empty list would stand in the index of what people have to look at, for every plan that ever ended.
        ...((needs.length > 0 || before.length > 0) && { needs }),
        outputs,
        error: told,
        lease: null,
        finishedAt,
      },
      stamps: ["updatedAt"],
    },
    {
      collection: "requests",
      id: requestId,
      // Not when that was done already and the request has gone on since.
      condition: { planId: _id, status: { $in: STARTED_REQUEST_STATUSES } },
      ...change,
    },
  );
  return isChanged && change.stamps.includes(PLANNING_DUE);
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
