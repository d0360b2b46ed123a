import type { JournalEntry, Outcome, StepRun } from "@planwright/engine";
import {
  canMove,
  isCarried,
  isTerminalPlanStatus,
  type PlanStatus,
  REQUEST_LIFECYCLE,
  STEP_LIFECYCLE,
  type StepStatus,
} from "@planwright/plan";
import { type PlanClaim, type PlanDocument, type RequestDocument } from "@planwright/store";
import type { DocumentChange } from "@planwright/store/memory";
import type { ToolCall } from "@planwright/tools";
import { createUnitChanges, type UnitChange } from "../../journal/unit-changes.ts";
import { argumentsOfEach, LOOKUP_TOOL, unitNamesOf, type WorldTool } from "../world/catalogue.ts";
import { type Actor, EPOCH_MS, type EventLog } from "../world/processes.ts";
import {
  checkCallStart,
  checkDoubt,
  createEffectsCheck,
  createRecordsCheck,
  type EffectsCheck,
  isRead,
  nameOfAnswer,
  type RecordsCheck,
} from "./check-calls.ts";
import { checkPlanWrite, checkRecordedControl, claimed, fenced } from "./check-plans.ts";
import type { Fail, Violation } from "./invariants.ts";
import { nameOfUnit, type PlanFacts, planFactsOf, type StepFacts, unitOfName } from "./plan-facts.ts";

/** Dependencies of the checker. */
export interface CheckerParts {
  log: EventLog;
  /** Simulated milliseconds. */
  now: () => number;
  /** The time after which no fault can be the cause of an event. */
  calmSince: () => number;
  /** Runs a function at the end of this instant. */
  soon: (happen: () => void) => void;
  /** Called for each change of a unit by an entry. */
  onUnit: (change: UnitChange) => void;
}

/** Observes every event and checks the invariants. */
export interface Checker {
  /** The first violation, if any. */
  violation(): Violation | null;
  fail: Fail;
  /** A document was written. */
  wrote(change: DocumentChange, actor: Actor | null): void;
  /** A process has received a claim. */
  claimed(process: string, claim: PlanClaim): void;
  /** A process begins to read outputs of so many bytes. The returned function ends that. */
  reads(process: string, bytes: number, maxBytes: number): () => void;
  /** A process sends a call after its connection was begun. The returned function ends the call. */
  called(process: string, call: ToolCall, begunAt: number): () => void;
  effects: {
    /** A tool acts for a unit of a call. */
    acted(unit: string, acting: { tool: WorldTool; call: ToolCall; arguments: string }): void;
  } & Pick<EffectsCheck, "allowedAgain" | "repeatAccepted">;
  records: Pick<RecordsCheck, "resolvedByOperator" | "asked" | "toAccept">;
  unreachable: Pick<UnreachableCheck, "tried">;
  /** A wait in the process of an executor is told that a request has ended. */
  toldOfEnd(requestId: string): void;
  /** A client received the id of its plan. */
  accepted(planId: string): void;
  /** A document was removed. */
  removed(collection: string, id: string): void;
  /** True when the request of a plan is removed. */
  isGone(facts: PlanFacts): boolean;
  /** A client reads a plan. */
  read(planId: string, document: PlanDocument | null): void;
  facts(planId: string): PlanFacts | undefined;
  plans(): Iterable<PlanFacts>;
}

/** True when the unit has no durable attempt, or only the current one of this owner. */
function isFirstOf(owner: string, unit: StepRun | undefined): boolean {
  const { attempts = [] } = unit ?? {};
  return attempts.length <= 1 && attempts.every(({ executor }) => executor === owner);
}

