import type { Evidence, FinalPlan, FinalStep } from "../evidence/evidence.ts";
import { groupBy } from "../evidence/group-by.ts";

/** One version of a plan with its units. */
export interface PlanVersion {
  /** The index of the chaos plan; undefined for a plan of a request that was never accepted. */
  index: number | undefined;
  plan: FinalPlan;
  units: readonly FinalStep[];
}

/** All versions of the plan of each request, oldest first, by requestId. Pure. */
export function versionsByRequest({
  accepted,
  plans,
  steps,
}: Pick<Evidence, "accepted" | "plans" | "steps">): Map<string, PlanVersion[]> {
  const indexOf = new Map(accepted.map(({ requestId, index }) => [requestId, index]));
  const unitsOf = groupBy(steps, ({ planId }) => planId);
  const versions = plans
    .toSorted((one, other) => one.version - other.version)
    .map((plan) => ({ index: indexOf.get(plan.requestId), plan, units: unitsOf.get(plan._id) ?? [] }));
  return groupBy(versions, ({ plan }) => plan.requestId);
}
