import {
  approvalTimeoutOf,
  canMove,
  isStepActive,
  isTerminalStepStatus,
  type PlanId,
  STEP_LIFECYCLE,
  type StepStatus,
  stepNeedsPerson,
  waitReasonOfStep,
} from "@planwright/plan";
import type { Effect } from "../state/effect.ts";
import { itemKey } from "../state/units.ts";
import type { EventOf } from "./events.ts";
import type { FoldContext, FoldedAttempt, FoldedPlan, FoldedUnit, FoldedWait } from "./folded.ts";

/** A unit without events: PENDING. */
export function newUnit(key: string): FoldedUnit {
  const [, stepId = key, item] = /^(.*)\[(\d+)\]$/.exec(key) ?? [];
  return unitOf(key, stepId, item === undefined ? undefined : Number(item));
}

/** The lists of units without events, which a change of a unit replaces. */
const NONE: never[] = [];
Object.freeze(NONE);

/**
 * The same with the parts of its key. One event may bring 10,000 items: their keys are not parsed again, and they
 * share what is empty, because all of them stay in memory.
 */
function unitOf(key: string, stepId: string, item: number | undefined): FoldedUnit {
  const unit: FoldedUnit = {
    key,
    stepId,
    status: "PENDING",
    attempts: NONE,
    effectClass: null,
    arguments: null,
    argumentsSeq: null,
    argsHash: null,
    approvalHash: null,
    outputSeq: null,
    error: null,
    errorSeq: null,
    warnings: NONE,
    waitReason: null,
    nextAttemptAt: null,
    expiresAt: null,
    mayHaveActed: false,
    approved: false,
    carriedFrom: null,
    unanswered: NONE,
    startedAt: null,
    finishedAt: null,
    seq: 0,
    updatedAt: null,
  };
  if (item !== undefined) unit.item = item;
  return unit;
}

/**
 * A copy of a unit in the plan that the entry is about; the caller may change it.
 * @throws {JournalInvalidError} when the unit is final
 */
function openUnit({ plan, entry, invalid }: FoldContext, key: string): FoldedUnit {
  const { units } = plan();
  const unit = units.get(key);
  if (unit && isTerminalStepStatus(unit.status)) throw invalid(`${key} has ended as ${unit.status}`);
  // An event of this entry has copied it: one entry may start, end and complete 10,000 items.
  if (unit && unit.seq === entry.seq && unit.updatedAt === entry.at) return unit;
  const copy = { ...(unit ?? newUnit(key)), seq: entry.seq, updatedAt: entry.at };
  if (!unit && copy.item !== undefined) throw invalid(`${key} is an item of a list that was not expanded`);
  units.set(key, copy);
  return copy;
}

/** Moves a unit to a status that its lifecycle allows. @throws {JournalInvalidError} */
function moveUnit({ invalid }: FoldContext, unit: FoldedUnit, to: StepStatus): void {
  if (unit.status !== to && !canMove(STEP_LIFECYCLE, unit.status, to))
    throw invalid(`${unit.key} is ${unit.status}, which never becomes ${to}`);
  unit.status = to;
}

/** Adds the items of a list that are not there yet. */
export function expandItems(
  { plan, entry }: FoldContext,
  { stepId, count }: EventOf<"items.expanded">,
): void {
  const { units } = plan();
  for (let item = 0; item < count; item++) {
    const key = itemKey(stepId, item);
    if (units.has(key)) continue;
    const unit = unitOf(key, stepId, item);
    unit.seq = entry.seq;
    unit.updatedAt = entry.at;
    units.set(key, unit);
  }
}