/** Creates the checker of a new world. */
export function createChecker({ log, now, calmSince, soon, onUnit }: CheckerParts): Checker {
  const plans = new Map<string, PlanFacts>();
  const requests = new Set<string>();
  const byName = new Map<string, PlanFacts>();
  /** The latest claim that each process holds or held, by process and plan. */
  const claims = new Map<string, Pick<PlanClaim, "epoch" | "owner">>();
  const seen = new Map<string, PlanStatus>();
  /** Ids of removed requests, and of plans that clients received. */
  const gone = new Set<string>();
  const acknowledged = new Set<string>();
  /** Entries that store a version whose document is not written yet, by its id. */
  const ahead = new Map<string, { entry: JournalEntry; actor: Actor | null }>();
  let violation: Violation | null = null;
  const unitChangesOf = createUnitChanges((planId) => plans.get(planId)?.document);

  const fail: Fail = (invariant, message) => {
    if (violation) return;
    violation = { invariant, message, at: now() };
    log.note("VIOLATED", invariant, message);
  };
  const effects = createEffectsCheck(fail, (planId, name) => {
    const facts = plans.get(planId);
    const key = facts && unitOfName(facts, name)?.key;
    const unit = key === undefined ? undefined : facts?.units.get(key);
    const hasFailed = unit?.status === "FAILED" || unit?.status === "CANCELLED";
    return hasFailed && !unit.resolvedBy && (unit.effect === "possible" || unit.effect === "done");
  });
  const limits = createLimitsCheck(fail);
  const unreachable = createUnreachableCheck({ now, fail });
  const byRequest = (id: string): PlanFacts[] =>
    [...plans.values()].filter(({ document }) => document.requestId === id);
  const records = createRecordsCheck(fail, byRequest);

  /** An acknowledged version goes only after its end. */
  function checkGone({ document, endedInJournal }: PlanFacts): void {
    const { _id, requestId, status } = document;
    const hasEnded = endedInJournal !== null || isTerminalPlanStatus(status);
    if (gone.has(requestId) && acknowledged.has(_id) && !hasEnded)
      fail("acknowledged-is-kept", `${_id} was returned to a client, and is removed while it is ${status}`);
  }

  function factsOf(planId: string): PlanFacts {
    const facts = plans.get(planId);
    if (!facts) throw new TypeError(`Plan ${planId} was never written`);
    return facts;
  }

  function wrotePlan(before: PlanDocument | null, after: PlanDocument, actor: Actor | null): void {
    if (before) {
      const facts = factsOf(after._id);
      facts.document = after;
      const times = { now: now(), calmSince: calmSince(), soon };
      const isGone = (): boolean => gone.has(after.requestId);
      checkPlanWrite(facts, { before, after, actor, isGone, ...times }, fail);
      const isQueued = before.status === "READY" && after.status === "QUEUED";
      soon(() => {
        if (isQueued && !facts.isQueuedInJournal)
          fail("version-follows-entry", `${facts.name} is queued without an entry`);
      });
      const hasEnded = isTerminalPlanStatus(after.status) && !isTerminalPlanStatus(before.status);
      if (hasEnded) soon(() => unreachable.ended(facts));
      if (hasEnded) soon(() => records.ended(facts));
      return;
    }
    if (!requests.has(after.requestId))
      fail("request-before-plan", `${after._id} is stored, and ${after.requestId} is not`);
    if (!after.plan) return;
    const facts = planFactsOf(after.raw ?? "", after.plan, after);
    // Without an idempotency key no client submits a plan twice. Here requests, with their keys, are removed much
    // earlier than the 24 h for which a key is kept.
    const first = after.version === 1 ? byName.get(facts.name) : undefined;
    if (first && !gone.has(first.document.requestId))
      fail("key-makes-one", `${facts.name} became ${first.document._id} and then ${after._id}`);
    if (first) effects.forget(facts.name);
    plans.set(after._id, facts);
    byName.set(facts.name, facts);
    // A later version continues the epochs of the one before it, so an epoch alone is no claim.
    if (after.lease) {
      const unclaimed = { ...after, lease: null, dueAt: null };
      claimed(facts, { before: unclaimed, after, actor, now: now(), calmSince: calmSince() }, fail);
    }
    soon(() => {
      if (after.version > 1 && !facts.isStoredInJournal)
        fail(
          "version-follows-entry",
          `version ${after.version} of ${facts.name} is stored without its entry`,
        );
    });
    const storing = ahead.get(after._id);
    ahead.delete(after._id);
    if (storing) wroteEntry(storing.entry, storing.actor);
  }

  function wroteEntry(entry: JournalEntry, actor: Actor | null): void {
    // Its process does not know of the removal yet, and takes the entry back.
    if (gone.has(entry.requestId)) return;
    const isVersion = entry.events.some(({ type }) => type === "plan.stored");
    if (isVersion && !plans.has(entry.planId)) return void ahead.set(entry.planId, { entry, actor });
    let changes: UnitChange[];
    try {
      changes = unitChangesOf(entry);
    } catch (error) {
      return fail("journal-folds", String(error));
    }
    for (const change of changes) {
      const { after, epoch } = change;
      const facts = factsOf(after.planId);
      facts.units.set(after.key, after);
      if (epoch !== undefined) facts.epochs.set(after.key, epoch);
      checkUnitWrite(facts, { ...change, actor }, fail);
      checkDoubt(facts, after, now(), fail);
      records.changed(facts, change);
      const isSettled = after.resolvedBy && !change.before?.resolvedBy && !isCarried(after);
      if (isSettled && after.resolvedBy?.resolution === "retry")
        effects.leftToRerun(nameOfUnit(facts, after));
      onUnit(change);
    }
    for (const event of entry.events) {
      if ("asked" in event && event.asked)
        checkRecordedControl(factsOf(entry.planId), event.asked, calmSince(), fail);
      // From here on all earlier epochs are fenced off.
      if (event.type === "lease.taken") fenced(factsOf(entry.planId), event.epoch);
      if (event.type === "approval.given") factsOf(entry.planId).approvals.push(event);
      if (event.type === "plan.stored") factsOf(event.planId).isStoredInJournal = true;
      if (event.type === "execution.asked") factsOf(entry.planId).isQueuedInJournal = true;
      if (event.type === "plan.ended")
        Object.assign(factsOf(entry.planId), { endedInJournal: event.status, endedAt: now() });
    }
  }

  return {
    violation: () => violation,
    fail,
    wrote(change, actor) {
      if (change.collection === "requests") {
        requests.add(change.after._id);
        checkRequestWrite(change, fail);
      }
      if (change.collection === "plans") wrotePlan(change.before, change.after, actor);
      if (change.collection === "journal") wroteEntry(change.after, actor);
    },
    claimed: (process, { plan, epoch, owner }) => void claims.set(`${process} ${plan._id}`, { epoch, owner }),
    reads: limits.reads,
    called(process, call, begunAt) {
      const names = unitNamesOf(call);
      const facts = byName.get(names[0]?.split("/")[0] ?? "");
      const units = names.flatMap((name) => (facts ? (unitOfName(facts, name) ?? []) : []));
      const step = units[0]?.step;
      if (!facts || !step) throw new TypeError(`A call of ${call.tool} names no unit`);
      // A process that was declared dead continues under another name.
      const { epoch, owner = process } = claims.get(`${process} ${facts.document._id}`) ?? {};
      const isLookup = call.tool === LOOKUP_TOOL;
      const keys = units.map(({ key }) => key);
      const times = { begunAt, now: now(), calmSince: calmSince() };
      checkCallStart({ facts, step, keys, isLookup, owner, epoch, ...times }, fail);
      if (!isLookup) {
        const mayDiffer = isRead(step) && keys.every((key) => isFirstOf(owner, facts.units.get(key)));
        effects.sent(names, {
          arguments: JSON.stringify(call.arguments),
          each: argumentsOfEach(call),
          planId: facts.document._id,
          version: facts.document.version,
          tool: step.tool,
          key: call.idempotencyKey,
          mayDiffer,
        });
      }
      if (gone.has(facts.document.requestId))
        fail("acknowledged-is-kept", `${names.join(",")} is called, and its request is removed`);
      const end = limits.begin(`${process} ${facts.name} ${epoch ?? 0}`, facts, step);
      return () => {
        end();
        for (const key of keys) facts.answered.add(nameOfAnswer(owner, epoch, key));
      };
    },
    effects: {
      ...effects,
      acted(unit, { tool, call, arguments: args }) {
        effects.acted(unit, tool, args);
        const [planId = ""] = (call.idempotencyKey ?? "").split("/");
        if (tool.hasSideEffects) records.acted(unit, plans.get(planId));
      },
    },
    unreachable,
    records,
    toldOfEnd(requestId) {
      const latest = byRequest(requestId).at(-1);
      if (latest && latest.endedInJournal === null)
        fail("told-is-durable", `${latest.name} is told to have ended, and its journal has no end`);
    },
    accepted(planId) {
      const facts = plans.get(planId);
      if (!facts) fail("accepted-is-durable", `${planId} was returned to a client and is not stored`);
      acknowledged.add(planId);
      if (facts) checkGone(facts);
    },
    removed(collection, id) {
      if (collection === "requests") gone.add(id);
      const facts = collection === "requests" ? byRequest(id) : [plans.get(id)];
      for (const one of facts) if (one) checkGone(one);
    },
    isGone: ({ document }) => gone.has(document.requestId),
    read(planId, document) {
      const status = document?.status;
      const before = seen.get(planId);
      const facts = plans.get(planId);
      if (status === undefined && !(facts && gone.has(facts.document.requestId)))
        fail("reads-go-forward", `A client received ${planId}, and then the API did not know it`);
      else if (before && before !== status && isTerminalPlanStatus(before)) {
        fail("reads-go-forward", `A client read ${before} of ${planId}, and ${status} later`);
      }
      if (status !== undefined) seen.set(planId, status);
    },
    facts: (planId) => plans.get(planId),
    plans: () => plans.values(),
  };
}

