import type { StepStatus } from "@planwright/plan";
import { needsOf } from "../heads/plan-needs.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { PlanClaim } from "./execution-store.ts";

/**
 * Updates `needs` and `items` of the plan if they have changed. They follow the journal: after a crash the
 * next claim updates them.
 * @param changed - units that have changed since the last update. Default: all
 */
export async function updatePlanSummary(
  { group }: Pick<StoreDependencies, "group">,
  { plan, epoch, journal }: PlanClaim,
  changed: Iterable<{ status: StepStatus; item?: number | undefined }> = journal.units(),
): Promise<void> {
  const before = { needs: plan.needs ?? [], items: plan.items ?? 0 };
  const needsNothing = before.needs.length === 0 && needsOf(changed).length === 0;
  if (needsNothing && [...changed].every(({ item = -1 }) => item < before.items)) return;
  const units = [...journal.units()];
  const needs = needsOf(units);
  const items = units.filter(({ item }) => item !== undefined).length;
  if (items === before.items && needs.join() === before.needs.join()) return;
  Object.assign(plan, { needs, items });
  const condition = { "lease.epoch": epoch };
  await group.set({ collection: "plans", id: plan._id, condition, set: { needs, items } });
}
