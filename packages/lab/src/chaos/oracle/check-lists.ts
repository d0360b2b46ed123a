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
import { type ForEachStep, isForEachStep, isJsonObject, JsonValueSchema } from "@planwright/plan";
import { skippedItems } from "../../plans/draw-list-options.ts";
import type { Evidence, FinalStep, Violation } from "../evidence/evidence.ts";
import { CHAOS_TOOLS, labelOf as labelOfPlan } from "../plans/chaos-plan.ts";
import { type PlanVersion, versionsByRequest } from "./plan-versions.ts";
import { callsByLabel, labelIn, type UnitCall } from "./tool-calls.ts";

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
export function checkLists(evidence: Evidence): Violation[] {
  const calls = callsByLabel(evidence.calls);
  const violations: Violation[] = [];
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
  { _id, key, tool, status, carriedFrom, output }: FinalStep,
  calls: ReadonlyMap<string, readonly UnitCall[]>,
  report: Report,
): void {
  if (index === undefined || carriedFrom !== null) return;
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
