import type { StepRun } from "@planwright/engine";
import {
  canMove,
  type ForEachStep,
  isForEachStep,
  isJsonObject,
  isSettledStepStatus,
  isTerminalPlanStatus,
  needsPerson,
  PLAN_LIFECYCLE,
  planNeed,
} from "@planwright/plan";
import type { PlanDocument } from "@planwright/store";
import { skippedItems } from "../../random/plan-shapes.ts";
import { type Actor, EPOCH_MS } from "../world/processes.ts";
import type { Fail } from "./invariants.ts";
import { countFinished, type PlanFacts, type StepFacts } from "./plan-facts.ts";

/** Number of consecutive claims without progress after which no call is made. */
export const MAX_CLAIMS_WITHOUT_PROGRESS = 5;
const CLAIMED_WITHIN_MS = 3_000;
const CANCELLED_WITHIN_MS = 10_000;
/** Within this time of calm an owner knows a control. */
const SEEN_WITHIN_MS = 1_000;
/** How far an executor's estimate of the database clock may differ from the simulated time, in milliseconds. */
const CLOCK_MS = 1_000;

/** A write of a plan document. */
export interface PlanWrite {
  before: PlanDocument;
  after: PlanDocument;
  actor: Actor | null;
  /** True when its request is removed: then the journal takes no entry, and nothing is left to a control. */
  isGone: () => boolean;
  /** Simulated milliseconds. */
  now: number;
  calmSince: number;
  /** Runs a check at the end of this instant, because one command writes several documents. */
  soon: (check: () => void) => void;
}

/** Checks a plan document that was just written, and updates the facts. */
export function checkPlanWrite(facts: PlanFacts, write: PlanWrite, fail: Fail): void {
  const { before, after, actor, now } = write;
  const writtenEpoch: unknown = actor?.write?.condition["lease.epoch"];
  if (typeof writtenEpoch === "number" && writtenEpoch < before.epoch) {
    const who = `${actor?.process.name} wrote ${after._id} (${before.status} -> ${after.status})`;
    fail("one-writer", `${who} under epoch ${writtenEpoch}; its epoch is ${before.epoch}`);
  }
  if (before.status !== after.status && !canMove(PLAN_LIFECYCLE, before.status, after.status)) {
    fail("status-arrows", `${facts.name} went from ${before.status} to ${after.status}`);
  }
  checkKeptControls(facts, write, fail);
  if (after.cancelRequestedAt && facts.cancelAskedAt === null) facts.cancelAskedAt = now;
  if (before.pauseRequestedAt !== null && after.pauseRequestedAt === null) facts.resumedAt = now;
  if (after.pauseRequestedAt === null) facts.pauseAskedAt = null;
  else facts.pauseAskedAt ??= now;
  if (after.progressSeen > before.progressSeen) facts.claimsWithoutAnyProgress = 1;
  if (after.epoch > before.epoch) claimed(facts, write, fail);
  else if (before.lease && !after.lease) {
    facts.claimsWithoutProgress = isTerminalPlanStatus(after.status) ? facts.claimsWithoutProgress : 0;
    facts.claimsWithoutAnyProgress = 0;
  } else if (isSurvived(write)) survived(facts, write, fail);
  notePeople(facts, after, now);
  const hasEnded = isTerminalPlanStatus(after.status) && !isTerminalPlanStatus(before.status);
  if (hasEnded) ended(facts, write, fail);
}

/** True while no executor holds a plan that was begun, and only a person can continue it. */
function waitsForPeople(document: PlanDocument, now: number): boolean {
  const { lease, dueAt, startedAt } = document;
  const isDue = dueAt !== null && dueAt.getTime() - EPOCH_MS <= now;
  return !lease && !isDue && startedAt !== null && needsPerson(planNeed(document));
}

function notePeople(facts: PlanFacts, after: PlanDocument, now: number): void {
  if (waitsForPeople(after, now)) {
    facts.peopleSince ??= now;
    return;
  }
  if (facts.peopleSince === null) return;
  facts.peopleMs += now - facts.peopleSince;
  facts.peopleSince = null;
}

