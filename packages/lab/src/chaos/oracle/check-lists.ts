/**
 * Checks the results of lists from the plan, the log of the tools and the items, without the engine's counts.
 *
 * 1. A completed list has called each of its items that its condition lets through, has as many successes as it
 *    needs, and has the right counts.
 * 2. A completed list that stops at failures has no failed item. After its first failed item it starts no
 *    other.
 * 3. A failed list has too few successes or stops at failures.
 * 4. An item is COMPLETED only when its tool answered with a result for it, and the recorded output is
 *    exactly that result.
 * 5. A skipped item was never called. An item that the condition excludes is SKIPPED.
 * 6. A plan is COMPLETED only when each called item of its lists is. It is PARTIAL when only items failed.
 * 7. A step that reads a list reads the results of its items.
 */
import { isDeepStrictEqual } from "node:util";
import {
  type ForEachStep,
  isCarried,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  JsonValueSchema,
  type Step,
} from "@planwright/plan";
import { skippedItems } from "../../random/plan-shapes.ts";
import { CHAOS_TOOLS, labelOf as labelOfPlan } from "../chaos-plan.ts";
import type { BrokenPromise, Evidence, FinalStep } from "../evidence.ts";
import {
  acceptedLabels,
  callsByLabel,
  labelIn,
  type PlanVersion,
  type UnitCall,
  versionsByRequest,
} from "./plan-versions.ts";

/**
 * An item starts at most this long after the record of a failure, in milliseconds. Allows for differences of
 * clocks.
 */
const STOPS_WITHIN_MS = 1_000;

/** A list and its items, after the end of the plan. */
interface EndedList {
  id: string;
  step: ForEachStep;
  /** The positions of the items in the plan that its condition lets through. */
  planned: readonly number[];
  stops: boolean;
  unit: FinalStep;
  /** Those items, in input order. */
  items: readonly FinalStep[];
  /** The items that the condition excludes. */
  excluded: readonly FinalStep[];
}

type Report = (id: string, expected: string, found: string) => void;

/** Checks the lists of every plan that ended COMPLETED, PARTIAL or FAILED. Pure. */
export function checkLists(evidence: Evidence): BrokenPromise[] {
  const calls = callsByLabel(evidence.calls);
  const violations: BrokenPromise[] = [];
  const report: Report = (id, expected, found) =>
    void violations.push({ kind: "lists", id, expected, found });
  for (const version of [...versionsByRequest(evidence).values()].flat()) {
    const { plan, units } = version;
    if (plan.status !== "COMPLETED" && plan.status !== "PARTIAL" && plan.status !== "FAILED") continue;
    const lists = listsOf(version);
    for (const list of lists) {
      if (list.unit.status === "COMPLETED") checkCompleted(list, report);
      if (list.unit.status === "FAILED" && plan.error?.code !== "POISONED") checkFailed(list, report);
      if (list.stops) checkStopped(list, report);
      for (const item of [...list.items, ...list.excluded]) checkItem(version, item, calls, report);
    }
    checkPlan(version, lists, report);
    for (const unit of units) checkReader(version, lists, unit, report);
  }
  return violations;
}

/** The recorded lists of a plan, with their items. Pure. */
export function listsOf({ plan, units }: Pick<PlanVersion, "plan" | "units">): EndedList[] {
  return (plan.plan?.steps ?? []).filter(isForEachStep).flatMap((step): EndedList[] => {
    const unit = units.find(({ key }) => key === step.id);
    const { items: given, errors } = step.forEach;
    if (unit === undefined || !Array.isArray(given)) return [];
    const skipped = skippedItems(step);
    const planned = [...given.keys()].filter((item) => !skipped.has(item));
    const items = units
      .filter(({ stepId, item }) => stepId === step.id && item !== null)
      .toSorted((one, other) => (one.item ?? 0) - (other.item ?? 0));
    const stops = errors === undefined ? CHAOS_TOOLS[unit.tool]?.collects !== true : errors === "stop";
    const isExcluded = ({ item }: FinalStep): boolean => item !== null && skipped.has(item);
    const called = items.filter((item) => !isExcluded(item));
    return [{ id: unit._id, step, planned, stops, unit, items: called, excluded: items.filter(isExcluded) }];
  });
}

