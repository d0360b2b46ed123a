/**
 * Reading is folding (DESIGN §6, J5): entries in, the state that they say out. Pure, and total over the list
 * of events.
 *
 * 1. Folding some entries and then the rest gives what folding all of them gives.
 * 2. A state that was given away never changes: folding on makes a new one.
 * 3. A move that the lifecycle tables do not have, and a gap between entries, is an error: nothing is
 *    guessed.
 */
import {
  canMove,
  isTerminalPlanStatus,
  PLAN_LIFECYCLE,
  type PlanStatus,
  UNHELD_PLAN_STATUSES,
  UNSTARTED_PLAN_STATUSES,
} from "@planwright/plan";
import { JournalInvalidError } from "./errors.ts";
import type { EventPlace } from "./event-place.ts";
import type { EventOf, JournalEntry, JournalEvent } from "./events.ts";
import { endAttempt, startAttempt } from "./fold-attempts.ts";
import {
  endPlanning,
  foldPlanning,
  isPlanningEvent,
  NO_PLANNING,
  type PlanningEvent,
} from "./fold-planning.ts";
import { carryUnits, changeUnit, expandItems } from "./fold-units.ts";
import type { FoldedPlan, FoldedRequest } from "./folded.ts";

/** A request of which nothing was told yet. */
export function emptyRequest(requestId: string): FoldedRequest {
  return { requestId, seq: 0, at: null, owner: null, epoch: 0, plans: new Map(), planning: NO_PLANNING };
}

/**
 * The state after these entries, which follow the state without a gap. O(events + units).
 * @throws {JournalInvalidError}
 */
export function fold(before: FoldedRequest, entries: readonly JournalEntry[]): FoldedRequest {
  if (entries.length === 0) return before;
  const plans = new Map([...before.plans].map(([id, plan]) => [id, copyOf(plan)]));
  const request: FoldedRequest = { ...before, plans };
  advance(request, entries);
  return request;
}

/**
 * {@link fold} for a state of which the caller is the only holder: it is changed. O(events). After an error
 * it is of no use any more.
 * @throws {JournalInvalidError}
 */
export function advance(request: FoldedRequest, entries: readonly JournalEntry[]): void {
  for (const entry of entries) {
    const invalid = (reason: string): JournalInvalidError =>
      new JournalInvalidError({ requestId: entry.requestId, seq: entry.seq, reason });
    if (entry.requestId !== request.requestId) throw invalid(`it was read for ${request.requestId}`);
    if (entry.seq !== request.seq + 1) throw invalid(`entry ${request.seq + 1} was to follow`);
    if (entry.epoch !== undefined && entry.epoch < request.epoch)
      throw invalid(`epoch ${entry.epoch} wrote it, which epoch ${request.epoch} had replaced`);
    const at: EventPlace = { request, entry, plan: () => planOf(at), invalid };
    for (const event of entry.events) {
      if (isPlanningEvent(event)) {
        foldPlanning(at, event);
        continue;
      }
      requireOpen(at, event);
      apply(at, event);
    }
    if (entry.epoch !== undefined && entry.epoch !== request.epoch)
      throw invalid(`epoch ${entry.epoch} wrote it, which took no lease`);
    request.seq = entry.seq;
    request.at = entry.at;
  }
}

/** What happens to plans. */
type PlanEvent = Exclude<JournalEvent, PlanningEvent>;

/**
 * After the end of a plan an operator may still settle a doubt, and another version may follow; no other
 * event of a plan is valid.
 */
function requireOpen({ request, entry, invalid }: EventPlace, event: PlanEvent): void {
  const plan = request.plans.get(entry.planId);
  if (!plan || !isTerminalPlanStatus(plan.status)) return;
  if (event.type === "plan.stored" || (event.type === "step.changed" && event.resolvedBy)) return;
  throw invalid(`${plan.planId} ended as ${plan.status}, and ${event.type} is told of it`);
}

function copyOf(plan: FoldedPlan): FoldedPlan {
  const { units, approvals, resolutions } = plan;
  return {
    ...plan,
    units: new Map(units),
    approvals: [...approvals],
    resolutions: [...resolutions],
  };
}

/**
 * The version that an entry is about. The first one was accepted before there was an entry, where no planner
 * made it.
 */
function planOf({ request, entry, invalid }: EventPlace): FoldedPlan {
  const plan = request.plans.get(entry.planId);
  if (plan) return plan;
  const isPlanned = request.planning.epoch > 0;
  if (request.plans.size > 0 || isPlanned) throw invalid(`${entry.planId} was not stored before`);
  const first = newPlan({ planId: entry.planId, version: 1, units: new Map() });
  request.plans.set(entry.planId, first);
  return first;
}

function apply(place: EventPlace, event: PlanEvent): void {
  const { request, entry } = place;
  const { at } = entry;
  switch (event.type) {
    case "plan.stored":
      storePlan(place, event);
      return;
    case "execution.asked":
      move(place, "QUEUED");
      place.plan().queuedAt ??= at;
      return;
    case "lease.taken":
      takeLease(place, event);
      return;
    case "lease.released":
      release(place, event);
      return;
    case "attempt.started":
      startAttempt(place, event);
      return;
    case "attempt.ended":
      endAttempt(place, event);
      return;
    case "items.expanded":
      expandItems(place, event);
      return;
    case "step.changed":
      changeUnit(place, event);
      return;
    case "approval.given":
    case "doubt.resolved":
    case "cancel.asked":
    case "pause.asked":
    case "resume.asked":
      place.plan().controlSeq = entry.seq;
      control(place, event);
      return;
    case "plan.ended": {
      move(place, event.status);
      request.owner = null;
      Object.assign(place.plan(), {
        outputs: event.outputs ?? null,
        error: event.error,
        finishedAt: at,
        endedSeq: entry.seq,
        dueAt: null,
        waitReason: null,
      });
      return;
    }
  }
}