/** Fails for a plan that expired although it had time left: no wait for a person ends a plan. */
function checkOwnTime(facts: PlanFacts, after: PlanDocument, now: number, fail: Fail): void {
  if (after.status !== "EXPIRED" || !after.startedAt) return;
  const { name, peopleMs } = facts;
  const ownMs = now - (after.startedAt.getTime() - EPOCH_MS) - peopleMs;
  const limitMs = after.timeoutMs ?? (after.deadlineAt?.getTime() ?? 0) - after.startedAt.getTime();
  // Each claim reads the clock of the database anew.
  const toleranceMs = CLOCK_MS * (after.epoch + 1);
  if (ownMs + toleranceMs < limitMs)
    fail(
      "only-own-time-counts",
      `${name} is EXPIRED after ${ownMs} ms of ${limitMs} ms, and ${peopleMs} ms for people`,
    );
}

/** A control is added with its number, and removed when it is in the journal. */
function checkKeptControls(facts: PlanFacts, { before, after, isGone, soon }: PlanWrite, fail: Fail): void {
  const kept = new Set(after.controls?.map(({ id }) => id));
  if (after.controlSeq > before.controlSeq && !kept.has(after.controlSeq))
    fail("control-is-kept", `${facts.name} has ${after.controlSeq} controls, and the last one is missing`);
  const removed = before.controls?.filter(({ id }) => !kept.has(id)) ?? [];
  soon(() => {
    for (const { id, event } of removed)
      if (!facts.controls.has(id) && !isGone())
        fail("control-is-kept", `${event.type}, number ${id} of ${facts.name}, is not in its journal`);
  });
}

/** Checks a control that an entry records. */
export function checkRecordedControl(
  facts: PlanFacts,
  { id, at }: { id: number; at: Date },
  calmSince: number,
  fail: Fail,
): void {
  if (facts.controls.has(id)) fail("control-is-kept", `control ${id} of ${facts.name} is recorded twice`);
  facts.controls.add(id);
  const askedAt = at.getTime() - EPOCH_MS;
  const { endedAt } = facts;
  if (endedAt !== null && calmSince <= askedAt && endedAt - askedAt > SEEN_WITHIN_MS)
    fail("control-is-kept", `${facts.name} ended ${endedAt - askedAt} ms after control ${id}, without it`);
}

/** True when the write subtracts one claim from the count and no progress explains the difference. */
function isSurvived({ before, after }: PlanWrite): boolean {
  return after.claims < before.claims && after.progressSeen === before.progressSeen;
}

function survived(facts: PlanFacts, { after, actor }: PlanWrite, fail: Fail): void {
  const claims = actor ? (facts.claimsOf.get(actor.process) ?? 0) : 0;
  if (!actor || claims === 0) {
    return fail("survived-once", `${actor?.process.name} took a claim of ${facts.name} from the count`);
  }
  facts.claimsOf.set(actor.process, claims - 1);
  if ((after.survivedEpoch ?? 0) < facts.countedFrom) return;
  facts.claimsWithoutProgress = Math.max(0, facts.claimsWithoutProgress - 1);
  facts.claimsWithoutAnyProgress = Math.max(0, facts.claimsWithoutAnyProgress - 1);
}

/** Counts a claim, also that of a plan which is stored as claimed. */
export function claimed(
  facts: PlanFacts,
  { before, after, actor, now, calmSince }: Omit<PlanWrite, "isGone" | "soon">,
  fail: Fail,
): void {
  facts.claimedAt = now;
  if (actor) facts.claimsOf.set(actor.process, (facts.claimsOf.get(actor.process) ?? 0) + 1);
  facts.claimsWithoutProgress += 1;
  facts.claimsWithoutAnyProgress += 1;
  // After a release no entry is being written, so the claim finds all entries. Its executor may die before it
  // writes `lease.taken`.
  if (!before.lease) lookForProgress(facts, after.epoch);
  facts.claimsAtClaim = facts.claimsWithoutProgress;
  const dueAt = before.dueAt === null ? now : before.dueAt.getTime() - EPOCH_MS;
  if (calmSince <= dueAt && now - dueAt > CLAIMED_WITHIN_MS) {
    fail(
      "taken-over",
      `${facts.name} was due at ${dueAt} ms and claimed at ${now} ms (epoch ${after.epoch})`,
    );
  }
}

