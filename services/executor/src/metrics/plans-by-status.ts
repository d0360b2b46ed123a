import { type PlanStatus, UNFINISHED_PLAN_STATUSES } from "@planwright/plan";
import { createLabelledReadGauge, type Registry } from "@planwright/runtime";

/** A scrape counts at most this many plans of each status; a higher number is an alarm in any case. */
const MAX_PLANS = 10_000;

/**
 * Registers `planwright_plans{status}`: the number of plans of all executors in each status that is not
 * terminal.
 * @param count - counts them, at most `limit` of each status
 */
export function registerPlansByStatus(
  registry: Registry,
  count: (limit: number) => Promise<ReadonlyMap<PlanStatus, number>>,
): void {
  createLabelledReadGauge({
    registers: [registry],
    name: "planwright_plans",
    help: `Plans in MongoDB that have not ended, by status, ${MAX_PLANS} of each at most`,
    label: "status",
    labelValues: UNFINISHED_PLAN_STATUSES,
    read: () => count(MAX_PLANS),
  });
}