function control(
  place: EventPlace,
  event: EventOf<"approval.given" | "doubt.resolved" | "cancel.asked" | "pause.asked" | "resume.asked">,
): void {
  const { request, entry } = place;
  const { at, by } = entry;
  const plan = place.plan();
  switch (event.type) {
    case "approval.given": {
      const { type: _, ...said } = event;
      plan.approvals.push({ ...said, by: by.id, at });
      return;
    }
    case "doubt.resolved": {
      const { key, attempt, resolution } = event;
      plan.resolutions.push({ key, attempt, resolution, by: by.id, at });
      return;
    }
    case "cancel.asked":
      plan.cancelAskedAt ??= at;
      if (plan.status !== "CANCELLING") move(place, "CANCELLING");
      return;
    case "pause.asked":
      plan.pauseAskedAt ??= at;
      // A plan that is worked on is paused once its calls have ended: its owner says so.
      if (request.owner === null && plan.status !== "PAUSED") move(place, "PAUSED");
      return;
    case "resume.asked":
      plan.pauseAskedAt = null;
      if (plan.status === "PAUSED") move(place, request.owner === null ? "QUEUED" : "RUNNING");
      return;
  }
}

function storePlan(place: EventPlace, event: EventOf<"plan.stored">): void {
  const { request, entry, invalid } = place;
  const { planId, version, isValid } = event;
  if (request.plans.has(planId)) throw invalid(`${planId} was stored before`);
  const previous = [...request.plans.values()].at(-1);
  // Of versions before the first that is told nothing was called.
  if (previous && version !== previous.version + 1)
    throw invalid(`version ${version} follows ${previous.version}`);
  if (planId !== entry.planId) throw invalid(`it is about ${entry.planId}, and stores ${planId}`);
  if (previous) supersede(place, previous);
  endPlanning(place, event);
  const plan = newPlan({ planId, version, units: carryUnits(place, previous, event) });
  request.plans.set(planId, isValid ? plan : { ...plan, status: "INVALID", finishedAt: entry.at });
}

/** A version that another one follows has ended, or was not started and never will be. */
function supersede({ request, entry, invalid }: EventPlace, previous: FoldedPlan): void {
  if (isTerminalPlanStatus(previous.status)) return;
  if (!canMove(PLAN_LIFECYCLE, previous.status, "SUPERSEDED"))
    throw invalid(`${previous.planId} is ${previous.status}, and another version follows`);
  const ended = { status: "SUPERSEDED" as const, finishedAt: entry.at, endedSeq: entry.seq };
  request.plans.set(previous.planId, { ...previous, ...ended });
}

function newPlan(of: Pick<FoldedPlan, "planId" | "version" | "units">): FoldedPlan {
  return {
    ...of,
    status: "READY",
    waitReason: null,
    dueAt: null,
    approvals: [],
    resolutions: [],
    controlSeq: 0,
    cancelAskedAt: null,
    pauseAskedAt: null,
    outputs: null,
    error: null,
    queuedAt: null,
    startedAt: null,
    finishedAt: null,
    endedSeq: null,
  };
}

function takeLease(place: EventPlace, { worker, epoch }: EventOf<"lease.taken">): void {
  const { request, entry, invalid } = place;
  if (epoch <= request.epoch) throw invalid(`epoch ${epoch} follows epoch ${request.epoch}`);
  const plan = place.plan();
  // That its execution was asked for is on the plan itself, which the claim has seen.
  request.epoch = epoch;
  request.owner = { worker, epoch };
  if (UNSTARTED_PLAN_STATUSES.includes(plan.status)) move(place, "QUEUED");
  if (UNHELD_PLAN_STATUSES.includes(plan.status)) move(place, "RUNNING");
  Object.assign(plan, { waitReason: null, dueAt: null, startedAt: plan.startedAt ?? entry.at });
}

function release(place: EventPlace, { status, waitReason, dueAt }: EventOf<"lease.released">): void {
  const { request, invalid } = place;
  if (request.owner === null) throw invalid("no worker held it");
  request.owner = null;
  const plan = place.plan();
  // What was asked for while it was being released holds.
  const isPaused = plan.status === "PAUSED" && plan.pauseAskedAt !== null;
  const isResumed = status === "PAUSED" && plan.pauseAskedAt === null;
  const next = isPaused ? "PAUSED" : isResumed ? "QUEUED" : status;
  if (plan.status !== "CANCELLING" && plan.status !== next) move(place, next);
  Object.assign(plan, next === "QUEUED" ? { waitReason: null, dueAt: null } : { waitReason, dueAt });
}

function move({ plan, invalid }: EventPlace, to: PlanStatus): void {
  const { planId, status } = plan();
  if (!canMove(PLAN_LIFECYCLE, status, to))
    throw invalid(`${planId} was ${status}, which never becomes ${to}`);
  plan().status = to;
}
