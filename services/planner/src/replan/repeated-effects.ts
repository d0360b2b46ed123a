import { isDeepStrictEqual } from "node:util";
import {
  CodedError,
  type Condition,
  type Diagnostic,
  evaluateCondition,
  exactAsText,
  isForEachStep,
  type JsonObject,
  type JsonValue,
  type Plan,
  resolveReferences,
  type Step,
  stepsInStatus,
  toolOfStep,
} from "@planwright/plan";
import type { StepDocument } from "@planwright/store";
import type { PastPlan } from "./past-plan.ts";

/** Most items of a list that are compared; no plan contains a longer literal list. */
const MAX_ITEMS = 1_000;
const MAX_DIAGNOSTICS = 20;

/**
 * Diagnostics for steps that repeat a completed call: the same tool with the same arguments, as far as these
 * are known before the call. Steps that were planned before are not checked. Pure.
 * @param changed - steps that were not planned before
 * @param hasEffects - true for a tool with side effects; reads may be repeated
 */
export function repeatedEffects(
  past: PastPlan,
  plan: Plan,
  { changed, hasEffects }: { changed: ReadonlySet<string>; hasEffects: (tool: string) => boolean },
): Diagnostic[] {
  const done = callsDone(past, hasEffects);
  const newSteps = plan.steps.slice(past.given.length);
  const found = newSteps.flatMap((step, index): Diagnostic[] => {
    const tool = toolOfStep(step);
    const earlier = changed.has(step.id) ? (done.get(tool) ?? []) : [];
    const calls = earlier.length > 0 ? callsOf(step, past) : [];
    const repeated = earlier.find(({ arguments: made }) =>
      calls.some((call) => isDeepStrictEqual(asTexts(call), asTexts(made ?? {}))),
    );
    if (!repeated) return [];
    const message = `step ${step.id} would call ${tool} with the same arguments as ${repeated.key}, which is finished; leave it out, and refer to <<${repeated.stepId}>> where its output is needed`;
    return [{ code: "STEP_REPEATED", severity: "error", stepId: step.id, path: `steps[${index}]`, message }];
  });
  return found.slice(0, MAX_DIAGNOSTICS);
}

/** The completed calls, by tool. */
function callsDone(
  { plan, unitsOf }: PastPlan,
  hasEffects: (tool: string) => boolean,
): ReadonlyMap<string, StepDocument[]> {
  const done = new Map<string, StepDocument[]>();
  for (const step of plan.steps) {
    const tool = toolOfStep(step);
    if (!hasEffects(tool)) continue;
    const isCall = ({ item, status }: StepDocument) =>
      status === "COMPLETED" && (item !== null) === isForEachStep(step);
    done.set(tool, [...(done.get(tool) ?? []), ...(unitsOf.get(step.id) ?? []).filter(isCall)]);
  }
  return done;
}

/** The arguments of the calls of a step; none if they depend on outputs that do not exist yet. */
function callsOf(step: Step, { outputs }: PastPlan): JsonObject[] {
  if (!isForEachStep(step)) return resolved(step.arguments, { outputs });
  const { items, as, when, do: call } = step.forEach;
  const [list] = Array.isArray(items) ? [items] : resolvedValue(items, outputs);
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_ITEMS).flatMap((item: JsonValue, index) => {
    const options = { outputs, scope: { [as]: item, index } };
    return when && isFalse(when, options) ? [] : resolved(call.arguments, options);
  });
}

/** True for a condition that is false now already; one that reads statuses of steps may change. */
function isFalse(when: Condition, options: Parameters<typeof evaluateCondition>[1]): boolean {
  try {
    return stepsInStatus(when).length === 0 && !evaluateCondition(when, options);
  } catch (error) {
    if (error instanceof CodedError) return false;
    throw error;
  }
}

function resolved(value: JsonObject, options: Parameters<typeof resolveReferences>[1]): JsonObject[] {
  try {
    return [resolveReferences(value, options).value];
  } catch (error) {
    if (error instanceof CodedError) return [];
    throw error;
  }
}

/**
 * A call with numbers and booleans as JSON texts: the type that a tool gets from an output depends on the
 * tool's schema.
 */
function asTexts(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(asTexts);
  if (typeof value !== "object" || value === null)
    return typeof value === "string" ? exactAsText(value) : JSON.stringify(value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asTexts(inner)]));
}

function resolvedValue(value: JsonValue, outputs: PastPlan["outputs"]): JsonValue[] {
  return resolved({ value }, { outputs }).map((result) => result["value"] ?? null);
}
