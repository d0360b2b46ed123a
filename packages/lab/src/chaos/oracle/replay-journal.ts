/**
 * Replays the journal of a request by separate rules, without the engine's `fold`, so that a mistake in
 * `fold` is found too.
 *
 * 1. The sequence starts at 1 and has no gaps, and the id of each entry contains its seq.
 * 2. Epochs never go down. An entry with an epoch is written by the worker that took the lease under it and
 *    has not released it.
 * 3. After the end of a plan its only event is a doubt that an operator resolved; another version may follow.
 * 4. A unit that has ended does not change. An attempt ends once, after it began; an item exists once its
 *    list was expanded.
 * 5. A version carries over units of the version before. It ends a version that was not started; a running
 *    version has no successor.
 * 6. Without a lease only clients, operators and planners write entries, and there are no calls.
 * 7. Planning has its own rules ({@link replayPlanning}). If a journal begins with planning, every plan is
 *    stored by an entry.
 */
import { type EventOf, JournalEntrySchema, type JournalEvent } from "@planwright/engine";
import {
  isTerminalPlanStatus,
  isTerminalStepStatus,
  type JsonValue,
  type PlanStatus,
  type RequestStatus,
  type StepStatus,
} from "@planwright/plan";
import type { JournalDocument } from "@planwright/store";

/** The state of the replay. */
interface Replay extends ReplayedRequest {
  epoch: number;
  /** Undefined while no worker has the lease. */
  owner: string | undefined;
  planning: ReplayedPlanning;
}

/** An event with its entry and plan. */
interface EventContext {
  replay: Replay;
  entry: JournalDocument;
  plan: ReplayedPlan;
  fault: (expected: string, found: string) => void;
}

/** Replays all entries of one request, in order. Pure. */
export function replayJournal(requestId: string, entries: readonly JournalDocument[]): ReplayedRequest {
  const sorted = entries.toSorted((one, other) => one.seq - other.seq);
  const [first] = sorted[0]?.events ?? [];
  const replay: Replay = {
    requestId,
    seq: 0,
    beginsWith: first?.type ?? null,
    // A client may end planning before a planner has begun.
    isPlanned: first?.type === "planning.began" || first?.type === "planning.cancelled",
    plans: new Map(),
    faults: [],
    planningEndedAs: null,
    epoch: 0,
    owner: undefined,
    planning: newReplayedPlanning(),
  };
  for (const entry of sorted) replayEntry(replay, entry);
  const { epoch: _, owner: __, planning, ...replayed } = replay;
  return { ...replayed, planningEndedAs: planning.endedAs };
}

function replayEntry(replay: Replay, entry: JournalDocument): void {
  const { _id, ...fields } = entry;
  const { requestId, planId, seq, epoch, by, events } = fields;
  const fault = (expected: string, found: string): void =>
    void replay.faults.push({ id: _id, expected, found });
  const parsed = JournalEntrySchema.safeParse(fields);
  if (!parsed.success) return fault("an entry that the schema accepts", parsed.error.message);
  if (seq !== replay.seq + 1) fault(`entry ${replay.seq + 1}, without a gap`, `entry ${seq}`);
  if (_id !== `${requestId}/${String(seq).padStart(8, "0")}`) fault("an id with its seq", `entry ${seq}`);
  replay.seq = seq;
  if (epoch !== undefined && epoch < replay.epoch)
    fault(`epoch ${replay.epoch} at least`, `an entry of epoch ${epoch}`);
  for (const event of events) {
    const isOwners = epoch === replay.epoch && replay.owner === by.id;
    if (epoch !== undefined && !isOwners && event.type !== "lease.taken")
      fault(`entries of ${replay.owner ?? "no worker"}, epoch ${replay.epoch}`, `${by.id}, epoch ${epoch}`);
    if (isOfPlanning(event)) {
      replayPlanning({ planning: replay.planning, entry, fault }, event);
      continue;
    }
    // Chaos keeps every request.
    if (event.type === "removal.began") {
      fault("no removal", event.type);
      continue;
    }
    if (event.type === "plan.stored") storePlan(replay, entry, event, fault);
    const stored = replay.plans.get(planId);
    if (stored === undefined && (replay.isPlanned || replay.plans.size > 0))
      fault("a plan that was stored before", `${event.type} of ${planId}`);
    // The first version of a submitted plan was accepted before there was an entry.
    const plan = stored ?? newReplayedPlan({ planId, version: 1, storedSeq: 0, units: new Map() });
    replay.plans.set(planId, plan);
    if (event.type !== "plan.stored") replayEvent({ replay, entry, plan, fault }, event);
  }
}

