/**
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
import type { StepRun } from "@planwright/engine";
import { type ForEachStep, isForEachStep, isJsonObject } from "@planwright/plan";
import type { PlanDocument } from "@planwright/store";
import { skippedItems } from "../../random/plan-shapes.ts";
import type { Fail } from "./invariants.ts";
import type { PlanFacts, StepFacts } from "./plan-facts.ts";

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
export function checkLists(facts: PlanFacts, after: PlanDocument, fail: Fail): void {
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
