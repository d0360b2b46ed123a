import {
  evaluateCondition,
  exactAsText,
  type ForEachStep,
  type HeldJson,
  isForEachStep,
  JsonText,
  type JsonValue,
  readAsList,
} from "@planwright/plan";
import {
  type ArgumentsState,
  itemScope,
  type Resolved,
  resolveValue,
  toStepError,
} from "../state/arguments.ts";
import type { Caller, EngineState, Items, StepNode, Unit } from "../state/engine-state.ts";
import type { Answer, NotCalled, StepError } from "../state/protocol.ts";
import { conditionFalse, createCaller, createUnit, itemKey } from "../state/units.ts";
import { batchSize } from "./split-batch.ts";

/** The items of a forEach with their durable records applied, or the error. */
type Expansion = { ok: true; items: Items; warnings: readonly string[] } | { ok: false; error: StepError };

/** The items of a list, their keys, and which of them are not called, or the error. */
export type List<Value extends HeldJson = HeldJson> =
  | {
      ok: true;
      values: readonly Value[];
      keys: readonly string[];
      notCalled: readonly [item: number, reason: NotCalled][];
      warnings: readonly string[];
    }
  | { ok: false; error: StepError };

/** What is read of a plan's state to determine the items of a list. */
type ListState = ArgumentsState & Pick<EngineState, "statuses">;

/**
 * Determines the items of a forEach. They depend only on durable outputs and final statuses, so an expansion
 * after a crash gives the same items, keys, conditions and batches. Takes time linear in the number of items.
 */
export function expandForEach(
  state: EngineState,
  node: StepNode,
  step: ForEachStep,
  list: List = listOf(state, step, state.plan.limits.maxItems),
): Expansion {
  if (!list.ok) return list;
  const units = unitsOf(state, node, list.values.length);
  const notCalled = new Map(list.notCalled);
  const called = notCalled.size === 0 ? units : units.filter((_, item) => !notCalled.has(item));
  const items: Items = {
    values: list.values,
    keys: list.keys,
    units,
    callers: callersOf(node, step, called),
    notCalled,
    hasCondition: step.forEach.when !== undefined,
    settled: 0,
    ok: 0,
    failed: 0,
    skipped: 0,
    inDoubt: 0,
    unacknowledged: 0,
    stopsAtFailure: stopsAtFailure(node, step),
    stopped: false,
  };
  return { ok: true, items, warnings: list.warnings };
}

/** Resolves the items of a forEach, their keys and their conditions. */
export function listOf(state: ListState, step: ForEachStep, maxItems: number): List<JsonValue> {
  const list = itemsOf(state, step);
  if (!list.ok) return list;
  const { value: values, warnings } = list;
  if (values.length > maxItems)
    return invalid(`forEach of step ${step.id} has ${values.length} items; at most ${maxItems} are allowed`);
  const keys = keysOf(state, step, values);
  if (!keys.ok) return keys;
  const notCalled = values.flatMap((value, item): [number, NotCalled][] => {
    const reason = reasonNotToCall(state, step, value, item);
    return reason ? [[item, reason]] : [];
  });
  return { ok: true, values, keys: keys.value, notCalled, warnings };
}

/** Decides the condition of an item; undefined when the item is called. */
function reasonNotToCall(
  { outputs, texts, statuses, plan: { policy } }: ListState,
  step: ForEachStep,
  value: JsonValue,
  item: number,
): NotCalled | undefined {
  const { when } = step.forEach;
  if (!when) return undefined;
  try {
    const scope = itemScope(step, value, item);
    if (evaluateCondition(when, { outputs, texts, statuses, policy, scope })) return undefined;
    return { status: "SKIPPED", error: conditionFalse() };
  } catch (error) {
    return { status: "FAILED", error: toStepError(error, "CONDITION_INVALID") };
  }
}

/** The list that another thread has resolved: each item is parsed when it is called. */
export function listOfAnswer({ result }: Extract<Answer, { type: "items" }>): List {
  if (!result.ok) return result;
  return { ...result, values: result.texts.map((text) => new JsonText(text, Buffer.byteLength(text))) };
}

/**
 * The list of an expanded forEach; resolved again when it was dropped together with the outputs that it
 * refers to.
 */