/** Applies the new state of a unit: everything except its attempts. */
export function changeUnit(context: FoldContext, event: EventOf<"step.changed">): void {
  const unit = openUnit(context, event.key);
  if (event.carriedFrom) {
    carryUnit(context, unit, event.carriedFrom);
    return;
  }
  // Without a call only a carried unit completes.
  if (unit.status === "PENDING" && event.status === "COMPLETED")
    throw context.invalid(`${unit.key} is PENDING, which never becomes COMPLETED`);
  if (unit.status === "IN_DOUBT" && event.status === "PENDING") unit.attempts = endTries(unit);
  moveUnit(context, unit, event.status);
  noteWait(unit, context.entry.at);
  const { output, outputBytes, outputRef, outputText, toApprove, resolvedBy } = event;
  const { seq, at } = context.entry;
  // A list has no call of its own: it runs from the entry that says so.
  if (isStepActive(event.status)) unit.startedAt ??= at;
  unit.error = event.error ?? null;
  unit.errorSeq = event.error ? seq : null;
  unit.warnings = event.warnings ?? unit.warnings;
  unit.waitReason = event.waitReason ?? null;
  unit.nextAttemptAt = event.nextAttemptAt ?? null;
  unit.expiresAt = event.status === "WAITING_APPROVAL" ? (event.expiresAt ?? expiryOfOlder(context)) : null;
  unit.mayHaveActed = event.mayHaveActed ?? false;
  unit.approved ||= event.approved ?? false;
  if (output !== undefined) unit.output = output;
  if (outputBytes !== undefined) unit.outputBytes = outputBytes;
  if (output !== undefined || outputBytes !== undefined) unit.outputSeq = seq;
  if (outputRef !== undefined) unit.outputRef = outputRef;
  if (outputText !== undefined) unit.outputText = outputText;
  if (toApprove) Object.assign(unit, toApprove, { argumentsSeq: seq });
  if (resolvedBy) unit.resolvedBy = resolvedBy;
  if (isTerminalStepStatus(event.status)) unit.finishedAt = context.entry.at;
}

/** Ends items of a list: the same as {@link changeUnit} for each of them that has not ended. */
export function closeItems(context: FoldContext, event: EventOf<"items.closed">): void {
  const { stepId, from, to, status, error } = event;
  const { units } = context.plan();
  let closed = 0;
  for (let item = from; item <= to; item++) {
    const key = itemKey(stepId, item);
    if (isTerminalStepStatus(units.get(key)?.status ?? "PENDING")) continue;
    changeUnit(context, { type: "step.changed", key, stepId, item, status, ...(error && { error }) });
    closed += 1;
  }
  if (closed === 0) throw context.invalid(`all items of ${stepId} from ${from} to ${to} have ended`);
}

/** The call is made once more after a doubt: tries from now on are another attempt. */
function endTries({ attempts }: Pick<FoldedUnit, "attempts">): FoldedAttempt[] {
  const last = attempts.at(-1);
  return last?.unsent
    ? [...attempts.slice(0, -1), { ...last, unsent: { ...last.unsent, isOver: true } }]
    : attempts;
}

/** When an approval expires that was asked for before journals named the time. */
function expiryOfOlder({ entry }: FoldContext): Date {
  return new Date(entry.at.getTime() + approvalTimeoutOf({}));
}

/** Notes when a unit begins, or no longer has, to wait for a person. */
function noteWait(unit: FoldedUnit, at: Date): void {
  const { waits = [] } = unit;
  const last = waits.at(-1);
  const reason = stepNeedsPerson(unit.status) ? waitReasonOfStep(unit.status) : undefined;
  const isOpen = last?.until === null;
  if (isOpen && last.reason === reason) return;
  if (reason) unit.waits = [...withoutOpen(waits, at), { reason, from: at, until: null }];
  else if (isOpen) unit.waits = withoutOpen(waits, at);
}

/** The waits, of which the last one, if it lasts, ends at this time. */
export function withoutOpen(waits: readonly FoldedWait[], at: Date): readonly FoldedWait[] {
  const last = waits.at(-1);
  return last?.until === null ? [...waits.slice(0, -1), { ...last, until: at }] : waits;
}

/** A unit under a key of a later version, with everything that is known about it. */
function movedUnit(unit: FoldedUnit, planId: string, key: string): FoldedUnit {
  const { item: _, stepId: __, carriedKey, ...state } = unit;
  const { stepId, item } = newUnit(key);
  const originKey = carriedKey ?? unit.key;
  return {
    ...state,
    key,
    stepId,
    ...(item !== undefined && { item }),
    // Entries name plans by their ids.
    carriedFrom: unit.carriedFrom ?? (planId as PlanId),
    ...(originKey !== key && { carriedKey: originKey }),
  };
}

