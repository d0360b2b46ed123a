import { isDeepStrictEqual } from "node:util";
import {
  canMove,
  groupBy,
  hasRequestEnded,
  isForEachStep,
  isJsonObject,
  isTerminalPlanStatus,
  isTerminalStepStatus,
  JsonValueSchema,
  PLAN_LIFECYCLE,
  PlanStatusSchema,
  planGraph,
  REQUEST_LIFECYCLE,
  RequestStatusSchema,
  STEP_LIFECYCLE,
  StepStatusSchema,
} from "@planwright/plan";
import type { LedgerEntry } from "@planwright/testing";
import { CHAOS_TOOLS, LIMITED_TOOL, labelOf } from "../chaos-plan.ts";
import type {
  AcceptedIds,
  BrokenPromise,
  Evidence,
  FinalPlan,
  FinalRequest,
  FinalStep,
  PlanChange,
  ViolationKind,
} from "../evidence.ts";
import { checkJournal } from "./check-journal.ts";
import { checkLists, checkReruns } from "./check-lists.ts";
import {
  acceptedLabels,
  callsByLabel,
  labelIn,
  type PlanVersion,
  planIdOfKey,
  type UnitCall,
  versionsByRequest,
} from "./plan-versions.ts";

/** The verdict about a run. */
export interface Verdict {
  violations: BrokenPromise[];
  /** Number of documents with a violation, by kind. */
  counts: { [kind in ViolationKind]: number };
  replays: number;
  inDoubt: number;
  /** True when there is no violation of any kind. */
  passed: boolean;
}

/** Judges a run by its evidence. Pure. */
export function checkRun(evidence: Evidence): Verdict {
  const { violations: ofEffects, replays, inDoubt } = checkEffects(evidence);
  const violations = [
    ...checkEndings(evidence),
    ...ofEffects,
    ...checkLists(evidence),
    ...checkReruns(evidence),
    ...checkHistory(evidence),
    ...checkJournal(evidence),
    ...evidence.seen,
  ];
  const count = (kind: ViolationKind): number =>
    new Set(violations.filter((violation) => violation.kind === kind).map(({ id }) => id)).size;
  return {
    violations,
    counts: {
      lost: count("lost"),
      duplicated: count("duplicated"),
      unfinished: count("unfinished"),
      regressions: count("regressions"),
      staleWrites: count("staleWrites"),
      lists: count("lists"),
      unlikeJournal: count("unlikeJournal"),
    },
    replays,
    inDoubt,
    passed: violations.length === 0,
  };
}

/*
 * Reads every write of a run in the order in which MongoDB made them, and checks:
 * 1. The epoch of a plan or step never goes down.
 * 2. No write follows the end of a plan, step or request. Exceptions: a new version gives the request its next plan;
 *    and a control that was accepted while the last entry of its plan was written is recorded behind the end.
 * 3. A step has no call before all its dependencies were COMPLETED, unless it was carried over.
 * 4. Only the process that holds the epoch of a write writes a step.
 * 5. A new item of a forEach has no older epoch than its step.
 * 6. No document is deleted.
 * 7. Every journal entry fits the entries before it.
 * 8. Statuses follow the moves of the lifecycle tables.
 */

/** What is written to a plan that has ended to settle controls that were accepted before. */
const SETTLES_CONTROLS: ReadonlySet<string> = new Set(["controls", "dueAt", "writeId"]);

const SIGNS_OF_A_CALL = new Set(["RUNNING", "RETRYING", "COMPLETED", "IN_DOUBT"]);

interface Known {
  status: string | undefined;
  epoch: number | undefined;
  /** Of a plan: a control was accepted before its end. */
  isAsked: boolean;
}