/** Events of a stored plan. */
type PlanEvent = Exclude<JournalEvent, PlanningEvent | { type: "plan.stored" | "removal.began" }>;

function replayEvent(context: EventContext, event: PlanEvent): void {
  const { replay, entry, plan, fault } = context;
  const isSettled = event.type === "step.changed" && event.resolvedBy !== undefined;
  const hasEnded = hasPlanEnded(plan);
  // A control that a client was answered during the last entry follows the end, and changes no status.
  const isLate = "asked" in event && event.asked !== undefined;
  if (hasEnded && !isSettled && !isLate)
    fault(`no event of ${plan.planId}, which ended as ${lastStatus(plan)}`, event.type);
  if (entry.epoch === undefined && needsLease(event.type))
    fault(
      "an epoch, as only the owner writes this event",
      `${event.type} by ${entry.by.kind} ${entry.by.id}`,
    );
  switch (event.type) {
    case "execution.asked":
      return setPlanStatus(context, "QUEUED");
    case "lease.taken":
      return takeLease(context, event);
    case "lease.released":
      return release(context, event);
    case "attempt.started":
      return startAttempt(context, event);
    case "attempt.ended":
      return endAttempt(context, event);
    case "items.expanded":
      return expandItems(context, event);
    case "items.closed":
      return closeItems(context, event);
    case "step.changed":
      return changeUnit(context, event);
    case "approval.given":
    case "doubt.resolved":
      return recordControl(context, event);
    case "cancel.asked":
      recordControl(context, event);
      if (!hasEnded) setPlanStatus(context, "CANCELLING");
      return;
    case "pause.asked":
      plan.isPauseAsked = true;
      recordControl(context, event);
      if (replay.owner === undefined && !hasEnded) setPlanStatus(context, "PAUSED");
      return;
    case "resume.asked":
      plan.isPauseAsked = false;
      recordControl(context, event);
      if (lastStatus(plan) === "PAUSED")
        setPlanStatus(context, replay.owner === undefined ? "QUEUED" : "RUNNING");
      return;
    case "plan.ended":
      plan.endedSeq = entry.seq;
      replay.owner = undefined;
      return setPlanStatus(context, event.status);
  }
}

/** Only the worker with the lease writes events about calls and its lease. */
function needsLease(type: JournalEvent["type"]): boolean {
  return type.startsWith("lease.") || type.startsWith("attempt.") || type.startsWith("items.");
}

function setPlanStatus({ plan, entry }: EventContext, status: PlanStatus): void {
  plan.statuses.push({ seq: entry.seq, status });
}

function recordControl({ plan, entry }: EventContext, event: Parameters<typeof subjectOf>[0]): void {
  const by = ("asked" in event ? event.asked?.by : undefined) ?? entry.by.id;
  plan.controls.push({ id: entry._id, type: event.type, by, subject: subjectOf(event) });
}

function storePlan(
  replay: Replay,
  entry: JournalDocument,
  event: EventOf<"plan.stored">,
  fault: EventContext["fault"],
): void {
  const { planId, version, isValid, carried, moved = [] } = event;
  const before = [...replay.plans.values()].at(-1);
  replayStored({ planning: replay.planning, entry, fault }, event);
  if (replay.plans.has(planId)) return fault("each plan stored once", `${planId} a second time`);
  if (before !== undefined && version !== before.version + 1)
    fault(`version ${before.version + 1}`, `version ${version}`);
  if (before !== undefined && !hasPlanEnded(before)) {
    if (lastStatus(before) !== "READY")
      fault("a version before that has ended or was not started", lastStatus(before));
    before.statuses.push({ seq: entry.seq, status: "SUPERSEDED" });
    before.endedSeq = entry.seq;
  }
  const units = new Map<string, ReplayedUnit>();
  for (const key of carried) {
    const stepId = key.replace(/\[\d+\]$/, "");
    const source = moved.find((one) => one.stepId === stepId);
    const from = source === undefined ? before : replay.plans.get(source.planId);
    const unit = from?.units.get((source?.from ?? stepId) + key.slice(stepId.length));
    const last = unit?.moments.at(-1);
    if (from === undefined || unit === undefined || last === undefined) {
      fault(`${key} in an earlier version, since it is carried over`, "nothing");
      continue;
    }
    const carriedFrom = unit.carriedFrom ?? from.planId;
    units.set(key, { carriedFrom, moments: [{ ...last, seq: entry.seq }], tries: [...unit.tries] });
  }
  const status = isValid ? "READY" : "INVALID";
  replay.plans.set(planId, newReplayedPlan({ planId, version, storedSeq: entry.seq, units, status }));
}

