import type { FoldedUnit } from "@planwright/engine";
import { needsPerson, STEP_LIFECYCLE, type StepStatus } from "@planwright/plan";
import type { ExecutionContext } from "../execution/context.ts";
import type { PlanDocument } from "../records/documents.ts";
import type { PlanClaim } from "../store.ts";

type Needs = NonNullable<PlanDocument["needs"]>;

/** What people can do for a plan: what its units wait for that no worker can give. Sorted. Pure. */
export function needsOf(units: Iterable<Pick<FoldedUnit, "status">>): Needs {
  const needs = new Set<Needs[number]>();
  for (const { status } of units) {
    const need = STEP_LIFECYCLE[status].needs;
    if (needsPerson(need)) needs.add(need as Needs[number]);
  }
  return [...needs].toSorted();
}

/**
 * Has the plan say what its units need, and how many items there are, where it says something else. It follows the journal: a crash in
 * between is mended by the next claim.
 * @param changed - units that have changed since. Default: all
 */
export async function tellPlan(
  { group }: Pick<ExecutionContext, "group">,
  { plan, epoch, journal }: PlanClaim,
  changed: Iterable<{ status: StepStatus; item?: number | undefined }> = journal.units(),
): Promise<void> {
  const before = { needs: plan.needs ?? [], items: plan.items ?? 0 };
  const isMoot = before.needs.length === 0 && needsOf(changed).length === 0;
  if (isMoot && [...changed].every(({ item = -1 }) => item < before.items)) return;
  const units = [...journal.units()];
  const needs = needsOf(units);
  const items = units.filter(({ item }) => item !== undefined).length;
  if (items === before.items && needs.join() === before.needs.join()) return;
  Object.assign(plan, { needs, items });
  const condition = { "lease.epoch": epoch };
  await group.set({ collection: "plans", id: plan._id, condition, set: { needs, items } });
}