/** All violations in the history. Pure. */
function checkHistory({
  changes,
  plans,
  asked,
}: Pick<Evidence, "changes" | "plans" | "asked">): BrokenPromise[] {
  const violations: BrokenPromise[] = [];
  const report = (kind: ViolationKind, id: string, expected: string, found: string): void => {
    violations.push({ kind, id, expected, found });
  };
  const dependenciesOf = readDependencies(plans);
  const askedAgain = new Set(asked.map(({ requestId }) => requestId));
  const known = new Map<string, Known>();
  /** `{planId}/{epoch}` to the executor that holds the epoch. */
  const ownerOf = new Map<string, string>();

  for (const change of changes) {
    const { id, collection, type } = change;
    const before = known.get(id);
    if (type === "delete") {
      report("lost", id, "no deleted document", `a delete in ${collection}`);
      continue;
    }
    if (type === "invalid") {
      report("staleWrites", id, "an entry that follows from those before it", change.reason ?? "");
      continue;
    }
    const isAfterEnd = before?.status !== undefined && hasEnded(collection, before.status);
    if (isAfterEnd) {
      const written = `${change.status ?? before.status}, fields ${change.fields.join(", ")}`;
      const settles = before.isAsked && change.fields.every((field) => SETTLES_CONTROLS.has(field));
      if (collection !== "requests") {
        if (!settles) report("staleWrites", id, `no write after ${before.status}`, written);
      } else if (askedAgain.has(id) && change.fields.includes("planId")) known.delete(id);
      else if (change.status !== undefined && change.status !== before.status) {
        report("regressions", id, `${before.status} for good`, change.status);
      }
    }
    if (before?.status !== undefined && change.status !== undefined) {
      const isMove = mayFollow(collection, before.status, change.status);
      if (!isMove) report("regressions", id, `a status that may follow ${before.status}`, change.status);
    }
    if (before?.epoch !== undefined && change.epoch !== undefined && change.epoch < before.epoch) {
      report("staleWrites", id, `an epoch of ${before.epoch} at least`, String(change.epoch));
    }
    const now: Known = {
      status: change.status ?? before?.status,
      epoch: change.epoch ?? before?.epoch,
      isAsked: before?.isAsked === true || (!isAfterEnd && change.fields.includes("controls")),
    };
    known.set(id, now);
    if (collection === "plans" && change.owner !== undefined) ownerOf.set(`${id}/${now.epoch}`, change.owner);
    if (collection !== "steps") continue;
    const planId = id.slice(0, id.indexOf("/"));

    if (change.status !== undefined && SIGNS_OF_A_CALL.has(change.status) && change.isCarried !== true) {
      const open = (dependenciesOf.get(id.replace(/\[\d+\]$/, "")) ?? []).filter(
        (dependency) => known.get(dependency)?.status !== "COMPLETED",
      );
      for (const dependency of open) {
        const status = known.get(dependency)?.status ?? "not there";
        report(
          "staleWrites",
          id,
          `${dependency} COMPLETED before it`,
          `${change.status} while it is ${status}`,
        );
      }
    }
    const container = known.get(id.replace(/\[\d+\]$/, ""));
    if (type === "insert" && now.epoch !== undefined && now.epoch < (container?.epoch ?? 0)) {
      report("staleWrites", id, `an item with epoch ${container?.epoch} at least`, String(now.epoch));
    }
    const { writer } = change;
    const owner = ownerOf.get(`${planId}/${now.epoch}`);
    if (writer !== undefined && owner !== undefined && writer !== owner) {
      report("staleWrites", id, `writes of ${owner}, which has epoch ${now.epoch}`, `one of ${writer}`);
    }
  }
  return violations;
}

function mayFollow(collection: PlanChange["collection"], from: string, to: string): boolean {
  if (from === to) return true;
  if (collection === "requests") {
    return canMove(REQUEST_LIFECYCLE, RequestStatusSchema.parse(from), RequestStatusSchema.parse(to));
  }
  if (collection === "plans") {
    return canMove(PLAN_LIFECYCLE, PlanStatusSchema.parse(from), PlanStatusSchema.parse(to));
  }
  const [before, after] = [StepStatusSchema.parse(from), StepStatusSchema.parse(to)];
  // One write may contain the start and the end of an attempt: the step then passed through RUNNING.
  const hasPassed = canMove(STEP_LIFECYCLE, before, "RUNNING") && canMove(STEP_LIFECYCLE, "RUNNING", after);
  return canMove(STEP_LIFECYCLE, before, after) || hasPassed;
}