function checkCompleted(list: EndedList, report: Report): void {
  const { id, items, stops, excluded } = list;
  const planned = list.planned.length;
  const ok = countOf(items, "COMPLETED");
  const failed = countOf(items, "FAILED") + countOf(items, "IN_DOUBT");
  const found = `COMPLETED with ${ok} of ${planned} items, ${failed} failed`;
  for (const { _id, status } of excluded)
    if (status !== "SKIPPED") report(_id, "SKIPPED, since its condition is false", status);
  if (ok + failed !== planned || items.length !== planned) report(id, "each of its items called", found);
  if (ok < needed(list)) report(id, `${needed(list)} successes at least`, found);
  if (stops && failed > 0) report(id, "FAILED, since it stops at failures", found);
  if (!agreesWithItems(list))
    report(id, "an output that agrees with its items", JSON.stringify(list.unit.output));
}

/** True when the envelope agrees with the documents of the items, each of them and in its summary. */
function agreesWithItems({ step, unit, items, excluded }: EndedList): boolean {
  const output = JsonValueSchema.safeParse(unit.output).data;
  if (!isJsonObject(output) || !Array.isArray(output["results"]) || !isJsonObject(output["summary"]))
    return false;
  const { results, summary } = output;
  const ok = countOf(items, "COMPLETED");
  if (summary["ok"] !== ok || summary["error"] !== items.length - ok || results.length !== items.length)
    return false;
  if (summary["skipped"] !== (step.forEach.when ? excluded.length : undefined)) return false;
  return results.every((entry, index) => {
    const item = items[index];
    if (item === undefined || !isJsonObject(entry) || entry["index"] !== item.item) return false;
    if (item.status === "COMPLETED")
      return entry["status"] === "ok" && isDeepStrictEqual(entry["data"], item.output);
    return entry["status"] === (item.status === "IN_DOUBT" ? "in_doubt" : "error");
  });
}

function checkFailed(list: EndedList, report: Report): void {
  const { id, items, planned, stops } = list;
  const ok = countOf(items, "COMPLETED");
  const failed = countOf(items, "FAILED");
  if (ok < needed(list) || (stops && failed > 0)) return;
  report(
    id,
    `a reason to fail: it needs ${needed(list)}`,
    `FAILED with ${ok} of ${planned.length}, ${failed} failed`,
  );
}

function checkStopped({ items }: EndedList, report: Report): void {
  const ends = items.flatMap(({ status, finishedAt }) =>
    status === "FAILED" && finishedAt !== null ? [finishedAt.getTime()] : [],
  );
  if (ends.length === 0) return;
  const stoppedAt = Math.min(...ends);
  for (const { _id, attempts } of items) {
    const startedAt = attempts[0]?.startedAt.getTime();
    if (startedAt === undefined || startedAt <= stoppedAt + STOPS_WITHIN_MS) continue;
    report(_id, "no start after another item failed", `a first call ${startedAt - stoppedAt} ms after that`);
  }
}

function checkItem(
  { index, plan, labelOf }: PlanVersion,
  unit: FinalStep,
  calls: ReadonlyMap<string, readonly UnitCall[]>,
  report: Report,
): void {
  if (index === undefined || isCarried(unit)) return;
  const { _id, key, tool, status, output } = unit;
  const label = labelOf(key);
  const own = calls.get(label) ?? [];
  if (status === "SKIPPED" || status === "PENDING") {
    const mine = own.filter(({ planId }) => planId === plan._id);
    if (mine.length > 0) report(_id, `no call, since it is ${status}`, `${mine.length} calls`);
  }
  if (status !== "COMPLETED") return;
  // The look-up may have replaced a lost answer.
  const isAnswered = CHAOS_TOOLS[tool]?.toolClass === "V" || own.some(({ answer }) => answer === "ok");
  if (!isAnswered)
    report(_id, "a result of its tool, since it is COMPLETED", `${own.length} calls without one`);
  const labelled = labelIn(JsonValueSchema.safeParse(output).data);
  if (labelled !== label) report(_id, `the output of ${label}`, labelled ?? JSON.stringify(output));
}

function checkPlan({ plan, units }: PlanVersion, lists: readonly EndedList[], report: Report): void {
  const partly = lists.find(
    ({ unit, items, planned }) => unit.status === "COMPLETED" && countOf(items, "COMPLETED") < planned.length,
  );
  if (partly === undefined) return;
  const onlyItemsFailed = units.every(({ item, status }) => item !== null || status === "COMPLETED");
  const isRight = onlyItemsFailed ? plan.status === "PARTIAL" : plan.status !== "COMPLETED";
  if (!isRight) report(plan._id, `no more than PARTIAL, as items of ${partly.id} failed`, plan.status);
}