/** Completes a unit by the call of an earlier version, while its plan runs. */
function carryUnit(
  context: FoldContext,
  unit: FoldedUnit,
  { planId, key }: NonNullable<EventOf<"step.changed">["carriedFrom"]>,
): void {
  const earlier = context.request.plans.get(planId)?.units.get(key);
  if (earlier?.status !== "COMPLETED")
    throw context.invalid(`${unit.key} is carried over from ${key} in ${planId}, which has not completed`);
  moveUnit(context, unit, "COMPLETED");
  const { seq, updatedAt } = unit;
  context.plan().units.set(unit.key, { ...movedUnit(earlier, planId, unit.key), seq, updatedAt });
}

/** Warning of a unit whose call of an earlier version is sent again. */
export function resentCallWarning({
  key,
  planId,
  isAnswered,
}: EventOf<"plan.stored">["unanswered"][number]): string {
  if (isAnswered)
    return `The call of ${key} in ${planId} failed and may have acted: it is sent again under the same key, so that it acts at most once`;
  return `The call of ${key} in ${planId} was not answered and may have acted: it is sent again under the same key, whose answer says what became of it`;
}

/** Warning of a unit that is called again although it acted or may have acted. */
function repeatWarning({
  key,
  planId,
  hasOtherArguments,
  isDone,
}: NonNullable<EventOf<"plan.stored">["repeats"]>[number]): string {
  const why = hasOtherArguments ? "with other arguments" : "because the repeat was accepted (acceptRepeat)";
  const acted = isDone ? "has completed" : "failed and may have acted";
  return `The call of ${key} in ${planId} ${acted}: it is called again ${why}`;
}

/**
 * The units with which a version begins: units carried over from the previous version, and steps with
 * unanswered calls, including calls of their items.
 */
export function carryUnits(
  { request, entry, invalid }: Pick<FoldContext, "request" | "entry" | "invalid">,
  previous: FoldedPlan | undefined,
  { carried, moved = [], settled, unanswered, repeats = [] }: EventOf<"plan.stored">,
): Map<string, FoldedUnit> {
  const units = new Map<string, FoldedUnit>();
  const decisions = new Map(settled.map(({ key, ...decision }) => [key, decision]));
  const changedBy = { seq: entry.seq, updatedAt: entry.at };
  const sources = new Map(moved.map((move) => [move.stepId, move]));
  for (const key of carried) {
    const move = sources.get(key.replace(/\[\d+\]$/, ""));
    const plan = move ? request.plans.get(move.planId) : previous;
    const unit = plan?.units.get(move ? move.from + key.slice(move.stepId.length) : key);
    if (!plan || !unit) throw invalid(`${key} is carried over, but does not exist`);
    const resolvedBy = decisions.get(key);
    units.set(key, {
      ...movedUnit(unit, plan.planId, key),
      ...changedBy,
      ...(resolvedBy && { resolvedBy }),
    });
  }
  const stepOf = ({ key }: { key: string }): FoldedUnit => {
    const stepId = key.replace(/\[\d+\]$/, "");
    return units.get(stepId) ?? { ...newUnit(stepId), ...changedBy };
  };
  for (const call of unanswered) {
    const unit = stepOf(call);
    const warnings = [...unit.warnings, resentCallWarning(call)];
    units.set(unit.key, { ...unit, warnings, unanswered: [...unit.unanswered, call] });
  }
  for (const repeat of repeats) {
    const unit = stepOf(repeat);
    units.set(unit.key, { ...unit, warnings: [...unit.warnings, repeatWarning(repeat)] });
  }
  return units;
}

/** Applies the start of a call to each unit that it serves. */
export function startAttempt(context: FoldContext, event: EventOf<"attempt.started">): void {
  const { entry } = context;
  const { attempt, attemptId, at } = event;
  const effect = event.mayAct ? ("possible" as const) : null;
  const open = { endedAt: null, durationMs: null, outcome: null, error: null, effect, endSeq: null };
  // All units share it: one event may start 10,000 items, and a change of an attempt replaces it.
  const started: FoldedAttempt = { attempt, attemptId, executor: entry.by.id, startedAt: at, ...open };
  if (event.errors) started.errors = event.errors;
  if (event.isLookup) started.isLookup = true;
  const { itemHashes } = event;
  const hashes = itemHashes && new Map(event.units.map((key, index) => [key, itemHashes[index]]));
  for (const key of unitsOf(context, event)) {
    const unit = openUnit(context, key);
    moveUnit(context, unit, "RUNNING");
    unit.attempts = [...unit.attempts.map((earlier) => closeLost(earlier, at)), started];
    unit.effectClass = event.effectClass;
    unit.mayHaveActed ||= event.mayAct;
    unit.arguments = event.arguments;
    unit.argumentsSeq = entry.seq;
    unit.argsHash = event.argsHash;
    unit.itemHash = hashes?.get(key);
    unit.tool = event.tool;
    unit.sentKey = event.sentKey;
    unit.waitReason = null;
    unit.nextAttemptAt = null;
    unit.startedAt ??= at;
  }
}