function hasEnded(collection: PlanChange["collection"], status: string): boolean {
  if (collection === "requests") return hasRequestEnded(RequestStatusSchema.parse(status));
  if (collection === "plans") return isTerminalPlanStatus(PlanStatusSchema.parse(status));
  return isTerminalStepStatus(StepStatusSchema.parse(status));
}

/** The ids of each step's dependencies, by the id of the step's document. */
function readDependencies(plans: Evidence["plans"]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { _id, plan } of plans) {
    if (plan === null) continue;
    for (const [stepId, dependencies] of planGraph(plan).dependencies) {
      found.set(
        `${_id}/${stepId}`,
        dependencies.map((dependency) => `${_id}/${dependency}`),
      );
    }
  }
  return found;
}

/** A plan ends at most this long after its deadline, in milliseconds. */
const AFTER_DEADLINE_MS = 30_000;

/** Checks that every accepted request still exists and has ended. Pure. */
function checkEndings(evidence: Evidence): BrokenPromise[] {
  const { accepted, requests } = evidence;
  const requestOf = new Map(requests.map((request) => [request._id, request]));
  const versionsOf = versionsByRequest(evidence);
  const known = new Set(accepted.map(({ requestId }) => requestId));
  // Every client received its ids in the end, so any other request is a duplicate.
  const extra = requests
    .filter(({ _id }) => !known.has(_id))
    .map(
      ({ _id, planId }): BrokenPromise => ({
        kind: "duplicated",
        id: _id,
        expected: "one request for one key",
        found: planId,
      }),
    );
  const wrong = accepted.flatMap((ids) => {
    const request = requestOf.get(ids.requestId);
    if (request === undefined) return [lost(ids.requestId, "the accepted request in MongoDB", "nothing")];
    const versions = versionsOf.get(ids.requestId) ?? [];
    const strange = [request, ...versions.map(({ plan }) => plan)].filter(
      ({ tenant }) => tenant !== ids.tenant,
    );
    if (strange.length > 0)
      return strange.map(({ _id, tenant }) =>
        lost(_id, `a record of tenant ${ids.tenant}`, `one of ${tenant}`),
      );
    if (versions[0]?.plan._id !== ids.planId) return checkUnplanned(ids, request);
    const last = versions.at(-1)?.plan._id;
    const current =
      last === request.planId ? [] : [lost(request._id, `${last}, its last plan`, request.planId)];
    // Each version ends before the next is made. The request shows only the newest version.
    const requestAt = (planId: string): FinalRequest =>
      planId === last ? request : { ...request, status: "COMPLETED" };
    return [
      ...current,
      ...versions.flatMap(({ plan, units }) => checkPlan(requestAt(plan._id), plan, units)),
    ];
  });
  return [...extra, ...wrong];
}

/** Only a request whose planning has ended may have no plan. */
function checkUnplanned({ planId }: AcceptedIds, request: FinalRequest): BrokenPromise[] {
  if (request.status === "FAILED" && request.error !== null) return [];
  if (request.status === "PLANNING") return [unfinished(request._id, "a planned request", "PLANNING")];
  return [lost(planId, "the accepted plan in MongoDB", `nothing, with the request ${request.status}`)];
}

