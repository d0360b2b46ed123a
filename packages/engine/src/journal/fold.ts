/**
 * Computes the state of a request from its journal entries (docs/architecture.md, J5). Pure, and handles every event
 * type.
 *
 * 1. Folding some entries and then the rest gives the same state as folding all of them.
 * 2. A returned state never changes: further folding makes a new one.
 * 3. A move that the lifecycle tables do not allow and a gap between entries are errors: nothing is guessed.
 */
import {
  canMove,
  isForPerson,
  isTerminalPlanStatus,
  PLAN_LIFECYCLE,
  type PlanStatus,
  UNHELD_PLAN_STATUSES,
  UNSTARTED_PLAN_STATUSES,
  type WaitReason,
} from "@planwright/plan";
import {
  type ControlEvent,
  type EventOf,
  type JournalEntry,
  type JournalEvent,
  PLANNING_EVENT_SCHEMAS,
} from "./events.ts";
import {
  carryUnits,
  changeUnit,
  closeItems,
  closeLostAttempts,
  endAttempt,
  expandItems,
  startAttempt,
  withoutOpen,
} from "./fold-units.ts";
import {
  type FoldContext,
  type FoldedPlan,
  type FoldedPlanning,
  type FoldedRequest,
  type FoldedSpending,
  JournalInvalidError,
} from "./folded.ts";

/** The state of a request without entries. */
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
 * {@link fold} in place, for a state that only the caller uses. O(events). After an error the state must not
 * be used.
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
    const context: FoldContext = { request, entry, plan: () => planOf(context), invalid };
    for (const event of entry.events) {
      if (request.isRemoved) throw invalid("the request is being removed");
      if (event.type === "removal.began") {
        request.isRemoved = true;
        continue;
      }
      if (isPlanningEvent(event)) {
        foldPlanning(context, event);
        continue;
      }
      requireOpen(context, event);
      applyEvent(context, event);
    }
    if (entry.epoch !== undefined && entry.epoch !== request.epoch)
      throw invalid(`epoch ${entry.epoch} wrote it without a lease`);
    request.seq = entry.seq;
    request.at = entry.at;
  }
}

/** An event about a plan. */
type PlanEvent = Exclude<JournalEvent, PlanningEvent | EventOf<"removal.began">>;

/**
 * After the end of a plan an operator may still settle a unit, another version may follow, and a control that
 * came during the last entry is recorded. Any other event of the plan is invalid.
 */