/** A step whose output is the number of succeeded items of an earlier list. */
function checkReader(
  { index = -1, keyOf }: PlanVersion,
  lists: readonly EndedList[],
  reader: FinalStep,
  report: Report,
): void {
  const output = JsonValueSchema.safeParse(reader.output).data;
  const value = isJsonObject(output) ? output["value"] : undefined;
  if (reader.item !== null || !isJsonObject(value) || value["ok"] === undefined) return;
  const from = keyOf(labelOfPlan(index, typeof value["of"] === "string" ? value["of"] : ""));
  const list = lists.find(({ step }) => step.id === from);
  if (list === undefined || list.unit.status !== "COMPLETED") return;
  const ok = countOf(list.items, "COMPLETED");
  if (value["ok"] !== ok) report(reader._id, `${ok} successes of ${list.id}`, JSON.stringify(value["ok"]));
}

/** Number of successes that the plan requires. Default: 1; none when no item is called. */
function needed({ step: { forEach }, planned }: EndedList): number {
  const { minSuccess = 1 } = forEach;
  if (planned.length === 0) return 0;
  return minSuccess < 1 ? minSuccess * planned.length : minSuccess;
}

function countOf(items: readonly FinalStep[], status: FinalStep["status"]): number {
  return items.filter((item) => item.status === status).length;
}

/*
 * The calls of later versions, derived from the versions of a plan and the log of the tools.
 *
 * 1. A client asked for each version, and what it asked made one version, however often it was sent.
 * 2. A rerun carries over a completed unit without a call. Exceptions: the step that the client named, its
 *    dependents, and steps that read a list with failed items.
 * 3. Every item that had not completed is called again when its list ended. Exceptions: a lookup found the
 *    result of an earlier call; its server was unreachable; its call was never answered and it is in doubt, as the
 *    executor or the tool server may have been killed before the tool logged that call; or an earlier version had
 *    made the call, and it was not to be repeated.
 * 4. A call with an effect that completed in any version is made by no later one, under any step id, unless the
 *    client named its step.
 * 5. A step waits for an approval, or is refused as a repeat, only when an earlier version asked for an approval in
 *    its plan, or when an earlier call of it acted or may have acted and the client did not name it. No chaos tool
 *    asks for approvals itself.
 */

interface Facts {
  calls: ReadonlyMap<string, readonly UnitCall[]>;
  /** References of results that lookups found. */
  found: ReadonlySet<unknown>;
  /** The arguments of each effect, by its number. */
  effects: ReadonlyMap<number, JsonObject>;
}

/** Checks every version after the first. Pure. */
export function checkReruns(evidence: Evidence): BrokenPromise[] {
  const facts = {
    calls: callsByLabel(evidence.calls),
    found: new Set(evidence.ledger.map((effect) => effect.arguments["reference"])),
    effects: new Map(evidence.ledger.map((effect) => [effect.effect, effect.arguments])),
  };
  return [...versionsByRequest(evidence).values()].flatMap((versions) =>
    versions.flatMap((next, place) => {
      const before = versions[place - 1];
      if (before === undefined) return checkNeeds(versions, place, evidence);
      if (next.asked === undefined)
        return [duplicated(next.plan._id, "a version that was asked for", "one that was not")];
      return [
        ...checkVersion(versions, place, facts),
        ...checkRepeats(versions, place, facts),
        ...checkNeeds(versions, place, evidence),
      ];
    }),
  );
}

function checkVersion(versions: readonly PlanVersion[], place: number, facts: Facts): BrokenPromise[] {
  const [before, next] = [versions[place - 1], versions[place]];
  if (before === undefined || next === undefined) return [];
  const after = new Map(next.units.map((unit) => [unit.key, unit]));
  const mayRepeat = repeatedBy(versions, place);
  const isRerun = next.asked?.kind === "rerun" || next.asked?.kind === "retry";
  const kept = before.units
    .filter((unit) => isRerun && unit.status === "COMPLETED" && !mayRepeat(before.labelOf(unit.key)))
    .flatMap((unit) => checkKept(unit, after.get(unit.key), next, facts));
  const isFound = (key: string): boolean =>
    after.get(key)?.status === "COMPLETED" && facts.found.has(next.labelOf(key));
  const notCalled = checkCalledAgain(versions.slice(0, place), next, facts).filter(
    (key) => !isFound(key) && !mayBeMissingInLog(after.get(key)),
  );
  return [...kept, ...notCalled.map((key) => toLost(`${next.plan._id}/${key}`, after.get(key)))];
}