function ended(facts: PlanFacts, { after, now, calmSince, soon }: PlanWrite, fail: Fail): void {
  const { claimsAtClaim, cancelAskedAt, name } = facts;
  if (after.error?.code === "POISONED" && claimsAtClaim <= MAX_CLAIMS_WITHOUT_PROGRESS)
    fail("progress-is-no-poison", `${name} ended POISONED at claim ${claimsAtClaim} without progress`);
  if (cancelAskedAt !== null && calmSince <= cancelAskedAt && now - cancelAskedAt > CANCELLED_WITHIN_MS) {
    fail("cancel-stops", `${name} ended ${now - cancelAskedAt} ms after its cancel`);
  }
  checkOwnTime(facts, after, now, fail);
  soon(() => {
    if (facts.endedInJournal !== after.status) {
      const recorded = facts.endedInJournal ?? "no end";
      fail("end-follows-entry", `${name} is ${after.status}, and its journal has ${recorded}`);
    }
    checkComplete(facts, after, fail);
    checkLists(facts, after, fail);
  });
}

function checkComplete({ name, units }: PlanFacts, after: PlanDocument, fail: Fail): void {
  const counts: Record<string, number> = {};
  for (const unit of units.values()) {
    if (!isSettledStepStatus(unit.status)) {
      fail("ends-complete", `${name} ended ${after.status} while ${unit.key} was ${unit.status}`);
    }
    if (unit.item === null) counts[unit.status] = (counts[unit.status] ?? 0) + 1;
  }
  if (after.counts && !isSame(counts, { ...after.counts })) {
    fail(
      "ends-complete",
      `${name} counts ${JSON.stringify(after.counts)}, its steps ${JSON.stringify(counts)}`,
    );
  }
}

function isSame(a: Record<string, number>, b: Record<string, number>): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
}

/** Earlier epochs are fenced off: compares the state that the claim found, to see progress. */
export function fenced(facts: PlanFacts, epoch: number): void {
  if (epoch <= facts.fencedBy) return;
  facts.fencedBy = epoch;
  lookForProgress(facts, epoch);
}

/** @param epoch - that of the claim that may find progress */
function lookForProgress(facts: PlanFacts, epoch: number): void {
  const finished = countFinished(facts);
  if (finished > facts.finishedAtClaim) {
    facts.claimsWithoutProgress = 1;
    facts.claimsWithoutAnyProgress = 1;
    facts.claimsAtClaim = 1;
    facts.countedFrom = epoch;
  }
  facts.finishedAtClaim = finished;
}

/*
 * Checks the results of lists from the plan, the contracts and the items, without the engine's counts.
 *
 * 1. A completed list has as many successes as it needs, has called each item that its condition lets through,
 *    and has the right counts.
 * 2. A completed list that stops at failures has no failed item.
 * 3. A list that failed by its items has too few successes or stops at failures.
 * 4. The output of an item is the data itself, without the tool's envelope.
 * 5. A plan is COMPLETED only when each called item of its lists is. It is PARTIAL when only items failed.
 * 6. An item that the condition excludes is SKIPPED, without a call and without an entry in the output.
 */

/** A list and its items, after the end of the plan. */
interface EndedList {
  name: string;
  step: ForEachStep;
  stops: boolean;
  unit: StepRun;
  /** Those that its condition lets through, in input order. */
  items: readonly StepRun[];
  /** Those that its condition excludes. */
  excluded: readonly StepRun[];
}

/** Checks the lists of a plan that has just ended. */
function checkLists(facts: PlanFacts, after: PlanDocument, fail: Fail): void {
  const lists = [...facts.steps.values()].flatMap((step) => endedList(facts, step));
  for (const list of lists) {
    for (const { key, status, attempts } of list.excluded)
      if (attempts.length > 0) fail("lists-agree", `${key} was called, though its condition is false`);
      else if (list.unit.status === "COMPLETED" && status !== "SKIPPED")
        fail("lists-agree", `${key} is ${status}, though its condition is false`);
    if (list.unit.status === "COMPLETED") checkCompleted(list, fail);
    if (list.unit.error?.code === "ITEMS_FAILED" && list.unit.status === "FAILED") checkFailed(list, fail);
  }
  const partial = lists.find(
    ({ unit, items }) => unit.status === "COMPLETED" && countOf(items, "COMPLETED") < items.length,
  );
  if (!partial) return;
  const onlyItemsFailed = [...facts.units.values()].every(hasNotFailed);
  const expected = onlyItemsFailed ? after.status === "PARTIAL" : after.status !== "COMPLETED";
  if (!expected)
    fail("lists-agree", `${facts.name} ended ${after.status} though items of ${partial.name} failed`);
}