/** Checks a request document that was just written. */
function checkRequestWrite(
  { before, after }: { before: RequestDocument | null; after: RequestDocument },
  fail: Fail,
): void {
  if (!before || before.status === after.status) return;
  if (canMove(REQUEST_LIFECYCLE, before.status, after.status)) return;
  fail("status-arrows", `${after._id} went from ${before.status} to ${after.status}`);
}

/** Checks the change of a unit by an entry. */
function checkUnitWrite(
  facts: PlanFacts,
  { before, after, epoch, actor }: UnitChange & { actor: Actor | null },
  fail: Fail,
): void {
  if (epoch !== undefined && epoch < facts.fencedBy) {
    const who = `${actor?.process.name} wrote ${after.planId}/${after.key} (${before?.status ?? "nothing"} -> ${after.status})`;
    fail("one-writer", `${who} under epoch ${epoch}, which epoch ${facts.fencedBy} had fenced off`);
  }
  if (!before) return;
  if (before.finishedAt !== null && (before.status !== after.status || before.output !== after.output)) {
    fail(
      "completed-is-final",
      `${after.planId}/${after.key} was ${before.status} and became ${after.status}`,
    );
  }
  if (!isReachable(before, after)) {
    fail("status-arrows", `${after.planId}/${after.key} went from ${before.status} to ${after.status}`);
  }
}