function takeLease(context: EventContext, { worker, epoch }: EventOf<"lease.taken">): void {
  const { replay, plan, entry, fault } = context;
  if (epoch <= replay.epoch) fault(`an epoch above ${replay.epoch}`, `${worker} took epoch ${epoch}`);
  if (epoch !== entry.epoch || worker !== entry.by.id)
    fault(`a lease of ${entry.by.id}, epoch ${entry.epoch}`, `one of ${worker}, epoch ${epoch}`);
  replay.epoch = epoch;
  replay.owner = worker;
  const isCancelling = lastStatus(plan) === "CANCELLING";
  setPlanStatus(context, "RUNNING");
  if (isCancelling) setPlanStatus(context, "CANCELLING");
}

function release(context: EventContext, { status }: EventOf<"lease.released">): void {
  const { replay, plan, fault } = context;
  if (replay.owner === undefined) fault("a lease to release", "none was taken");
  replay.owner = undefined;
  const before = lastStatus(plan);
  if (before === "CANCELLING") return;
  if (before === "PAUSED" && plan.isPauseAsked) return;
  setPlanStatus(context, status === "PAUSED" && !plan.isPauseAsked ? "QUEUED" : status);
}

function unitOf({ plan, fault }: EventContext, key: string): ReplayedUnit {
  const known = plan.units.get(key);
  if (known !== undefined) return known;
  if (key.endsWith("]")) fault(`${key} in its list before`, "a list without it");
  const unit: ReplayedUnit = { carriedFrom: null, moments: [], tries: [] };
  plan.units.set(key, unit);
  return unit;
}

/** A batch that may be repeated is sent again with all its items: those that have ended do not change. */
function openUnits(
  context: EventContext,
  { type, units }: EventOf<"attempt.started" | "attempt.ended">,
): ReplayedUnit[] {
  const open = units.map((key) => unitOf(context, key)).filter((unit) => !hasUnitEnded(unit));
  if (open.length === 0) context.fault("a unit that has not ended", `${type} of ${units.join(", ")}`);
  return open;
}

function startAttempt(context: EventContext, event: EventOf<"attempt.started">): void {
  for (const unit of openUnits(context, event)) {
    unit.tries.push({ attemptId: event.attemptId, isEnded: false, isUnsent: false });
    updateUnit(unit, context.entry.seq, { status: "RUNNING" });
  }
}

function endAttempt(context: EventContext, event: EventOf<"attempt.ended">): void {
  const { attemptId, units, isUnsent = false } = event;
  for (const unit of openUnits(context, event)) {
    const [before, ended] = [unit.tries.at(-2), unit.tries.at(-1)];
    if (ended?.attemptId !== attemptId || ended.isEnded) {
      context.fault(`attempt ${attemptId} of ${units.join(", ")} in progress`, "its end");
      continue;
    }
    ended.isEnded = true;
    ended.isUnsent = isUnsent;
    if (isUnsent && before?.isUnsent === true) unit.tries.splice(-2, 1);
    updateUnit(unit, context.entry.seq, {});
  }
}

function expandItems({ plan, entry }: EventContext, { stepId, count }: EventOf<"items.expanded">): void {
  for (let item = 0; item < count; item++) {
    const key = `${stepId}[${item}]`;
    if (plan.units.has(key)) continue;
    const unit: ReplayedUnit = { carriedFrom: null, moments: [], tries: [] };
    updateUnit(unit, entry.seq, {});
    plan.units.set(key, unit);
  }
}

