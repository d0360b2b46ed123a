/**
 * 1. Completed steps are copied into the new plan unchanged, so that they are carried over and never called
 *    again.
 * 2. A step counts as planned before only when it and all its dependencies are unchanged. So a change that a
 *    tool's output caused never reaches a side effect without approval, not even through a step that only
 *    reads.
 * 3. A completed side effect is not repeated without approval because the results of a list that it used
 *    changed.
 * 4. Only code sets `approval`, policy and limits.
 */
import {
  type JsonObject,
  type JsonValue,
  outputParts,
  outputSteps,
  type Plan,
  planGraph,
  printReference,
  readersOf,
  type Step,
  scanReferences,
  toolOfStep,
} from "@planwright/plan";
import type { PastPlan } from "./past-plan.ts";
import { isSameStep } from "./same-step.ts";
import type { ToolEffects } from "./tool-effects.ts";
import { toolsToAskAbout } from "./tools-to-ask-about.ts";

/** The plan that replaces a failed one. */
export interface ComposedReplan {
  plan: Plan;
  /** Steps that the model added or changed, or that depend on such a step. */
  changed: ReadonlySet<string>;
}

/**
 * The plan of the new version: the completed steps, then those of the answer. Side effects that were not
 * planned before get `approval`, unless they may run. Pure.
 * @param answered - the answer as a plan that begins with the given steps
 * @param mayRun - true when side effects that were not planned before run without approval
 */
export function composeReplan(
  past: PastPlan,
  answered: Plan,
  { hasEffects, actsAgain, mayRun }: ToolEffects & { mayRun: boolean },
): ComposedReplan {
  const { plan: old, given } = past;
  const known = new Map<string, Step>(old.steps.map((step) => [step.id, step]));
  const done = new Set<string>(given.map(({ id }) => id));
  const graphs = { before: planGraph(old), now: planGraph(answered) };
  const answeredSteps = answered.steps.filter(({ id }) => !done.has(id));
  const same = new Set(
    answeredSteps
      .filter((step) => isSameStep(step, known.get(step.id), graphs))
      .map(({ id }) => id as string),
  );
  const asBefore = new Set(done);
  for (const id of graphs.now.order) {
    const isPlanned =
      same.has(id) && (graphs.now.dependencies.get(id) ?? []).every((source) => asBefore.has(source));
    if (isPlanned) asBefore.add(id);
  }
  const toolsToApprove = toolsToAskAbout(past);
  const readers = readersOf(answered, past.unfinished, graphs.now.dependents);
  const steps = answeredSteps.map((step): Step => {
    const kept = (same.has(step.id) ? known.get(step.id) : undefined) ?? step;
    const tool = toolOfStep(step);
    const isNew = !asBefore.has(step.id);
    const isRepeated = readers.has(step.id) && isDone(past, step.id);
    const mayRepeat = (isRepeated || toolsToApprove.always.has(tool)) && actsAgain(tool);
    const isUnplanned = isNew && (!mayRun || toolsToApprove.whenChanged.has(tool)) && hasEffects(tool);
    return mayRepeat || isUnplanned ? { ...kept, approval: true } : kept;
  });
  const changed = new Set(answeredSteps.map(({ id }) => id as string).filter((id) => !asBefore.has(id)));
  const outputs = outputsOf(past, steps, graphs.now.dependents);
  const plan: Plan = {
    formatVersion: 1,
    steps: [...given, ...steps],
    ...(outputs ? { outputs } : {}),
    ...literalsOf(old, answered),
    policy: old.policy,
    limits: old.limits,
  };
  return { plan, changed };
}

/** Most literals of a plan. */
const MAX_LITERALS = 1_000;

/** The literal texts of both plans: given steps contain some, and so do steps that the model repeats. */
function literalsOf(old: Plan, answered: Plan): Pick<Plan, "literals"> {
  const all = new Set([...(old.literals ?? []), ...(answered.literals ?? [])]);
  return all.size === 0 ? {} : { literals: [...all].slice(0, MAX_LITERALS) };
}

/** True for a step that completed, or that has completed items. */
function isDone({ unitsOf }: PastPlan, id: string): boolean {
  return (unitsOf.get(id) ?? []).some(({ status }) => status === "COMPLETED");
}

/**
 * The requested outputs that still exist. Missing ones are replaced by the new steps whose output no other
 * step uses.
 */
function outputsOf(
  { plan: { outputs, steps: before }, given }: PastPlan,
  steps: readonly Step[],
  dependents: ReadonlyMap<string, readonly string[]>,
): Plan["outputs"] {
  const ids = outputSteps(outputs);
  const parts = outputParts(outputs);
  if (!ids && !parts) return undefined;
  const all = [...given, ...steps];
  const known = new Set<string>(before.map(({ id }) => id));
  const isNewEnd = ({ id }: Step) => !known.has(id) && (dependents.get(id) ?? []).length === 0;
  if (parts) return { ...newEnds(all.filter(isNewEnd)), ...partsOf(parts, all) };
  const wanted = new Set<string>(ids);
  return all.filter((step) => wanted.has(step.id) || isNewEnd(step)).map(({ id }) => id);
}

/** The parts whose steps all exist. */
function partsOf(parts: JsonObject, steps: readonly Step[]): JsonObject {
  const known = new Set<string>(steps.map(({ id }) => id));
  const isComplete = (part: JsonValue) => scanReferences(part).every(({ root }) => known.has(root));
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => isComplete(part)));
}

/** Complete outputs of steps, by step id. */
function newEnds(steps: readonly Step[]): JsonObject {
  return Object.fromEntries(steps.map(({ id }) => [id, printReference(id, [])]));
}
