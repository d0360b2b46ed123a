import {
  canMove,
  isSettledStepStatus,
  isTerminalPlanStatus,
  needsPerson,
  PLAN_LIFECYCLE,
  planNeed,
} from "@planwright/plan";
import type { PlanDocument } from "@planwright/store";
import type { Actor } from "../world/actor.ts";
import { EPOCH_MS } from "../world/simulated-process.ts";
import { checkLists } from "./check-lists.ts";
import type { Fail } from "./invariants.ts";
import { countFinished, type PlanFacts } from "./plan-facts.ts";

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
function checkKeptControls(facts: PlanFacts, { before, after, soon }: PlanWrite, fail: Fail): void {
  const kept = new Set(after.controls?.map(({ id }) => id));
  if (after.controlSeq > before.controlSeq && !kept.has(after.controlSeq))
    fail("control-is-kept", `${facts.name} has ${after.controlSeq} controls, and the last one is missing`);
  const removed = before.controls?.filter(({ id }) => !kept.has(id)) ?? [];
  soon(() => {
    for (const { id, event } of removed)
      if (!facts.controls.has(id))
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

function survived(facts: PlanFacts, { actor }: PlanWrite, fail: Fail): void {
  const claims = actor ? (facts.claimsOf.get(actor.process) ?? 0) : 0;
  if (!actor || claims === 0) {
    return fail("survived-once", `${actor?.process.name} took a claim of ${facts.name} from the count`);
  }
  facts.claimsOf.set(actor.process, claims - 1);
  facts.claimsWithoutProgress = Math.max(0, facts.claimsWithoutProgress - 1);
  facts.claimsWithoutAnyProgress = Math.max(0, facts.claimsWithoutAnyProgress - 1);
}

function claimed(facts: PlanFacts, { before, after, actor, now, calmSince }: PlanWrite, fail: Fail): void {
  facts.claimedAt = now;
  if (actor) facts.claimsOf.set(actor.process, (facts.claimsOf.get(actor.process) ?? 0) + 1);
  facts.claimsWithoutProgress += 1;
  facts.claimsWithoutAnyProgress += 1;
  // After a release no entry is being written, so the claim finds all entries. Its executor may die before it
  // writes `lease.taken`.
  if (!before.lease) lookForProgress(facts);
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
  lookForProgress(facts);
}

function lookForProgress(facts: PlanFacts): void {
  const finished = countFinished(facts);
  if (finished > facts.finishedAtClaim) {
    facts.claimsWithoutProgress = 1;
    facts.claimsWithoutAnyProgress = 1;
    facts.claimsAtClaim = 1;
  }
  facts.finishedAtClaim = finished;
}