function checkPlan(request: FinalRequest, plan: FinalPlan, steps: readonly FinalStep[]): BrokenPromise[] {
  const found: BrokenPromise[] = steps
    .filter((step) => step.status === "IN_DOUBT" && !mayBeInDoubt(step))
    .map(({ _id, tool }) => unfinished(_id, `a step of ${tool} is never in doubt`, "IN_DOUBT"));
  if (plan.status === "WAITING" && plan.waitReason === "in doubt") {
    if (steps.some(({ status }) => status === "IN_DOUBT")) return found;
    return [...found, unfinished(plan._id, "a step in doubt, since the plan waits for one", "none")];
  }
  if (!isTerminalPlanStatus(plan.status)) {
    const reason = plan.waitReason === null ? "" : ` (${plan.waitReason})`;
    return [...found, unfinished(plan._id, "a plan that has ended", `${plan.status}${reason}`)];
  }
  if (plan.status === "EXPIRED" && !steps.some(mayOutlastPlan)) {
    found.push(unfinished(plan._id, "an end of its work", "EXPIRED, with nothing in doubt or limited"));
  }
  if (!hasRequestEnded(request.status)) {
    found.push(
      unfinished(request._id, `a request that has ended, as its plan is ${plan.status}`, request.status),
    );
  }
  for (const { _id, status, item } of steps) {
    // A failed item, or one in doubt, is an entry in the output of its step; the step counts.
    const mayBeOpen = status === "IN_DOUBT" && (plan.status !== "COMPLETED" || item !== null);
    if (!isTerminalStepStatus(status) && !mayBeOpen) {
      found.push(unfinished(_id, `a step that has ended, as its plan is ${plan.status}`, status));
    } else if (
      plan.status === "COMPLETED" &&
      item === null &&
      status !== "COMPLETED" &&
      status !== "SKIPPED"
    ) {
      found.push(unfinished(_id, "COMPLETED, as its plan is", status));
    }
  }
  const missing = missingSteps(plan, steps);
  if (missing.length > 0)
    found.push(lost(plan._id, "a document for each step", `none for ${missing.join(", ")}`));
  const { deadlineAt, finishedAt } = plan;
  if (deadlineAt && finishedAt && finishedAt.getTime() > deadlineAt.getTime() + AFTER_DEADLINE_MS) {
    const lateMs = finishedAt.getTime() - deadlineAt.getTime();
    found.push(unfinished(plan._id, "its end within 30 s of the deadline", `${lateMs} ms after it`));
  }
  return found;
}

/**
 * No plan of a run has work for as long as its deadline, so a plan that expired was lost. Exceptions: it
 * waited for an operator, or for a slot of a limited tool. After each loss of Redis's memory no caller gets a
 * slot for a while, and faults may come faster than that.
 */
function mayOutlastPlan({ status, tool }: FinalStep): boolean {
  return status === "IN_DOUBT" || (tool === LIMITED_TOOL && status !== "COMPLETED");
}

/**
 * A call that may be repeated is in doubt only when one of its attempts got no answer. A read is never in
 * doubt.
 */
function mayBeInDoubt({ tool, attempts }: FinalStep): boolean {
  const { toolClass, isCounted } = CHAOS_TOOLS[tool] ?? {};
  if (toolClass === "U" || toolClass === "V") return true;
  return (
    isCounted === true && attempts.some(({ outcome }) => outcome !== "completed" && outcome !== "failed")
  );
}

function missingSteps(plan: FinalPlan, steps: readonly FinalStep[]): string[] {
  const keys = new Set(steps.map(({ key }) => key));
  return (plan.plan?.steps ?? []).map((step): string => step.id).filter((id) => !keys.has(id));
}

const lost = (id: string, expected: string, found: string): BrokenPromise => ({
  kind: "lost",
  id,
  expected,
  found,
});
const unfinished = (id: string, expected: string, found: string): BrokenPromise => ({
  kind: "unfinished",
  id,
  expected,
  found,
});

/*
 * Compares the ledger of the tool server with MongoDB. The idempotency key of an effect names its plan. The
 * label in its arguments, which the plan fixes, names its step. So the check also finds an executor that
 * changes keys between attempts.
 */
/** Violations and counts from the ledger. */
interface EffectsVerdict {
  violations: BrokenPromise[];
  /** Effects of repeatable tools (class R) beyond the first of each step. */
  replays: number;
  /** Steps in doubt. */
  inDoubt: number;
}