function closeItems(
  context: EventContext,
  { stepId, from, to, status, error }: EventOf<"items.closed">,
): void {
  let closed = 0;
  for (let item = from; item <= to; item++) {
    const key = `${stepId}[${item}]`;
    const unit = context.plan.units.get(key);
    if (unit && hasUnitEnded(unit)) continue;
    changeUnit(context, { type: "step.changed", key, stepId, item, status, ...(error && { error }) });
    closed += 1;
  }
  if (closed === 0) context.fault(`an item of ${stepId} that has not ended`, `items.closed ${from} to ${to}`);
}

function changeUnit(context: EventContext, event: EventOf<"step.changed">): void {
  const { key, status, output, outputRef, error, carriedFrom } = event;
  const unit = unitOf(context, key);
  if (hasUnitEnded(unit))
    context.fault(`${key} to stay ${unit.moments.at(-1)?.status ?? "ended"}`, `it became ${status}`);
  if (carriedFrom) {
    // An earlier version made the same call.
    const { planId } = carriedFrom;
    const earlier = context.replay.plans.get(planId)?.units.get(carriedFrom.key);
    const last = earlier?.moments.at(-1);
    if (earlier === undefined || last?.status !== "COMPLETED")
      return context.fault(`${carriedFrom.key} of ${planId} to have completed`, last?.status ?? "nothing");
    unit.carriedFrom = earlier.carriedFrom ?? planId;
    unit.moments.push({ ...last, seq: context.entry.seq });
    unit.tries = [...earlier.tries];
    return;
  }
  const hasOutput = output !== undefined || outputRef !== undefined;
  updateUnit(unit, context.entry.seq, {
    status,
    ...(hasOutput && { output, isStoredSeparately: outputRef !== undefined }),
    errorCode: error?.code ?? null,
  });
}

/* The result of the oracle's replay of a journal. */

/** The state of a step or an item from one entry on. */
interface UnitMoment {
  /** The seq of the entry. */
  seq: number;
  status: StepStatus;
  /** Attempts so far. Consecutive attempts that did not reach the tool server count as one. */
  attempts: number;
  /** The output of a completed unit; undefined when it is stored separately. */
  output: JsonValue | undefined;
  isStoredSeparately: boolean;
  errorCode: string | null;
}

/** One attempt of a unit. */
interface Try {
  attemptId: string;
  isEnded: boolean;
  isUnsent: boolean;
}

/** A step or an item with its states over time. */
interface ReplayedUnit {
  /** The version that made the call; null when this version made it. */
  carriedFrom: string | null;
  /** One state for each entry about the unit. */
  moments: UnitMoment[];
  tries: Try[];
}

/** A control of a client or operator in the journal. */
export interface RecordedControl {
  /** The id of the entry. */
  id: string;
  type: string;
  by: string;
  /** A plan, a call or an attempt. The control counts once for its subject. */
  subject: string;
}

/** One version of a plan with its states over time. */
export interface ReplayedPlan {
  planId: string;
  version: number;
  /** The seq of the entry that stored it; 0 for the first version of a submitted plan. */
  storedSeq: number;
  endedSeq: number | null;
  statuses: { seq: number; status: PlanStatus }[];
  isPauseAsked: boolean;
  /** Units by key, without those that have no entry. */
  units: Map<string, ReplayedUnit>;
  controls: RecordedControl[];
}

/** A fault in a journal. */
interface JournalFault {
  /** The id of the entry. */
  id: string;
  expected: string;
  found: string;
}

/** A request, replayed from its journal. */
export interface ReplayedRequest {
  requestId: string;
  /** The seq of the last entry. */
  seq: number;
  /** Type of its first event; null for a journal without entries. */
  beginsWith: JournalEvent["type"] | null;
  /** True when it begins with planning: every plan then has an entry. */
  isPlanned: boolean;
  /**
   * How planning last ended without a plan. Null when it made a plan, or when a client requested a replan
   * later.
   */
  planningEndedAs: "FAILED" | "CANCELLED" | null;
  /** By planId, oldest version first. */
  plans: Map<string, ReplayedPlan>;
  faults: JournalFault[];
}

