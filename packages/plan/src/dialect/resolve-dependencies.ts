import { cut, type DiagnosticCollector, didYouMean } from "../document/diagnostic.ts";
import { type DraftStep, MAX_DEPENDENCIES } from "../document/plan.ts";
import type { Policy } from "../document/policy.ts";
import { Heap, reversed, smallerFirst } from "../graph/edges.ts";
import { digitsOf, isJsonNumber } from "../json/exact-json.ts";
import type { JsonValue } from "../json/json.ts";
import {
  type Located,
  locateRoot,
  type Names,
  scanText,
  type TextReference,
} from "../reference/read-reference.ts";
import type { Catalogue } from "../validation/catalogue.ts";
import type { Providers } from "./call-fields.ts";
import { renamedIds } from "./step-ids.ts";
import type { Translator } from "./translate-notations.ts";

/** Context for resolving dependencies. */
export interface DependencyContext {
  readonly names: Names;
  readonly candidates: () => Iterable<string>;
  readonly policy: Policy;
  readonly diagnostics: DiagnosticCollector;
  /** Providers of fields, because a dependency may name a field. */
  readonly providers: Providers;
  readonly translator: Translator;
}

/**
 * Converts dependencies that are a number, a label, or a reference to a complete output into step ids; other
 * dependencies stay unchanged.
 */
export function nameDependencies(
  step: DraftStep,
  { names, translator }: Pick<DependencyContext, "names" | "translator">,
): void {
  step.dependsOn = step.dependsOn.map((name) =>
    locateRoot(name, [], names).type === "unknown" ? (translator.stepId(name) ?? name) : name,
  );
}

/**
 * Converts the dependencies of a step into step ids. A tool's name means all other steps with that tool, the
 * name of a field all other steps that provide it. A dependency that is not in the plan is an error, or is
 * left out with a warning if the policy says so. The same applies to a step that depends on itself.
 */
export function resolveDependencies(step: DraftStep, context: DependencyContext): void {
  const ids = new Set<string>();
  for (const [position, name] of step.dependsOn.entries()) {
    for (const id of dependencyIds(name, position, step, context)) ids.add(id);
  }
  step.dependsOn = [...ids];
}

function dependencyIds(
  name: string,
  position: number,
  step: DraftStep,
  context: DependencyContext,
): readonly string[] {
  const { names, policy, diagnostics } = context;
  const where = { step, keys: ["dependsOn", position] };
  const located = locateDependency(name, names);
  if (!located) return [];
  const several = located.type === "unknown" ? separated(name, step, names) : [];
  if (several.length > 0) return several;
  switch (located.type) {
    case "step":
      if (located.name !== step.id) return [located.name];
      break;
    case "ambiguous": {
      const others = located.candidates.filter((id) => id !== step.id);
      if (others.length > 0) return others;
      break;
    }
    case "scope":
    case "forbidden":
    case "unknown": {
      const providers = context.providers.get(name)?.filter((other) => other !== step) ?? [];
      if (providers.length > 0) return providers.map(({ id }) => id);
      const suggestion = diagnostics.nearest(name, context.candidates());
      const message = `step ${step.id} depends on ${cut(name)}: no such step${didYouMean(suggestion)}`;
      if (policy.onAbsentDependency === "ignore") {
        diagnostics.add("DEPENDENCY_IGNORED", where, {
          message: `${message}; ignored`,
          severity: "warning",
          suggestion,
        });
      } else diagnostics.add("DEPENDENCY_UNKNOWN", where, { message, suggestion });
      return [];
    }
  }
  const severity = policy.onCycle === "error" ? "error" : "warning";
  const message = `step ${step.id} depends on itself; remove that dependency`;
  diagnostics.add("DEPENDENCY_SELF", where, { message, severity });
  return [];
}

/** Texts that mean: no dependency. */
const NO_DEPENDENCY = /^(?:none|null|nil|n\/a|-|-1|\[\]|\{\})$/i;

/**
 * Locates a dependency by a step id, a tool, or a reference to its output (`<<s1._id>>`, `s1._id`). Undefined
 * for a text that means no dependency.
 */