/** The steps of the version at this place that wait for an approval, or are refused, though nothing demands it. */
function checkNeeds(
  versions: readonly PlanVersion[],
  place: number,
  { changes }: Pick<Evidence, "changes">,
): BrokenPromise[] {
  const next = versions[place];
  if (next === undefined) return [];
  const earlier = versions.slice(0, place);
  const accepted = acceptedLabels(versions, place);
  const asked = new Set(changes.flatMap(({ id, status }) => (status === "WAITING_APPROVAL" ? [id] : [])));
  const isDemanded = (key: string, stepId: string): boolean =>
    earlier.some((version) => {
      const isSame = (of: "key" | "stepId", other: string): boolean =>
        version.labelOf(other) === next.labelOf(of === "key" ? key : stepId);
      const inPlan = (version.plan.plan?.steps ?? []).filter(({ id }) => isSame("stepId", id));
      const mayHaveActed = version.units.some(
        (unit) =>
          CHAOS_TOOLS[unit.tool]?.isCounted === true &&
          // A step waits for the approval of all its items; each item is refused alone.
          (isSame("key", unit.key) || (key === stepId && isSame("stepId", unit.stepId))) &&
          unit.attempts.length > 0 &&
          unit.effect !== "none",
      );
      return inPlan.some(({ approval }) => approval === true) || mayHaveActed;
    });
  return next.units.flatMap(({ key, stepId, error }): BrokenPromise[] => {
    const id = `${next.plan._id}/${key}`;
    const isRefused = error?.code === "REPEAT_NOT_ACCEPTED";
    if (!isRefused && !asked.has(id)) return [];
    if (isDemanded(key, stepId) && !accepted.has(next.labelOf(stepId))) return [];
    const found = isRefused ? "REPEAT_NOT_ACCEPTED" : "WAITING_APPROVAL";
    return [{ kind: "unfinished", id, expected: "a call, since nothing demands an approval", found }];
  });
}

/** Whether a unit may have no call, or an attempt whose call the tools did not log. */
function mayBeMissingInLog(unit: FinalStep | undefined): boolean {
  if (unit?.status === "FAILED")
    return unit.attempts.length > 0 || unit.error?.code === "REPEAT_NOT_ACCEPTED";
  if (unit?.status === "COMPLETED") return isCarried(unit);
  const isUnanswered = ({ outcome }: FinalStep["attempts"][number]) =>
    outcome === null || outcome === "unknown";
  return unit?.status === "IN_DOUBT" && unit.attempts.some(isUnanswered);
}

/** Whether the version at this place may call a unit again that completed before, by its label. */
function repeatedBy(versions: readonly PlanVersion[], place: number): (label: string) => boolean {
  const [before, asked] = [versions[place - 1], versions[place]?.asked];
  const accepted = acceptedLabels(versions, place);
  if (before === undefined || (asked?.kind !== "rerun" && asked?.kind !== "retry"))
    return (label) => accepted.has(label);
  const { from } = asked;
  const steps = before.plan.plan?.steps ?? [];
  const partly = new Set(
    listsOf(before)
      .filter(
        ({ items, planned }) => items.filter(({ status }) => status === "COMPLETED").length < planned.length,
      )
      .map(({ step }): string => step.id),
  );
  const named = from === null ? new Set<string>() : dependentsOf(steps, from);
  const readers = new Set(
    steps.filter((step) => [...partly].some((list) => reads(step, list))).map(({ id }): string => id),
  );
  return (label) => {
    const unit = before.units.find(({ key }) => key === before.keyOf(label));
    if (unit === undefined || accepted.has(label)) return accepted.has(label);
    const { stepId, item } = unit;
    if (partly.has(stepId)) return item === null || (named.has(stepId) && stepId !== from);
    return named.has(stepId) || stepId === from || readers.has(stepId);
  };
}

/** Steps that depend on this one, directly or through others. */
function dependentsOf(steps: readonly Step[], from: string): Set<string> {
  const found = new Set<string>();
  const path = [from];
  for (let id = path.pop(); id !== undefined; id = path.pop()) {
    for (const step of steps) {
      if (found.has(step.id) || !step.dependsOn.some((dependency) => dependency === id)) continue;
      found.add(step.id);
      path.push(step.id);
    }
  }
  return found;
}

