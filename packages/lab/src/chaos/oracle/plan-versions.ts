import { argumentsOfStep, groupBy } from "@planwright/plan";
import type { AskedVersion, Evidence, FinalPlan, FinalStep } from "../evidence/evidence.ts";
import { labelOf } from "../plans/chaos-plan.ts";
import { labelIn } from "./tool-calls.ts";

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