/** One write may contain the start and the end of an attempt: the unit then passed through RUNNING. */
function isReachable(before: StepRun, after: StepRun): boolean {
  if (before.status === after.status || mayMove(before.status, after.status)) return true;
  const hasBegun = after.attempts.length > before.attempts.length;
  return hasBegun && mayMove(before.status, "RUNNING") && mayMove("RUNNING", after.status);
}

function mayMove(from: StepStatus, to: StepStatus): boolean {
  return canMove(STEP_LIFECYCLE, from, to);
}

/** Numbers of running calls of one run. */
interface Running {
  total: number;
  barriers: number;
  byTool: Map<string, number>;
}

/** Counts concurrent calls for each run of a plan, and concurrent reads of outputs for each process. */
interface LimitsCheck {
  /** A call of a run starts; the returned function ends it. */
  begin(run: string, facts: PlanFacts, step: StepFacts): () => void;
  reads: Checker["reads"];
}

/** The part of the budget up to which outputs are small, and by which small ones may exceed it. */
const SMALL = { each: 1 / 64, all: 1 / 16 };

function createLimitsCheck(fail: Fail): LimitsCheck {
  const runs = new Map<string, Running>();
  /** Sizes of the outputs that each process is reading. */
  const reading = new Map<string, number[]>();

  return {
    reads(process, bytes, maxBytes) {
      const now = [...(reading.get(process) ?? []), bytes];
      reading.set(process, now);
      const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0);
      const isSmall = (size: number): boolean => size <= maxBytes * SMALL.each;
      const large = now.filter((size) => !isSmall(size));
      const isAlone = large.length < 2 && sum(now.filter(isSmall)) <= maxBytes * SMALL.all;
      if (sum(now) > maxBytes && !isAlone)
        fail(
          "memory-budget",
          `${process} reads outputs of ${now.join(", ")} bytes at once; ${maxBytes} are allowed`,
        );
      return () => {
        const left = [...(reading.get(process) ?? [])];
        left.splice(left.indexOf(bytes), 1);
        reading.set(process, left);
      };
    },
    begin(run, facts, { tool, toolName }) {
      const running = runs.get(run) ?? { total: 0, barriers: 0, byTool: new Map<string, number>() };
      runs.set(run, running);
      const ofTool = running.byTool.get(toolName) ?? 0;
      const { maxParallel } = facts.plan.policy;
      if (running.total >= maxParallel)
        fail("limits", `${run} starts call ${running.total + 1} of ${maxParallel}`);
      if (ofTool >= tool.limit) {
        fail("limits", `${run} starts call ${ofTool + 1} of ${toolName}, which takes ${tool.limit}`);
      }
      if (running.barriers > 0 || (tool.isBarrier && running.total > 0)) {
        fail("limits", `${run} starts ${toolName} beside a barrier (${running.total} running)`);
      }
      const change = (by: number): void => {
        running.total += by;
        running.byTool.set(toolName, (running.byTool.get(toolName) ?? 0) + by);
        if (tool.isBarrier) running.barriers += by;
      };
      change(1);
      return () => change(-1);
    },
  };
}

