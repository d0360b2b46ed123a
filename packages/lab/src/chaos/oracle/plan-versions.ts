import { argumentsOfStep, groupBy, isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import type { LoggedCall } from "@planwright/testing";
import { labelOf } from "../chaos-plan.ts";
import type { AskedVersion, Evidence, FinalPlan, FinalStep } from "../evidence.ts";

/** One version of a plan with its units. */
export interface PlanVersion {
  /** The index of the chaos plan; undefined for a plan of a request that was never accepted. */
  index: number | undefined;
  plan: FinalPlan;
  units: readonly FinalStep[];
  /** What a client asked for to get this version; undefined for a first version. */
  asked: AskedVersion | undefined;
  /** The label in the calls of a unit, which every version keeps when it renames the step. */
  labelOf: (key: string) => string;
  /** The key of the unit with this label; undefined without one. */
  keyOf: (label: string) => string | undefined;
}

/** All versions of the plan of each request, oldest first, by requestId. Pure. */
export function versionsByRequest({
  accepted,
  plans,
  steps,
  asked,
}: Pick<Evidence, "accepted" | "plans" | "steps" | "asked">): Map<string, PlanVersion[]> {
  const indexOf = new Map(accepted.map(({ requestId, index }) => [requestId, index]));
  const unitsOf = groupBy(steps, ({ planId }) => planId);
  const families = groupBy(
    plans.toSorted((one, other) => one.version - other.version),
    ({ requestId }) => requestId,
  );
  const versionOf = (plan: FinalPlan, place: number, family: readonly FinalPlan[]): PlanVersion => {
    const index = indexOf.get(plan.requestId);
    const units = unitsOf.get(plan._id) ?? [];
    const before = family[place - 1];
    const labels = new Map(
      (plan.plan?.steps ?? []).map((step) => [step.id as string, labelIn(argumentsOfStep(step))]),
    );
    const labelOfUnit = (key: string): string => {
      const stepId = key.replace(/\[\d+\]$/, "");
      const place = key.slice(stepId.length);
      return labels.get(stepId)?.replace("[<<index>>]", place) ?? labelOf(index ?? -1, key);
    };
    const keys = new Map(units.map(({ key }) => [labelOfUnit(key), key]));
    return {
      index,
      plan,
      units,
      asked: before && asked.find(({ planId }) => planId === before._id),
      labelOf: labelOfUnit,
      keyOf: (label) => keys.get(label),
    };
  };
  return new Map([...families].map(([requestId, family]) => [requestId, family.map(versionOf)]));
}

/**
 * The labels of the steps that the client named in `acceptRepeat` when it asked for the version at this place,
 * with those of their items. Pure.
 */
export function acceptedLabels(versions: readonly PlanVersion[], place: number): Set<string> {
  const now = versions[place];
  const named = new Set(now?.asked?.acceptRepeat);
  const around = versions.slice(Math.max(0, place - 1), place + 1);
  return new Set(
    around.flatMap((version) =>
      version.units.filter(({ stepId }) => named.has(stepId)).map(({ key }) => version.labelOf(key)),
    ),
  );
}

/** The part of a call that belongs to one unit; the call of a batch has one part for each item. */
export interface UnitCall {
  /** The label of the unit: {@link import("../plans/chaos-plan.ts").labelOf}. */
  label: string;
  /** The version of the plan that the key names. */
  planId: string;
  key: string | null;
  arguments: JsonObject;
  at: number;
  /** The answer for this unit; null when the call got no answer. */
  answer: "ok" | "error" | null;
}

/** Calls by the label of their unit, in order. Calls of look-up tools have no unit. Pure. */
export function callsByLabel(calls: readonly LoggedCall[]): Map<string, UnitCall[]> {
  return groupBy(calls.flatMap(unitCalls), ({ label }) => label);
}

function unitCalls(call: LoggedCall): UnitCall[] {
  const { key, at, arguments: args } = call;
  const facts = { key, at, planId: planIdOfKey(key), arguments: args };
  const { items } = args;
  if (!Array.isArray(items)) {
    const label = labelIn(args);
    const answer = call.answer === "result" ? "ok" : call.answer === "error" ? "error" : null;
    return label === undefined ? [] : [{ ...facts, label, answer }];
  }
  return items.flatMap((item, index): UnitCall[] => {
    const label = labelIn(item);
    if (label === undefined || !isJsonObject(item)) return [];
    return [{ ...facts, label, arguments: item, answer: answerTo(call, index) }];
  });
}

/** The answer of a batch for one of its items, from the envelope or the list of values. */
function answerTo({ answer, output }: LoggedCall, index: number): UnitCall["answer"] {
  if (answer !== "result" || output === null) return answer === "error" ? "error" : null;
  const list = output["results"] ?? output["values"];
  const entry = Array.isArray(list) ? list[index] : undefined;
  return isJsonObject(entry) && entry["error"] === undefined ? "ok" : "error";
}

/** The id of the plan version in an idempotency key. */
export function planIdOfKey(key: string | null): string {
  return key === null ? "no plan" : key.slice(0, key.indexOf("/"));
}

/**
 * The label in a value of the form `{value: {label}}`, such as arguments and outputs of the counting tools.
 */
export function labelIn(holder: JsonValue | undefined): string | undefined {
  const value: JsonObject[string] | undefined = isJsonObject(holder) ? holder["value"] : undefined;
  return isJsonObject(value) && typeof value["label"] === "string" ? value["label"] : undefined;
}