/** Compares effects with records. Pure. */
function checkEffects(evidence: Evidence): EffectsVerdict {
  const { plans, steps, ledger } = evidence;
  const violations: BrokenPromise[] = [];
  const report = (kind: ViolationKind, id: string, expected: string, found: string): void => {
    violations.push({ kind, id, expected, found });
  };
  const containers = new Set(
    plans.flatMap(({ _id, plan }) =>
      (plan?.steps ?? []).filter(isForEachStep).map(({ id }) => `${_id}/${id}`),
    ),
  );
  const versions = versionsByRequest(evidence);
  const versionOf = new Map([...versions.values()].flat().map((version) => [version.plan._id, version]));
  const unitOf = unitsIn(versionOf);
  const effectsOf = groupBy(ledger, unitOf);
  const effectsByLabel = groupBy(ledger, ({ arguments: args }) => labelIn(args));
  const units = new Map(steps.map((step) => [step._id, step]));
  const calls = callsByLabel(evidence.calls);
  let replays = 0;
  let inDoubt = 0;

  for (const step of steps) {
    if (containers.has(step._id)) continue;
    const effects = effectsOf.get(step._id) ?? [];
    const isRepeatable = CHAOS_TOOLS[step.tool]?.toolClass === "R";
    if (isRepeatable) replays += Math.max(0, effects.length - 1);
    else if (effects.length > 1) {
      report(
        "duplicated",
        step._id,
        `one effect of ${step.tool} at most`,
        `${effects.length}: ${numbersOf(effects)}`,
      );
    }
    if (step.status === "IN_DOUBT") inDoubt += 1;
    if (step.status === "COMPLETED" && CHAOS_TOOLS[step.tool]?.isCounted) {
      const effect = effectOf(step.output);
      // Earlier versions count too: carried-over units, and calls that were sent again under their first key.
      const label = versionOf.get(step.planId)?.labelOf(step.key);
      const known = label === undefined ? effects : (effectsByLabel.get(label) ?? []);
      if (!known.some((entry) => entry.effect === effect)) {
        report(
          "lost",
          step._id,
          `its effect ${effect ?? "?"} in the ledger, since it is COMPLETED`,
          numbersOf(effects),
        );
      }
    }
    if (hasNoEffect(step) && effects.length > 0) {
      const recorded = `it is ${step.status} and its effect ${step.effect ?? "unknown"}`;
      report("lost", step._id, `no effect, since ${recorded}`, numbersOf(effects));
    }
  }

  for (const [id, effects] of effectsOf) {
    const step = units.get(id);
    if (step === undefined) report("lost", id, "a record of a step that had an effect", "none");
    const keys = new Set(effects.filter((entry) => !isOwnKey(entry, id)).map(({ key }) => key));
    if (keys.size > 0) report("duplicated", id, "its own key with every call", [...keys].join(", "));
    if (new Set(effects.map(({ argsHash }) => argsHash)).size > 1) {
      report("regressions", id, "the same arguments in every attempt", `others for ${numbersOf(effects)}`);
    }
    for (const entry of effects)
      for (const wrong of wrongInputs(entry, id, { units, versionOf })) report("regressions", ...wrong);
  }
  // A plan that a client submitted twice under one key is one request.
  const requestOf = new Map(plans.map(({ _id, requestId }) => [_id, requestId]));
  for (const [label, effects] of effectsByLabel) {
    const requestIds = new Set(effects.map(planOf).map((planId) => requestOf.get(planId) ?? planId));
    if (requestIds.size > 1)
      report("duplicated", label ?? "?", "one request for one idempotency key", [...requestIds].join(", "));
  }
  for (const family of versions.values()) violations.push(...newKeysAfterEffects(family, effectsOf, calls));
  return { violations, replays, inDoubt };
}

/** The record says that the step had no effect. */
function hasNoEffect({ status, effect, tool }: FinalStep): boolean {
  // Effects of repeatable calls need no record: another call does no harm.
  if (status === "FAILED" || status === "CANCELLED")
    return CHAOS_TOOLS[tool]?.toolClass !== "R" && effect !== "possible" && effect !== "done";
  return status === "PENDING" || status === "SKIPPED";
}

/**
 * A unit that did not complete gets a new key for the same call only when its first call is known not to have
 * acted. A tool of class U has no keys: after an error its call is made again only by its name. Units that
 * completed: see `checkReruns`.
 */