/** A step before its first entry. */
const INITIAL_MOMENT: UnitMoment = {
  seq: 0,
  status: "PENDING",
  attempts: 0,
  output: undefined,
  isStoredSeparately: false,
  errorCode: null,
};

/** A plan before its first entry. */
export function newReplayedPlan(
  of: Pick<ReplayedPlan, "planId" | "version" | "storedSeq" | "units"> & { status?: PlanStatus },
): ReplayedPlan {
  const { status = "READY", ...rest } = of;
  const statuses = [{ seq: of.storedSeq, status }];
  return { ...rest, statuses, endedSeq: null, isPauseAsked: false, controls: [] };
}

/** The status of a plan at the end of its journal. Pure. */
export function lastStatus({ statuses }: ReplayedPlan): PlanStatus {
  return statuses.at(-1)?.status ?? "READY";
}

/** True when the plan has ended by its journal. Pure. */
function hasPlanEnded(plan: ReplayedPlan): boolean {
  return isTerminalPlanStatus(lastStatus(plan));
}

/** The status of a request after the end of its plan. */
const REQUEST_AFTER: { readonly [status in PlanStatus]?: RequestStatus } = {
  COMPLETED: "COMPLETED",
  PARTIAL: "PARTIAL",
  FAILED: "FAILED",
  INVALID: "FAILED",
  EXPIRED: "FAILED",
  CANCELLED: "CANCELLED",
};

/** The status of a request whose plan has ended; undefined before. Pure. */
export function requestStatusOf(plan: ReplayedPlan): RequestStatus | undefined {
  return REQUEST_AFTER[lastStatus(plan)];
}

/**
 * A unit after the entry with this seq; undefined for an item that does not exist yet. A step always exists.
 * Pure.
 */
export function momentAt(plan: ReplayedPlan, key: string, seq: number): UnitMoment | undefined {
  const moments = plan.units.get(key)?.moments ?? [];
  return moments.findLast((moment) => moment.seq <= seq) ?? (key.endsWith("]") ? undefined : INITIAL_MOMENT);
}

/** True when a unit can no longer change. Pure. */
function hasUnitEnded(unit: ReplayedUnit | undefined): boolean {
  return isTerminalStepStatus(unit?.moments.at(-1)?.status ?? "PENDING");
}

/**
 * Changes a unit from this entry on. All events of one entry make one state, because readers see only
 * complete entries.
 */
function updateUnit(unit: ReplayedUnit, seq: number, change: Partial<UnitMoment>): void {
  const before = unit.moments.at(-1) ?? INITIAL_MOMENT;
  if (before.seq === seq) unit.moments.pop();
  unit.moments.push({ ...before, ...change, attempts: unit.tries.length, seq });
}

/** The subject of a control. Pure. */
function subjectOf(
  event: EventOf<
    "approval.given" | "doubt.resolved" | "cancel.asked" | "pause.asked" | "resume.asked" | "execution.asked"
  >,
): string {
  if (event.type === "approval.given") return `${event.stepId} ${event.approvalHash}`;
  if (event.type === "doubt.resolved") return `${event.key} attempt ${event.attempt}`;
  return "the plan";
}

/*
 * Replays the planning events of a journal by the oracle's rules.
 *
 * 1. Epochs of planning only go up. A planner begins with its own id.
 * 2. Model calls, questions, failures, results in words and stored versions come from the planner that began
 *    last, before its planning ends: by a question, a failure, results in words, a valid version, a cancel,
 *    or a request for a replan; or is postponed, because the model is away.
 * 3. A model is called once per call id, and answers once, after the call.
 * 4. An answer belongs to an open question.
 * 5. Cancelled planning does not begin again, unless a client requests a replan.
 */

const OF_PLANNING = {
  "planning.began": true,
  "model.called": true,
  "model.answered": true,
  "question.asked": true,
  "answer.given": true,
  "execution.planned": true,
  "replan.asked": true,
  "planning.postponed": true,
  "planning.failed": true,
  "planning.cancelled": true,
  "answer.written": true,
} as const;

/** The events of planning. */
type PlanningEvent = EventOf<keyof typeof OF_PLANNING>;