/** True for a step that did not fail; items do not count. */
function hasNotFailed({ item, status, error }: StepRun): boolean {
  return (
    item !== null || status === "COMPLETED" || (status === "SKIPPED" && error?.code === "CONDITION_FALSE")
  );
}

/** True when a failed item stops its list, by the plan or by default by the contract of its tool. */
export function stopsAtFailure({ step, tool }: StepFacts): boolean {
  if (!isForEachStep(step)) return false;
  return step.forEach.errors === undefined ? tool.stopsLists : step.forEach.errors === "stop";
}

function endedList(facts: PlanFacts, { step, ...rest }: StepFacts): EndedList[] {
  const unit = facts.units.get(step.id);
  if (!isForEachStep(step) || !unit) return [];
  const items = [...facts.units.values()]
    .filter(({ stepId, item }) => stepId === step.id && item !== null)
    .toSorted((one, other) => (one.item ?? 0) - (other.item ?? 0));
  const skipped = skippedItems(step);
  const isExcluded = ({ item }: StepRun): boolean => item !== null && skipped.has(item);
  const name = `${facts.name}/${step.id}`;
  return [
    {
      name,
      step,
      stops: stopsAtFailure({ step, ...rest }),
      unit,
      items: items.filter((item) => !isExcluded(item)),
      excluded: items.filter(isExcluded),
    },
  ];
}

function checkCompleted(list: EndedList, fail: Fail): void {
  const { name, items, stops } = list;
  const ok = countOf(items, "COMPLETED");
  const failed = countOf(items, "FAILED") + countOf(items, "IN_DOUBT");
  const found = `${name} is COMPLETED with ${ok} of ${items.length} items, ${failed} failed`;
  if (ok + failed < items.length) fail("lists-agree", `${found}, and others were never called`);
  if (ok < needed(list)) fail("lists-agree", `${found}; it needs ${needed(list)}`);
  if (stops && failed > 0) fail("lists-agree", `${found}, though it stops at failures`);
  if (!items.every(isData)) fail("lists-agree", `${found}, and an item's output is an entry`);
  if (!agreesWithItems(list))
    fail("lists-agree", `${found}, and its output is ${JSON.stringify(list.unit.output)}`);
}

/** Every simulated tool returns a `value`, and so does the simulated operator. */
function isData({ status, output, outputRef }: StepRun): boolean {
  return (
    status !== "COMPLETED" ||
    outputRef !== undefined ||
    (isJsonObject(output) && Object.hasOwn(output, "value"))
  );
}

/** True when the envelope agrees with the documents of its items, each of them and in its summary. */
function agreesWithItems({ step, unit: { output, outputRef }, items, excluded }: EndedList): boolean {
  if (outputRef) return true;
  if (!isJsonObject(output) || !Array.isArray(output["results"]) || !isJsonObject(output["summary"]))
    return false;
  const { results, summary } = output;
  const ok = countOf(items, "COMPLETED");
  if (summary["ok"] !== ok || summary["error"] !== items.length - ok || results.length !== items.length)
    return false;
  if (summary["skipped"] !== (step.forEach.when ? excluded.length : undefined)) return false;
  return results.every((entry, index) => {
    const item = items[index];
    if (!item || !isJsonObject(entry) || entry["index"] !== item.item) return false;
    const isOk = item.status === "COMPLETED";
    return (entry["status"] === "ok") === isOk && Object.hasOwn(entry, isOk ? "data" : "error");
  });
}

function checkFailed(list: EndedList, fail: Fail): void {
  const ok = countOf(list.items, "COMPLETED");
  const hasReason = ok < needed(list) || (list.stops && countOf(list.items, "FAILED") > 0);
  const found = `${list.name} is FAILED by its items with ${ok} of ${list.items.length}`;
  if (!hasReason) fail("lists-agree", `${found}; it needs ${needed(list)}`);
}

/** Number of successes that the plan requires: 1 by default, 0 for an empty list. */
function needed({ step: { forEach }, items }: EndedList): number {
  const { minSuccess = 1 } = forEach;
  if (items.length === 0) return 0;
  return minSuccess < 1 ? minSuccess * items.length : minSuccess;
}

function countOf(items: readonly StepRun[], status: StepRun["status"]): number {
  return items.filter((item) => item.status === status).length;
}