export function valuesOf(state: EngineState, { step, forEach }: StepNode): readonly HeldJson[] | undefined {
  if (!forEach || !isForEachStep(step)) return undefined;
  if (!forEach.values) {
    const list = itemsOf(state, step);
    if (list.ok) forEach.values = list.value;
  }
  return forEach.values;
}

/**
 * The items. One object is a list of one, and null that a tool answered an empty list: servers unwrap lists
 * of one, and answer nothing for none. A warning says so.
 */
function itemsOf(state: ArgumentsState, { id, forEach }: ForEachStep): Resolved<JsonValue[]> {
  const resolved = resolveValue(state, forEach.items);
  if (!resolved.ok) return resolved;
  const { value, warnings } = resolved;
  if (Array.isArray(value)) return { ok: true, value, warnings };
  const isMissing =
    value === null && !resolveValue(state, forEach.items, undefined, { onMissingField: "error" }).ok;
  const items = isMissing ? undefined : readAsList(value);
  if (!items) return invalid(`forEach.items of step ${id} is ${typeName(value)}, not a list`);
  const readAs = items.length === 0 ? "an empty list" : "a list of one";
  const warning = `forEach.items of step ${id} is ${typeName(value)}: it is read as ${readAs}`;
  return { ok: true, value: [...items], warnings: [...warnings, warning] };
}

/** `errors` of the plan, by default the `error_propagation` of the tool. */
function stopsAtFailure({ tool }: StepNode, { forEach: { errors } }: ForEachStep): boolean {
  return errors === undefined ? tool.contract.errorPropagation === "fail-fast" : errors === "stop";
}

function invalid(message: string): { ok: false; error: StepError } {
  return { ok: false, error: { code: "ITEMS_INVALID", message, retryable: false } };
}

function typeName(value: JsonValue): string {
  if (value === null) return "null";
  return typeof value === "object" ? "one object" : `a ${typeof value}`;
}

function keysOf(state: ArgumentsState, step: ForEachStep, values: readonly JsonValue[]): Resolved<string[]> {
  const { key } = step.forEach;
  if (key === undefined) return { ok: true, value: values.map((_, index) => String(index)), warnings: [] };
  const keys: string[] = [];
  const seen = new Map<string, number>();
  for (const [index, value] of values.entries()) {
    const resolved = resolveValue(state, key, itemScope(step, value, index));
    if (!resolved.ok) return resolved;
    const name = exactAsText(resolved.value);
    if (typeof name === "object") {
      return invalid(`forEach.key of step ${step.id} gives ${typeName(name)} for item ${index}, not a text`);
    }
    const text = String(name);
    const earlier = seen.get(text);
    if (earlier !== undefined) {
      return invalid(`forEach.key of step ${step.id} gives "${text}" for items ${earlier} and ${index}`);
    }
    seen.set(text, index);
    keys.push(text);
  }
  return { ok: true, value: keys, warnings: [] };
}

function unitsOf(state: EngineState, node: StepNode, count: number): Unit[] {
  const records = state.itemRecords.get(node.step.id);
  const units: Unit[] = [];
  for (let item = 0; item < count; item++) {
    const unit = createUnit(node, itemKey(node.step.id, item), item, records?.get(item));
    state.units.set(unit.key, unit);
    units.push(unit);
  }
  return units;
}

/** One caller for each called item or batch of them. */
function callersOf(node: StepNode, step: ForEachStep, units: readonly Unit[]): Caller[] {
  const called = units.map(({ item = 0 }) => item);
  return callsOfList(node, step, called).map(({ key, from, to }, position) =>
    createCaller(node, key, position, units.slice(from, to)),
  );
}

/**
 * The calls of a list for the items that are called: one for each item or batch, from the place `from` to before
 * `to` among them. The split does not depend on earlier results, so keys stay the same.
 */
export function callsOfList(
  node: Parameters<typeof batchSize>[0],
  { id, forEach }: ForEachStep,
  called: readonly number[],
): { key: string; from: number; to: number }[] {
  const size = batchSize(node, called.length, forEach.as);
  const calls: { key: string; from: number; to: number }[] = [];
  for (let from = 0; from < called.length; from += size) {
    const to = Math.min(from + size, called.length);
    const first = called[from] ?? from;
    calls.push({ key: size === 1 ? itemKey(id, first) : `${id}[${first}..${called[to - 1]}]`, from, to });
  }
  return calls;
}