/** The state of planning during the replay. */
interface ReplayedPlanning {
  epoch: number;
  /** The planner that began last; undefined after its planning has ended. */
  planner: string | undefined;
  /** Model calls by id, and whether they were answered. */
  calls: Map<string, { isAnswered: boolean }>;
  /** Ids of open questions. */
  questions: Set<string>;
  /**
   * How planning last ended without a plan. Null when it made a plan, or when a client requested a replan
   * later.
   */
  endedAs: "FAILED" | "CANCELLED" | null;
}

/** An event's entry and the state of planning. */
interface PlanningContext {
  planning: ReplayedPlanning;
  entry: Pick<JournalDocument, "by">;
  fault: (expected: string, found: string) => void;
}

/** Planning before its first event. */
function newReplayedPlanning(): ReplayedPlanning {
  return { epoch: 0, planner: undefined, calls: new Map(), questions: new Set(), endedAs: null };
}

/** True for an event of planning. Pure. */
function isOfPlanning(event: JournalEvent): event is PlanningEvent {
  return Object.hasOwn(OF_PLANNING, event.type);
}

/** Replays one event of planning. */
function replayPlanning(context: PlanningContext, event: PlanningEvent): void {
  const { planning, fault } = context;
  switch (event.type) {
    case "planning.began":
      return begin(context, event);
    case "model.called":
      requirePlanner(context, event.type);
      if (planning.calls.has(event.callId)) fault("each model call once", `${event.callId} a second time`);
      planning.calls.set(event.callId, { isAnswered: false });
      return;
    case "model.answered": {
      const call = planning.calls.get(event.callId);
      if (call === undefined) return fault(`model call ${event.callId} before`, "its answer");
      if (call.isAnswered) fault(`one answer to ${event.callId}`, "another one");
      call.isAnswered = true;
      return;
    }
    case "question.asked":
      requirePlanner(context, event.type);
      planning.questions = new Set(event.questions.map(({ id }) => id));
      return end(planning, null);
    case "answer.given":
      return answer(context, event);
    case "execution.planned":
      return;
    case "replan.asked":
      return end(planning, null);
    case "planning.postponed":
      requirePlanner(context, event.type);
      return end(planning, null);
    case "planning.failed":
      requirePlanner(context, event.type);
      return end(planning, "FAILED");
    case "planning.cancelled":
      planning.questions.clear();
      return end(planning, "CANCELLED");
    case "answer.written":
      requirePlanner(context, event.type);
      return end(planning, null);
  }
}

/** Replays the storing of a version. */
function replayStored(context: PlanningContext, { isValid }: EventOf<"plan.stored">): void {
  if (context.entry.by.kind === "planner") requirePlanner(context, "plan.stored");
  if (isValid) end(context.planning, null);
}

function begin(
  { planning, entry, fault }: PlanningContext,
  { worker, epoch, work }: EventOf<"planning.began">,
): void {
  if (planning.endedAs === "CANCELLED" && work !== "answer")
    fault("no planning after its cancel", `${worker} began to ${work}`);
  if (epoch <= planning.epoch)
    fault(`an epoch of planning above ${planning.epoch}`, `${worker} took epoch ${epoch}`);
  if (entry.by.kind !== "planner" || entry.by.id !== worker)
    fault(`planning of ${entry.by.kind} ${entry.by.id}`, `planning of ${worker}`);
  planning.epoch = epoch;
  planning.planner = worker;
  // A planner that begins again does not need the earlier questions.
  planning.questions.clear();
}

function answer(
  { planning, fault }: PlanningContext,
  { answers, discardsDraft }: EventOf<"answer.given">,
): void {
  const ids = new Set(answers.map(({ questionId }) => questionId));
  for (const id of ids)
    if (!planning.questions.delete(id)) fault(`${id} as an open question`, "an answer to it");
  if (discardsDraft) planning.questions.clear();
}

function end(planning: ReplayedPlanning, endedAs: ReplayedPlanning["endedAs"]): void {
  planning.planner = undefined;
  planning.endedAs = endedAs;
}

function requirePlanner({ planning, entry, fault }: PlanningContext, eventType: string): void {
  const { kind, id } = entry.by;
  if (kind !== "planner" || planning.planner !== id)
    fault(`${eventType} by ${planning.planner ?? "no planner"}`, `${eventType} by ${kind} ${id}`);
}