function locateDependency(name: string, names: Names): Located | undefined {
  const located = locateRoot(name, [], names);
  if (located.type !== "unknown") return located;
  if (NO_DEPENDENCY.test(name)) return undefined;
  const reference = wholeReference(name) ?? wholeReference(`<<${name}>>`);
  return reference ? locateRoot(reference.root, reference.path, names) : located;
}

/** The names in a comma-separated text such as "find, read", when all are steps; otherwise none. */
function separated(name: string, step: DraftStep, names: Names): string[] {
  const parts = name.split(/[,;]/, MAX_DEPENDENCIES).map((part) => part.trim());
  const located = parts.filter((part) => part !== "").map((part) => locateDependency(part, names));
  if (parts.length < 2) return [];
  const ids = located.flatMap((each) => (each?.type === "step" && each.name !== step.id ? [each.name] : []));
  return ids.length === located.length ? ids : [];
}

function wholeReference(text: string): TextReference | undefined {
  const parts = scanText(text)?.parts ?? [];
  const [only] = parts;
  return parts.length === 1 && only?.type === "reference" ? only : undefined;
}

/**
 * Makes steps wait for the tools in their tool's contract; a name there may also be that of a field that other
 * steps provide. A step that already depends on one call of such a tool, or refers to it, keeps its
 * dependencies; any other step waits for all calls of the tool.
 */
export function addContractDependencies(
  steps: readonly DraftStep[],
  catalogue: Catalogue,
  context: DependencyContext,
): void {
  const stepsOf = new Map<string, DraftStep[]>();
  for (const step of steps) {
    const name = catalogue.find(step.tool)?.name ?? step.tool;
    const users = stepsOf.get(name);
    if (users) users.push(step);
    else stepsOf.set(name, [step]);
  }
  for (const step of steps) {
    const tool = catalogue.find(step.tool);
    if (!tool) continue;
    for (const dependency of catalogue.contractOf(tool).dependsOn) {
      const name = catalogue.findFor(tool, dependency.tool)?.name ?? dependency.tool;
      if (name === tool.name) continue;
      const providers = () => context.providers.get(dependency.tool)?.filter((other) => other !== step);
      addContractDependency(step, name, stepsOf.get(name) ?? providers() ?? [], context);
    }
  }
}

function addContractDependency(
  step: DraftStep,
  tool: string,
  users: readonly DraftStep[],
  context: DependencyContext,
): void {
  const { policy, diagnostics } = context;
  if (users.length === 0) {
    const message = `step ${step.id} calls ${step.tool}, which needs a call of ${tool} before it, and the plan has none`;
    if (policy.onAbsentDependency === "ignore") {
      diagnostics.add(
        "DEPENDENCY_IGNORED",
        { step },
        { message: `${message}; ignored`, severity: "warning" },
      );
    } else
      diagnostics.add(
        "CONTRACT_DEPENDENCY_ABSENT",
        { step },
        { message: `${message}; add a step for it`, suggestion: tool },
      );
    return;
  }
  const known = new Set([...step.dependsOn, ...step.references.map(({ source }) => source.name)]);
  if (users.some(({ id }) => known.has(id))) return;
  const ids = users.map(({ id }) => id);
  step.dependsOn.push(...ids);
  const message = `step ${step.id} waits for ${ids.slice(0, 10).join(", ")}: its tool ${step.tool} needs ${tool} before it`;
  diagnostics.add("DEPENDENCY_ADDED", { step, keys: ["dependsOn"] }, { message, severity: "warning" });
}

/** Reports a step with too many dependencies: a tool's name can mean many steps. */
export function checkDependencyCount(step: DraftStep, diagnostics: DiagnosticCollector): void {
  if (step.dependsOn.length <= MAX_DEPENDENCIES) return;
  const message = `step ${step.id} waits for ${step.dependsOn.length} steps; at most ${MAX_DEPENDENCIES} are allowed`;
  diagnostics.add("FIELD_INVALID", { step, keys: ["dependsOn"] }, { message });
}

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