function requireOpen({ request, entry, invalid }: FoldContext, event: PlanEvent): void {
  const plan = request.plans.get(entry.planId);
  if (!plan || !isTerminalPlanStatus(plan.status)) return;
  if (event.type === "plan.stored" || (event.type === "step.changed" && event.resolvedBy)) return;
  if ("asked" in event && event.asked) return;
  throw invalid(`${plan.planId} ended as ${plan.status}, but ${event.type} follows`);
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
 * The plan version that an entry is about. A first version that no planner made was accepted before the first
 * entry, so it is created here.
 */
function planOf({ request, entry, invalid }: FoldContext): FoldedPlan {
  const plan = request.plans.get(entry.planId);
  if (plan) return plan;
  const isPlanned = request.planning.epoch > 0;
  if (request.plans.size > 0 || isPlanned) throw invalid(`${entry.planId} was not stored before`);
  const first = newPlan({ planId: entry.planId, version: 1, units: new Map() });
  request.plans.set(entry.planId, first);
  return first;
}

function applyEvent(context: FoldContext, event: PlanEvent): void {
  const { request, entry } = context;
  const { at } = entry;
  switch (event.type) {
    case "plan.stored":
      storePlan(context, event);
      return;
    case "execution.asked":
      move(context, "QUEUED");
      context.plan().queuedAt ??= at;
      return;
    case "lease.taken":
      takeLease(context, event);
      return;
    case "lease.released":
      release(context, event);
      return;
    case "attempt.started":
      startAttempt(context, event);
      return;
    case "attempt.ended":
      endAttempt(context, event);
      return;
    case "items.expanded":
      expandItems(context, event);
      return;
    case "items.closed":
      closeItems(context, event);
      return;
    case "step.changed":
      changeUnit(context, event);
      return;
    case "approval.given":
    case "doubt.resolved":
    case "cancel.asked":
    case "pause.asked":
    case "resume.asked":
      applyControl(context, event);
      return;
    case "plan.ended": {
      move(context, event.status);
      request.owner = null;
      Object.assign(context.plan(), {
        outputs: event.outputs ?? null,
        error: event.error,
        finishedAt: at,
        endedSeq: entry.seq,
        dueAt: null,
        waitReason: null,
      });
      context.plan().waits = withoutOpen(context.plan().waits, at);
      return;
    }
  }
}

function applyControl(context: FoldContext, event: ControlEvent): void {
  const { request, entry } = context;
  const plan = context.plan();
  const { asked } = event;
  const { by, at } = asked ?? { by: entry.by.id, at: entry.at };
  plan.controlSeq = Math.max(plan.controlSeq, asked?.id ?? entry.seq);
  const hasEnded = isTerminalPlanStatus(plan.status);
  switch (event.type) {
    case "approval.given": {
      const { stepId, approved, approvalHash, reason } = event;
      plan.approvals.push({ stepId, approved, approvalHash, reason, by, at });
      turnWait(context, at, "no worker", isForDecision);
      return;
    }
    case "doubt.resolved": {
      const { key, attempt, resolution } = event;
      plan.resolutions.push({ key, attempt, resolution, by, at });
      turnWait(context, at, "no worker", isForDecision);
      return;
    }
    case "cancel.asked":
      plan.cancelAskedAt ??= at;
      turnWait(context, at, "no worker", isForPerson);
      if (plan.status !== "CANCELLING" && !hasEnded) move(context, "CANCELLING");
      return;
    case "pause.asked":
      plan.pauseAskedAt ??= at;
      turnWait(context, at, "paused", (reason) => reason !== "paused");
      // A plan with an owner is paused once its calls have ended: its owner appends that.
      if (request.owner === null && plan.status !== "PAUSED" && !hasEnded) move(context, "PAUSED");
      return;
    case "resume.asked":
      plan.pauseAskedAt = null;
      turnWait(context, at, "no worker", (reason) => reason === "paused");
      if (plan.status === "PAUSED") move(context, request.owner === null ? "QUEUED" : "RUNNING");
      return;
  }
}

function storePlan(context: FoldContext, event: EventOf<"plan.stored">): void {
  const { request, entry, invalid } = context;
  const { planId, version, isValid } = event;
  if (request.plans.has(planId)) throw invalid(`${planId} was stored before`);
  const previous = [...request.plans.values()].at(-1);
  // The first version in the journal may have any number: earlier versions were never executed.
  if (previous && version !== previous.version + 1)
    throw invalid(`version ${version} follows ${previous.version}`);
  if (planId !== entry.planId) throw invalid(`it is about ${entry.planId}, but stores ${planId}`);
  if (previous) supersede(context, previous);
  endPlanning(context, event);
  const { accepted = [] } = event;
  const plan = { ...newPlan({ planId, version, units: carryUnits(context, previous, event) }), accepted };
  request.plans.set(planId, isValid ? plan : { ...plan, status: "INVALID", finishedAt: entry.at });
}

/** Marks the previous version SUPERSEDED, unless it has ended. It must not have been started. */
function supersede({ request, entry, invalid }: FoldContext, previous: FoldedPlan): void {
  if (isTerminalPlanStatus(previous.status)) return;
  if (!canMove(PLAN_LIFECYCLE, previous.status, "SUPERSEDED"))
    throw invalid(`${previous.planId} is ${previous.status}, but another version follows`);
  const ended = { status: "SUPERSEDED" as const, finishedAt: entry.at, endedSeq: entry.seq };
  request.plans.set(previous.planId, { ...previous, ...ended });
}

function newPlan(of: Pick<FoldedPlan, "planId" | "version" | "units">): FoldedPlan {
  return {
    ...of,
    accepted: [],
    status: "READY",
    waitReason: null,
    dueAt: null,
    approvals: [],
    resolutions: [],
    controlSeq: 0,
    waits: [],
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

/** True from a pause until it is resumed or cancelled: no time without an owner is the plan's own. */
const isBeingPaused = ({ pauseAskedAt, cancelAskedAt }: FoldedPlan): boolean =>
  pauseAskedAt !== null && cancelAskedAt === null;

function takeLease(context: FoldContext, { worker, epoch, from }: EventOf<"lease.taken">): void {
  const { request, entry, invalid } = context;
  if (epoch <= request.epoch) throw invalid(`epoch ${epoch} follows epoch ${request.epoch}`);
  const plan = context.plan();
  // No `execution.asked` is required: the request for execution may be in the plan's document, which the
  // claim has read.
  request.epoch = epoch;
  request.owner = { worker, epoch };
  if (UNSTARTED_PLAN_STATUSES.includes(plan.status)) move(context, "QUEUED");
  if (UNHELD_PLAN_STATUSES.includes(plan.status)) move(context, "RUNNING");
  // A lost owner did nothing that counts after its last entry. Controls that came meanwhile divide this wait.
  const reason = isBeingPaused(plan) ? ("paused" as const) : ("no worker" as const);
  const lost = from !== null && request.at ? [{ reason, from: request.at, until: entry.at }] : [];
  Object.assign(plan, {
    waits: [...withoutOpen(plan.waits, entry.at), ...lost],
    waitReason: null,
    dueAt: null,
    startedAt: plan.startedAt ?? entry.at,
  });
  closeLostAttempts(context);
}

function release(context: FoldContext, { status, waitReason, dueAt }: EventOf<"lease.released">): void {
  const { request, invalid } = context;
  if (request.owner === null) throw invalid("no worker held it");
  request.owner = null;
  const plan = context.plan();
  // A control that was appended while the owner was releasing the plan still applies.
  const isPaused = plan.status === "PAUSED" && plan.pauseAskedAt !== null;
  const isResumed = status === "PAUSED" && plan.pauseAskedAt === null;
  const next = isPaused ? "PAUSED" : isResumed ? "QUEUED" : status;
  if (plan.status !== "CANCELLING" && plan.status !== next) move(context, next);
  Object.assign(plan, next === "QUEUED" ? { waitReason: null, dueAt: null } : { waitReason, dueAt });
  const queued = isBeingPaused(plan) ? "paused" : "no worker";
  const reason = { QUEUED: queued, PAUSED: "paused", WAITING: waitReason ?? "dependency" } as const;
  plan.waits = [...plan.waits, { reason: reason[next], from: context.entry.at, until: null }];
}

const isForDecision = (reason: WaitReason): boolean => reason === "approval" || reason === "in doubt";

/**
 * From a control on, the plan waits for something else. A control of a plan without owner becomes part of the
 * entry with which the next owner takes the lease: then it divides the wait that ended with that.
 * @param ends - true for a wait that the control ends
 */
function turnWait(
  { plan, entry }: FoldContext,
  at: Date,
  reason: WaitReason,
  ends: (reason: WaitReason) => boolean,
): void {
  const { waits } = plan();
  const last = waits.at(-1);
  if (!last || !ends(last.reason)) return;
  const { until } = last;
  if (until && (until.getTime() !== entry.at.getTime() || at >= until)) return;
  const from = at > last.from ? at : last.from;
  plan().waits = [...waits.slice(0, -1), { ...last, until: from }, { reason, from, until }];
}

function move({ plan, invalid }: FoldContext, to: PlanStatus): void {
  const { planId, status } = plan();
  if (!canMove(PLAN_LIFECYCLE, status, to))
    throw invalid(`${planId} was ${status}, which never becomes ${to}`);
  plan().status = to;
}

/** An event of planning: it is about the request, not about a version of its plan. */
export type PlanningEvent = Extract<JournalEvent, { type: (typeof PLANNING_TYPES)[number] }>;

const PLANNING_TYPES = PLANNING_EVENT_SCHEMAS.map(({ shape }) => shape.type.value);
const IS_PLANNING: ReadonlySet<string> = new Set(PLANNING_TYPES);

/** True for an event about planning. */
export function isPlanningEvent(event: JournalEvent): event is PlanningEvent {
  return IS_PLANNING.has(event.type);
}

const NO_SPENDING: FoldedSpending = { modelCalls: 0, tokens: 0, costUsd: 0 };

/** State before planning began. */
const NO_PLANNING: FoldedPlanning = {
  planner: null,
  epoch: 0,
  replanAsked: null,
  isCancelled: false,
  executionPlannedAt: null,
  away: null,
  questions: [],
  spent: NO_SPENDING,
  calls: new Map(),
};

/** Applies an event of planning. @throws {JournalInvalidError} */
function foldPlanning(context: FoldContext, event: PlanningEvent): void {
  context.request.planning = { ...context.request.planning, ...changeBy(context, event) };
}

/**
 * Applies `plan.stored` to planning: it ends planning, whichever writer appended it. A version that cannot
 * run does not end it; `planning.failed` follows in the same entry.
 * @throws {JournalInvalidError} when the writer is a planner that does not own planning
 */
function endPlanning(context: FoldContext, { isValid }: EventOf<"plan.stored">): void {
  if (context.entry.by.kind === "planner") requirePlanner(context);
  if (!isValid) return;
  context.request.planning = {
    ...context.request.planning,
    planner: null,
    replanAsked: null,
    isCancelled: false,
    executionPlannedAt: null,
    away: null,
  };
}

function changeBy(context: FoldContext, event: PlanningEvent): Partial<FoldedPlanning> {
  const { request, invalid } = context;
  const { planning } = request;
  switch (event.type) {
    case "planning.began":
      return beginPlanning(context, event);
    case "model.called": {
      requirePlanner(context);
      if (planning.calls.has(event.callId)) throw invalid(`call ${event.callId} was recorded before`);
      return { calls: new Map([...planning.calls, [event.callId, event.reserved]]) };
    }
    case "model.answered": {
      const calls = new Map(planning.calls);
      if (!calls.delete(event.callId)) throw invalid(`call ${event.callId} is not running`);
      const spent = sumOf([planning.spent, event.spent]);
      return { calls, spent, away: event.error === null ? null : planning.away };
    }
    case "question.asked":
      requirePlanner(context);
      return { planner: null, away: null, questions: event.questions.map(({ id }) => id) };
    case "answer.given":
      return applyAnswers(context, event);
    case "replan.asked": {
      const current = [...request.plans.values()].at(-1);
      const hasFailed = !current && planning.epoch > 0 && planning.planner === null;
      if (current ? !isTerminalPlanStatus(current.status) : !hasFailed) throw invalid("no plan has ended");
      if (planning.planner?.work === "replan" || planning.replanAsked)
        throw invalid("another replan was requested before");
      const { note, execute } = event;
      const replanAsked = { note, execute };
      // It says whether the next plan is executed, whatever was asked for the last one.
      return { planner: null, replanAsked, isCancelled: false, executionPlannedAt: null, away: null };
    }
    case "execution.planned":
      return { executionPlannedAt: context.entry.at };
    case "planning.postponed": {
      requirePlanner(context);
      const { since, tries } = event;
      return { planner: null, away: { since, tries } };
    }
    case "planning.failed":
    case "answer.written":
      requirePlanner(context);
      return { planner: null, replanAsked: null, away: null };
    case "planning.cancelled":
      return { planner: null, replanAsked: null, isCancelled: true, away: null, questions: [] };
  }
}

function beginPlanning(
  { request, invalid }: FoldContext,
  event: EventOf<"planning.began">,
): Partial<FoldedPlanning> {
  const { worker, epoch, work } = event;
  if (request.planning.isCancelled && work !== "answer") throw invalid("planning was cancelled");
  if (epoch <= request.planning.epoch)
    throw invalid(`planning epoch ${epoch} follows epoch ${request.planning.epoch}`);
  return { planner: { worker, epoch, work }, epoch, questions: [] };
}

function applyAnswers(
  { request, invalid }: FoldContext,
  event: EventOf<"answer.given">,
): Partial<FoldedPlanning> {
  const { questions } = request.planning;
  const answered = new Set(event.answers.map(({ questionId }) => questionId));
  for (const id of answered) if (!questions.includes(id)) throw invalid(`question ${id} is not open`);
  return { questions: event.discardsDraft ? [] : questions.filter((id) => !answered.has(id)) };
}

function requirePlanner({ request, entry, invalid }: FoldContext): void {
  const { planner } = request.planning;
  if (planner?.worker !== entry.by.id)
    throw invalid(`${entry.by.id} wrote it, and ${planner?.worker ?? "no planner"} plans`);
}

/**
 * The sum of what model calls used. Costs are rounded to a billionth, to remove errors of binary fractions.
 * Pure.
 */
export function sumOf(all: Iterable<FoldedSpending>): FoldedSpending {
  let { modelCalls, tokens, costUsd } = NO_SPENDING;
  for (const one of all) {
    modelCalls += one.modelCalls;
    tokens += one.tokens;
    costUsd += one.costUsd;
  }
  return { modelCalls, tokens, costUsd: Math.round(costUsd * 1e9) / 1e9 };
}