function reads(step: Step, list: string): boolean {
  return JSON.stringify(step).includes(`<<${list}.`);
}

function checkKept(
  unit: FinalStep,
  after: FinalStep | undefined,
  { plan, labelOf }: PlanVersion,
  { calls }: Facts,
): BrokenPromise[] {
  const id = `${plan._id}/${unit.key}`;
  const own = calls.get(labelOf(unit.key)) ?? [];
  const again = own.filter(({ planId }) => planId === plan._id).length;
  const isSame = after?.status === "COMPLETED" && isDeepStrictEqual(after.output, unit.output);
  return [
    ...(again > 0
      ? [duplicated(id, "no call, since it had completed before the rerun", `${again} calls`)]
      : []),
    ...(isSame && isCarried(after)
      ? []
      : [lost(id, "carried over as it was", after === undefined ? "nothing" : JSON.stringify(after))]),
  ];
}

/** The calls of the version at this place that repeat a call that completed in an earlier one. */
function checkRepeats(versions: readonly PlanVersion[], place: number, facts: Facts): BrokenPromise[] {
  const next = versions[place];
  if (next === undefined) return [];
  return versions.slice(0, place).flatMap((version, earlier) => {
    const mayRepeat = versions
      .slice(earlier + 1, place + 1)
      .map((_, index) => repeatedBy(versions, earlier + 1 + index));
    return version.units.flatMap((unit): BrokenPromise[] => {
      const done = isCarried(unit) ? undefined : argumentsDone(unit, facts);
      const label = version.labelOf(unit.key);
      if (done === undefined || mayRepeat.some((may) => may(label))) return [];
      const again = (facts.calls.get(label) ?? []).filter(
        (call) => call.planId === next.plan._id && isDeepStrictEqual(call.arguments, done),
      );
      if (again.length === 0) return [];
      const expected = `no call, since ${version.plan._id} had completed it as ${unit.key}`;
      return [
        duplicated(`${next.plan._id}/${next.keyOf(label) ?? label}`, expected, `${again.length} calls`),
      ];
    });
  });
}

/** The arguments of the call that completed a unit; undefined when there is none, or when it may be repeated. */
function argumentsDone(
  { status, tool, output: recorded }: FinalStep,
  { effects }: Facts,
): JsonObject | undefined {
  if (status !== "COMPLETED" || CHAOS_TOOLS[tool]?.toolClass === "R") return undefined;
  const output = JsonValueSchema.safeParse(recorded).data;
  const effect = isJsonObject(output) ? output["effect"] : undefined;
  return typeof effect === "number" ? effects.get(effect) : undefined;
}

/** Keys of items that should have been called again and were not. */
function checkCalledAgain(earlier: readonly PlanVersion[], next: PlanVersion, facts: Facts): string[] {
  const completed = new Set(
    earlier.flatMap(({ units, labelOf }) =>
      units.filter(({ status }) => status === "COMPLETED").map(({ key }) => labelOf(key)),
    ),
  );
  return listsOf(next)
    .filter(({ unit, stops }) => unit.status === "COMPLETED" || (unit.status === "FAILED" && !stops))
    .filter(({ unit }) => !isCarried(unit))
    .flatMap(({ step, planned }) => planned.map((item) => `${step.id}[${item}]`))
    .filter((key) => !completed.has(next.labelOf(key)))
    .filter((key) => !wasCalled(next, key, facts));
}

/** The violation says how the unit ended, since that tells where its call was lost. */
function toLost(id: string, unit: FinalStep | undefined): BrokenPromise {
  const outcomes = unit?.attempts.map(({ outcome }) => outcome ?? "not answered").join(", ");
  const end = unit === undefined ? "no record" : `it is ${unit.status}, attempts: ${outcomes || "none"}`;
  return lost(id, "a call, since it had not completed before", `none; ${end}`);
}

/** True for a call under the key of this version, or of an earlier one whose call may have acted. */
function wasCalled({ plan, labelOf }: PlanVersion, key: string, { calls }: Facts): boolean {
  const own = calls.get(labelOf(key)) ?? [];
  return own.some(({ planId, at }) => planId === plan._id || at >= plan.createdAt.getTime());
}

const duplicated = (id: string, expected: string, found: string): BrokenPromise => ({
  kind: "duplicated",
  id,
  expected,
  found,
});
const lost = (id: string, expected: string, found: string): BrokenPromise => ({
  kind: "lost",
  id,
  expected,
  found,
});