/**
 * Applies the end of a call to each unit that it served. Consecutive tries that could not reach the server
 * become one attempt.
 */
export function endAttempt(context: FoldContext, event: EventOf<"attempt.ended">): void {
  /** By the attempt before: the units of a call share it. */
  const closedOf = new Map<FoldedAttempt, FoldedAttempt>();
  for (const key of unitsOf(context, event)) {
    const unit = openUnit(context, key);
    const ended = unit.attempts.at(-1);
    if (ended?.attemptId !== event.attemptId)
      throw context.invalid(`${key} has no running attempt ${event.attemptId}`);
    if (ended.endedAt !== null)
      throw context.invalid(`attempt ${event.attemptId} of ${key} had ended before`);
    const closed = closedOf.get(ended) ?? closeBy(ended, event, context.entry.seq);
    closedOf.set(ended, closed);
    unit.attempts = [...unit.attempts.slice(0, -1), closed];
    joinUnsent(unit.attempts);
  }
}

function closeBy(ended: FoldedAttempt, event: EventOf<"attempt.ended">, endSeq: number): FoldedAttempt {
  const { outcome, error, at: endedAt, durationMs } = event;
  const effect = ended.effect && (event.effect ?? effectBefore(event));
  const closed: FoldedAttempt = { ...ended, outcome, error, effect, endedAt, durationMs, endSeq };
  return event.isUnsent ? { ...closed, unsent: { tries: 1, since: endedAt } } : closed;
}

/** The effect of a call that ended before ends of calls named it. */
function effectBefore({ outcome, isUnsent }: EventOf<"attempt.ended">): Effect {
  if (outcome === "completed") return "done";
  return isUnsent || outcome === "aborted" ? "none" : "possible";
}

/**
 * The units that a call changes. A batch that may be repeated is sent again with all items; items that have
 * ended do not change. When all units have ended, all are returned, so that applying the event fails.
 */
function unitsOf(context: FoldContext, { units }: { units: readonly string[] }): readonly string[] {
  const known = context.plan().units;
  const open = units.filter((key) => !isTerminalStepStatus(known.get(key)?.status ?? "PENDING"));
  return open.length > 0 ? open : units;
}

/**
 * Closes the attempts that were running when another worker took the plan: their worker was lost, and with it
 * their results. It can append nothing more.
 */
export function closeLostAttempts({ plan, entry }: Pick<FoldContext, "plan" | "entry">): void {
  const { units } = plan();
  for (const [key, unit] of units) {
    if (unit.attempts.at(-1)?.endedAt !== null) continue;
    const attempts = unit.attempts.map((attempt) => closeLost(attempt, entry.at));
    units.set(key, { ...unit, attempts, seq: entry.seq, updatedAt: entry.at });
  }
}

function closeLost(attempt: FoldedAttempt, at: Date): FoldedAttempt {
  if (attempt.endedAt !== null) return attempt;
  return { ...attempt, endedAt: at, outcome: "unknown", error: executorLost(attempt.executor) };
}

/** The error of an attempt whose executor was lost. */
export function executorLost(executor: string): { code: "EXECUTOR_LOST"; message: string; retryable: true } {
  const message = `The executor ${executor} was lost before it had an answer`;
  return { code: "EXECUTOR_LOST", message, retryable: true };
}

function joinUnsent(attempts: FoldedAttempt[]): void {
  const [previous, latest] = attempts.slice(-2);
  if (!latest?.unsent || !previous?.unsent || previous.unsent.isOver || !latest.endedAt) return;
  const { attempt, startedAt } = previous;
  const durationMs = latest.endedAt.getTime() - startedAt.getTime();
  const unsent = { ...previous.unsent, tries: previous.unsent.tries + 1 };
  attempts.splice(-2, 2, { ...latest, attempt, startedAt, durationMs, unsent });
}
