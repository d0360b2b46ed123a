import { type PlanStatus, UNFINISHED_PLAN_STATUSES } from "@planwright/plan";
import { createLabelledReadGauge, type Registry } from "@planwright/runtime";

/** Most plans of a state that a scrape counts: it is an alarm by then. */
const MAX_PLANS = 10_000;

/**
 * Registers `planwright_plans{status}`: how many plans of all executors are in each state that is not terminal now.
 * @param count - counts them, `limit` of a state at most
 */
export function registerPlansByStatus(
  registry: Registry,
  count: (limit: number) => Promise<ReadonlyMap<PlanStatus, number>>,
): void {
  createLabelledReadGauge({
    registers: [registry],
    name: "planwright_plans",
    help: `Plans in MongoDB that are not over, by their state, ${MAX_PLANS} of each at most`,
    label: "status",
    labelValues: UNFINISHED_PLAN_STATUSES,
    read: () => count(MAX_PLANS),
  });
}