/**
 * How far an executor's estimate of the database clock may differ from the simulated time, in milliseconds.
 */
const CLOCK_MS = 1_000;

/** Tracks how long the server of each unit has been unreachable. */
interface UnreachableCheck {
  /** A call was sent or did not reach its server. */
  tried(call: ToolCall, outcome: Outcome | undefined): void;
  /** A plan has ended. */
  ended(facts: PlanFacts): void;
}

/** Creates the check of a new world. @param now - simulated milliseconds */
function createUnreachableCheck({ now, fail }: { now: () => number; fail: Fail }): UnreachableCheck {
  /** For units whose last call did not reach the server: since when. */
  const unreachableSince = new Map<string, number>();

  /** True when the unit failed before the time that its plan waits for a server. */
  function isEarly({ name, plan, steps }: PlanFacts, unit: StepRun): boolean {
    const step = steps.get(unit.stepId)?.step;
    const unitName = unit.item === null ? `${name}/${unit.stepId}` : `${name}/${unit.stepId}/${unit.item}`;
    const since = unreachableSince.get(unitName);
    // An operator can decide at any time.
    if (!step || since === undefined || !unit.finishedAt || unit.error?.code === "SETTLED_AS_FAILED")
      return false;
    const waitedMs = unit.finishedAt.getTime() - EPOCH_MS - since;
    return waitedMs + CLOCK_MS < plan.policy.unreachableMs;
  }

  return {
    tried(call, outcome) {
      // A lookup that answers shows that the server is reachable again. If it finds no call, the attempt
      // counts, whatever the dead executor knew.
      if (call.tool === LOOKUP_TOOL && outcome !== undefined) return;
      const isUnreachable = outcome?.type === "failed" && outcome.error.code === "TOOL_UNREACHABLE";
      for (const name of unitNamesOf(call)) {
        if (!isUnreachable) unreachableSince.delete(name);
        else if (!unreachableSince.has(name)) unreachableSince.set(name, now());
      }
    },
    ended(facts) {
      if (facts.document.error?.code === "POISONED") return;
      const failures = [...facts.units.values()].filter(({ status }) => status === "FAILED");
      const ofItems = new Set(failures.flatMap(({ item, stepId }) => (item === null ? [] : [stepId])));
      // The failure of a list is not counted when its items failed; otherwise it is a separate failure.
      const failed = failures.filter(({ item, stepId }) => item !== null || !ofItems.has(stepId));
      const early = failed.filter((unit) => isEarly(facts, unit));
      // Another failure may have stopped the plan or the list earlier.
      if (early.length === 0 || early.length < failed.length) return;
      const keys = early.map(({ key }) => key).join(",");
      fail("unreachable-is-waited-for", `${facts.name} failed ${keys} too early`);
    },
  };
}