function newKeysAfterEffects(
  versions: readonly PlanVersion[],
  effectsOf: ReadonlyMap<string, readonly LedgerEntry[]>,
  calls: ReadonlyMap<string, readonly UnitCall[]>,
): BrokenPromise[] {
  return versions.flatMap((version, position) =>
    version.units.flatMap(({ key, tool }): BrokenPromise[] => {
      const { plan } = version;
      const [effect] = effectsOf.get(`${plan._id}/${key}`) ?? [];
      if (effect === undefined || CHAOS_TOOLS[tool]?.toolClass === "R") return [];
      const label = version.labelOf(key);
      const idIn = (one: PlanVersion): string => `${one.plan._id}/${one.keyOf(label) ?? ""}`;
      const isSame = (first: LedgerEntry): boolean => isDeepStrictEqual(first.arguments, effect.arguments);
      const earlier = versions.slice(0, position).findLast((one) => effectsOf.get(idIn(one))?.some(isSame));
      if (earlier === undefined) return [];
      const before = earlier.units.find((unit) => unit.key === earlier.keyOf(label));
      const first = effectsOf.get(idIn(earlier))?.find(isSame);
      const wasRefused = (calls.get(label) ?? []).some(
        (call) => call.key === first?.key && call.answer === "error",
      );
      const isNamed =
        CHAOS_TOOLS[tool]?.toolClass !== "K" && wasRefused && acceptedLabels(versions, position).has(label);
      if (before?.status === "COMPLETED" || isNamed) return [];
      const found = `effect ${effect.effect} under a new one`;
      return [
        {
          kind: "duplicated",
          id: `${plan._id}/${key}`,
          expected: `the key of effect ${first?.effect}`,
          found,
        },
      ];
    }),
  );
}

/** True when the key is that of the unit, or of a batch that contains it. */
function isOwnKey({ key, tool }: LedgerEntry, id: string): boolean {
  if (key === id) return true;
  const batch = /^(.*)\[(\d+)\.\.(\d+)\]$/.exec(key ?? "");
  const item = /^(.*)\[(\d+)\]$/.exec(id);
  if (batch === null || item === null || CHAOS_TOOLS[tool]?.isBatch !== true || batch[1] !== item[1])
    return false;
  return Number(batch[2]) <= Number(item[2]) && Number(item[2]) <= Number(batch[3]);
}

/** Inputs of a call that differ from the recorded outputs of earlier steps. */
function wrongInputs(
  { arguments: args, effect }: LedgerEntry,
  id: string,
  {
    units,
    versionOf,
  }: { units: ReadonlyMap<string, FinalStep>; versionOf: ReadonlyMap<string, PlanVersion> },
): [id: string, expected: string, found: string][] {
  const value = args["value"];
  const from = isJsonObject(value) ? value["from"] : undefined;
  if (!isJsonObject(from)) return [];
  const planId = id.slice(0, id.indexOf("/"));
  const version = versionOf.get(planId);
  return Object.entries(from).flatMap(([dependency, used]): [string, string, string][] => {
    const label = labelOf(version?.index ?? -1, dependency);
    const output = units.get(`${planId}/${version?.keyOf(label) ?? dependency}`)?.output;
    const recorded = effectOf(output) ?? labelIn(JsonValueSchema.safeParse(output).data);
    if (recorded === used) return [];
    return [[id, `effect ${effect} with ${String(recorded)} from ${dependency}`, JSON.stringify(used)]];
  });
}

/** `{planId}/{step key}`. The idempotency key gives the plan, the arguments give the step. */
function unitsIn(versionOf: ReadonlyMap<string, PlanVersion>): (entry: LedgerEntry) => string {
  return (entry) => {
    const label = labelIn(entry.arguments) ?? "?/?";
    const planId = planOf(entry);
    return `${planId}/${versionOf.get(planId)?.keyOf(label) ?? label.slice(label.indexOf("/") + 1)}`;
  };
}

function planOf({ key }: LedgerEntry): string {
  return planIdOfKey(key);
}

function effectOf(recorded: unknown): number | undefined {
  const output = JsonValueSchema.safeParse(recorded).data;
  return isJsonObject(output) && typeof output["effect"] === "number" ? output["effect"] : undefined;
}

function numbersOf(effects: readonly LedgerEntry[]): string {
  return effects.length === 0 ? "no effect" : `effects ${effects.map(({ effect }) => effect).join(", ")}`;
}
