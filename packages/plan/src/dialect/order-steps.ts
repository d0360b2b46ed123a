import { cut, type DiagnosticCollector, didYouMean } from "../diagnostics/diagnostic-collector.ts";
import type { DraftStep } from "../document/draft-step.ts";
import { reversed } from "../graph/edges.ts";
import { Heap, smallerFirst } from "../graph/heap.ts";
import { digitsOf, isJsonNumber } from "../json/exact-json.ts";
import type { JsonValue } from "../json/json.ts";
import type { Catalogue } from "../validation/catalogue.ts";
import { renamedIds } from "./rename-ids.ts";

const MAX_NAMES = 1_000_000;

/** Context for checking an order. */
interface Ordering {
  readonly catalogue: Catalogue | undefined;
  readonly diagnostics: DiagnosticCollector;
}

/**
 * The place of a step in an `executionOrder`: steps with the same group stand in one list inside the order, a
 * step without a group stands alone.
 */
export type Places = ReadonlyMap<DraftStep, { readonly group: number | undefined }>;

/**
 * Sorts steps by `executionOrder` of the tool-chaining dialect: a list of tools or step ids, grouped or not. A
 * tool that it names n times means its steps one by one, the last time all that are left. Steps that it does
 * not name follow in their previous order. `sequential` makes each step wait for the one before it, `parallel`
 * changes nothing.
 * @returns the steps that a list names, for {@link keepOrder}
 */
export function orderSteps(steps: DraftStep[], order: JsonValue | undefined, ordering: Ordering): Places {
  const { catalogue, diagnostics } = ordering;
  if (order === undefined || order === "parallel") return new Map();
  if (order === "sequential") {
    for (const [position, step] of steps.entries()) {
      const before = steps[position - 1];
      if (before && !step.dependsOn.includes(before.id)) step.dependsOn.push(before.id);
    }
    return new Map();
  }
  const names = namesIn(order, renamedIds(steps));
  if (!names) {
    const message = 'executionOrder is a list of tools or step ids, or "sequential", or "parallel"';
    diagnostics.add("ORDER_INVALID", { keys: ["executionOrder"] }, { message, severity: "warning" });
    return new Map();
  }
  const known = (name: string) => catalogue?.find(name)?.name ?? name;
  const byName = new Map<string, Place[]>();
  for (const place of names) {
    for (const name of new Set([place.name, known(place.name)])) {
      const places = byName.get(name);
      if (places) places.push(place);
      else byName.set(name, [place]);
    }
  }
  checkNames(steps, new Set(names.map(({ name }) => name)), ordering);
  const taken = new Map<string, number>();
  const places = new Map<DraftStep, Place>();
  for (const step of steps) {
    const tool = known(step.tool);
    const ofTool = byName.get(step.tool) ?? byName.get(tool) ?? [];
    const count = taken.get(tool) ?? 0;
    const place = byName.get(step.id)?.[0] ?? ofTool[Math.min(count, ofTool.length - 1)];
    taken.set(tool, count + 1);
    if (place) places.set(step, place);
  }
  const rank = (step: DraftStep) => places.get(step)?.rank ?? MAX_NAMES;
  steps.sort((one, other) => rank(one) - rank(other) || one.index - other.index);
  steps.forEach((step, index) => {
    step.index = index;
  });
  return places;
}

/**
 * Keeps an `executionOrder` where a step has side effects: such a step waits for the steps before it in the
 * order, and they for it. Dependencies that the steps have already go first: what a step needs is done before
 * it, wherever the order puts it. Reads do not wait for each other, and neither do steps of one group.
 */
