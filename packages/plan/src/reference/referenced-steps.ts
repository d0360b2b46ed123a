import {
  argumentsOfStep,
  conditionsOf,
  isForEachStep,
  type Plan,
  type Step,
  toolOfStep,
} from "../document/plan.ts";
import { isJsonObject, type JsonValue, mapJson, type PathSegment, visitTexts } from "../json/json.ts";
import { locateRoot, type Names, scanText } from "./read-reference.ts";
import { cachedStructure, followPath, type StructureCache } from "./resolve-references.ts";

/**
 * The names with which references in a plan's steps may begin: step ids, and tools by the steps that use
 * them.
 */
function namesOfSteps(steps: readonly Step[]): Names {
  const ids = new Set<string>();
  const tools = new Map<string, string[]>();
  for (const step of steps) {
    ids.add(step.id);
    const tool = toolOfStep(step);
    const users = tools.get(tool);
    if (users) users.push(step.id);
    else tools.set(tool, [step.id]);
  }
  return { hasStep: (name) => ids.has(name), tools };
}

/** The names that exist inside the `do` of a step's forEach, in addition to those of the plan. */
function namesInside(names: Names, step: Step): Names {
  if (!isForEachStep(step)) return names;
  const alias = step.forEach.as;
  return { ...names, hasScope: (name) => name === alias || name === "index" };
}

/** A cache by the steps of a plan, because plans are immutable. */
const namesOfPlans = new WeakMap<readonly Step[], Names>();

/**
 * Ids of the steps that a step refers to, each once, in order of appearance: in its arguments, its condition,
 * its forEach. Each is a dependency. A root that is neither a step nor a tool of exactly one step does not
 * count.
 */
export function referencedSteps(step: Step, plan: Pick<Plan, "steps">): string[] {
  return stepsReferredTo(step, namesOf(plan));
}

/**
 * Ids of the steps that a value refers to, such as a part of the plan's outputs, each once, in order of
 * appearance.
 */
export function stepsInValue(value: JsonValue, plan: Pick<Plan, "steps">): string[] {
  const found = new Set<string>();
  gather(value, namesOf(plan), found);
  return [...found];
}

/** The ids of the steps that the arguments of a step refer to, once for each reference. */
export function referencesInArguments(step: Step, plan: Pick<Plan, "steps">): string[] {
  const found: string[] = [];
  gather(argumentsOfStep(step), namesInside(namesOf(plan), step), { add: (id) => found.push(id) });
  return found;
}

function namesOf(plan: Pick<Plan, "steps">): Names {
  let names = namesOfPlans.get(plan.steps);
  if (!names) {
    names = namesOfSteps(plan.steps);
    namesOfPlans.set(plan.steps, names);
  }
  return names;
}

function gather(value: JsonValue, names: Names, found: { add(stepId: string): unknown }): void {
  visitTexts(value, (text) => {
    for (const part of scanText(text)?.parts ?? []) {
      if (part.type === "literal") continue;
      const located = locateRoot(part.root, part.path, names);
      if (located.type === "step") found.add(located.name);
    }
  });
}

/** {@link referencedSteps} with given names. */
function stepsReferredTo(step: Step, names: Names): string[] {
  const found = new Set<string>();
  const inside = namesInside(names, step);
  if (isForEachStep(step)) {
    gather(step.forEach.items, names, found);
    if (step.forEach.key !== undefined) gather(step.forEach.key, inside, found);
    gather(step.forEach.do.arguments, inside, found);
  } else {
    gather(step.arguments, names, found);
  }
  for (const { condition } of conditionsOf(step)) {
    gather(condition, condition === step.when ? names : inside, found);
    for (const name of stepsInStatus(condition)) {
      const located = locateRoot(name, [], names);
      if (located.type === "step") found.add(located.name);
    }
  }
  return [...found];
}

/**
 * What a step calls its tool with, as a value that can be compared: arguments and items, in which each reference
 * to a step is replaced by what `sourceOf` gives for the step. Names of list items do not count.
 */
export function callOfStep(
  step: Step,
  plan: Pick<Plan, "steps">,
  sourceOf: (stepId: string) => string,
): JsonValue {
  const names = namesOf(plan);
  const comparable = (value: JsonValue, known: Names): JsonValue =>
    mapJson(value, (text) => {
      const scanned = scanText(text);
      if (!scanned) return text;
      const parts = scanned.parts.map((part): JsonValue => {
        if (part.type === "literal") return part.text;
        const located = locateRoot(part.root, part.path, known);
        const path = JSON.stringify("path" in located ? located.path : part.path);
        if (located.type === "step") return { step: sourceOf(located.name), path };
        if (located.type === "scope") return { scope: located.name === "index" ? "index" : "item", path };
        return { text: part.text };
      });
      return { parts };
    });
  if (!isForEachStep(step)) return { arguments: comparable(step.arguments, names) };
  const { items, do: call } = step.forEach;
  return {
    items: comparable(items, names),
    arguments: comparable(call.arguments, namesInside(names, step)),
  };
}

/** The steps whose status a condition reads. */
export function stepsInStatus(condition: JsonValue): string[] {
  const names: string[] = [];
  const pending: JsonValue[] = [condition];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (Array.isArray(next)) pending.push(...next.toReversed());
    else if (typeof next === "object" && next !== null) {
      const { status, all, any, not } = next;
      if (Array.isArray(status) && typeof status[0] === "string") names.push(status[0]);
      for (const inner of [not, any, all]) if (inner !== undefined) pending.push(inner);
    }
  }
  return names;
}

/** The path in an output that a contract writes as a required field: `id`, `results[*].document_id`. */
export function requiredPath(field: string): readonly PathSegment[] {
  const only = scanText(field.startsWith("[") ? `<<x${field}>>` : `<<x.${field}>>`)?.parts ?? [];
  const [reference] = only;
  const isPath = only.length === 1 && reference?.type === "reference" && reference.root === "x";
  return isPath ? reference.path : [{ type: "key", key: field }];
}

/** Values visited at most in search of one name. */
const MAX_VISITED = 10_000;

/**
 * True when an output has a field that a contract requires: under this name or path, or, for a plain name,
 * anywhere below its lists and objects. Own properties only. An output with more than 10,000 values is not
 * searched to its end and counts as having it.
 */
export function hasRequiredField(output: JsonValue, field: string): boolean {
  const cache: StructureCache = new Map();
  const path = requiredPath(field);
  if (followPath(output, path, "fail", cache).found) return true;
  const [name] = path;
  if (path.length > 1 || name?.type !== "key") return false;
  const pending: JsonValue[] = [typeof output === "string" ? cachedStructure(output, cache) : output];
  let visited = 0;
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (++visited > MAX_VISITED) return true;
    if (isJsonObject(value) && Object.hasOwn(value, name.key)) return true;
    if (typeof value === "object" && value !== null)
      for (const inner of Object.values(value)) pending.push(inner);
  }
  return false;
}
