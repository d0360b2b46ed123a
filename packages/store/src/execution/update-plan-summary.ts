import type { StepStatus } from "@planwright/plan";
import { countMayHaveActed, needsFields, needsOf } from "../heads/plan-needs.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { PlanClaim } from "./execution-store.ts";

/**
 * Updates `needs`, `items` and `mayHaveActed` of the plan if they have changed. They follow the journal: after a crash the
 * next claim updates them.
 * @param changed - units that have changed since the last update. Default: all
 */
export async function updatePlanSummary(
  { group, clock }: Pick<StoreDependencies, "group" | "clock">,
  { plan, epoch, journal }: PlanClaim,
  changed: Iterable<{ status: StepStatus; item?: number | undefined }> = journal.units(),
): Promise<void> {
  const { needs: needsBefore = [], items: itemsBefore = 0, mayHaveActed: actedBefore = 0 } = plan;
  const needsNothing = needsBefore.length === 0 && needsOf(changed).length === 0;
  const isKnown = ({ status, item = -1 }: { status: StepStatus; item?: number | undefined }) =>
    item < itemsBefore && status !== "FAILED" && status !== "CANCELLED";
  if (needsNothing && actedBefore === 0 && [...changed].every(isKnown)) return;
  const units = [...journal.units()];
  const needs = needsOf(units);
  const items = units.filter(({ item }) => item !== undefined).length;
  const mayHaveActed = countMayHaveActed(units);
  const isSame = items === itemsBefore && mayHaveActed === actedBefore && needs.join() === needsBefore.join();
  if (isSame) return;
  const fields = needsFields(plan, needs, new Date(clock.now()));
  const set = { ...fields, items, ...((mayHaveActed > 0 || actedBefore > 0) && { mayHaveActed }) };
  Object.assign(plan, set);
  const condition = { "lease.epoch": epoch };
  await group.set({ collection: "plans", id: plan._id, condition, set });
}