export function keepOrder(
  steps: readonly DraftStep[],
  places: Places,
  { catalogue, diagnostics }: Ordering & { readonly catalogue: Catalogue },
): void {
  if (places.size === 0) return;
  const isRead = ({ tool }: DraftStep) => {
    const found = catalogue.find(tool);
    return found !== undefined && catalogue.onlyReads(found);
  };
  let effects: DraftStep[] = [];
  let reads: DraftStep[] = [];
  let group: DraftStep[] = [];
  let groupKey: number | undefined;
  for (const step of inNeededOrder(steps)) {
    const place = places.get(step);
    if (!place) continue;
    if (place.group === undefined || place.group !== groupKey) {
      const ended = group.filter((other) => !isRead(other));
      const read = group.filter(isRead);
      reads = ended.length > 0 ? read : [...reads, ...read];
      if (ended.length > 0) effects = ended;
      group = [];
      groupKey = place.group;
    }
    group.push(step);
    waitFor(step, isRead(step) ? effects : [...effects, ...reads], diagnostics);
  }
}

function waitFor(step: DraftStep, earlier: readonly DraftStep[], diagnostics: DiagnosticCollector): void {
  const known = new Set([...step.dependsOn, ...step.references.map(({ source }) => source.name)]);
  const ids = earlier.flatMap(({ id }) => (known.has(id) ? [] : [id]));
  if (ids.length === 0) return;
  step.dependsOn.push(...ids);
  const message = `step ${step.id} waits for ${ids.slice(0, 10).join(", ")}: executionOrder puts it after them, and one of the tools has side effects`;
  diagnostics.add("DEPENDENCY_ADDED", { step, keys: ["dependsOn"] }, { message, severity: "warning" });
}

/** The steps in plan order, each after the steps that it needs; steps of a cycle are left out. */
function inNeededOrder(steps: readonly DraftStep[]): DraftStep[] {
  const positions = new Map(steps.map(({ id }, position) => [id, position]));
  const needs = steps.map(({ dependsOn, references }) => {
    const names = new Set([...dependsOn, ...references.map(({ source }) => source.name)]);
    return [...names].flatMap((name) => positions.get(name) ?? []);
  });
  const dependents = reversed(needs);
  const unmet = needs.map((list) => list.length);
  const ready = new Heap(smallerFirst);
  unmet.forEach((count, position) => {
    if (count === 0) ready.push(position);
  });
  const ordered: DraftStep[] = [];
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    ordered.push(...steps.slice(next, next + 1));
    for (const dependent of dependents[next] ?? []) {
      unmet[dependent] = (unmet[dependent] ?? 0) - 1;
      if (unmet[dependent] === 0) ready.push(dependent);
    }
  }
  return ordered;
}

/** A tool in the order that no step calls was forgotten: an error. Any other unknown name is a warning. */
function checkNames(
  steps: readonly DraftStep[],
  names: Iterable<string>,
  { catalogue, diagnostics }: Ordering,
): void {
  const where = { keys: ["executionOrder"] };
  const known = new Set(steps.flatMap(({ id, tool }) => [id, tool, catalogue?.find(tool)?.name ?? tool]));
  for (const name of names) {
    const tool = catalogue?.find(name)?.name;
    if (known.has(name) || (tool !== undefined && known.has(tool))) continue;
    if (tool !== undefined) {
      const message = `executionOrder names ${cut(name)}, and no step calls that tool; add the step, or take the name out`;
      diagnostics.add("ORDER_INVALID", where, { message });
      continue;
    }
    const suggestion = diagnostics.nearest(name, known);
    const message = `executionOrder names ${cut(name)}: no such step${didYouMean(suggestion)}`;
    diagnostics.add("ORDER_INVALID", where, { message, severity: "warning", suggestion });
  }
}

/** One name in an order. */
interface Place {
  readonly name: string;
  /** Its position, with groups flattened. */
  readonly rank: number;
  readonly group: number | undefined;
}

/** The names of an order, with groups flattened; undefined for an invalid order. */
function namesIn(order: JsonValue, renamed: ReadonlyMap<string, string>): Place[] | undefined {
  if (!Array.isArray(order)) return undefined;
  const places: Place[] = [];
  for (const [position, entry] of order.entries()) {
    for (const item of Array.isArray(entry) ? entry : [entry]) {
      const name = isJsonNumber(item) ? digitsOf(item) : item;
      if (typeof name !== "string") return undefined;
      const group = Array.isArray(entry) ? position : undefined;
      places.push({ name: renamed.get(name) ?? name, rank: places.length, group });
    }
  }
  return places;
}
