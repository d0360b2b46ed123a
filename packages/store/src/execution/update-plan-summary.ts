import type { StepStatus } from "@planwright/plan";
import type { Document } from "mongodb";
import type { StoreDependencies } from "../journal/dependencies.ts";
import {
  approvalUntil,
  controlsAfter,
  countMayHaveActed,
  needsFields,
  needsOf,
  undecidedOf,
} from "../plans/plan-needs.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { PlanClaim } from "./execution-store.ts";

/**
 * Updates `needs`, `approvalUntil`, `undecided`, `items` and `mayHaveActed` of the plan if they have changed. They
 * follow the journal: after a crash the next claim updates them.
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
  const undecided = undecidedNow({ plan, journal });
  const until = approvalUntil(units);
  const isSame =
    items === itemsBefore &&
    mayHaveActed === actedBefore &&
    needs.join() === needsBefore.join() &&
    until?.getTime() === plan.approvalUntil?.getTime() &&
    JSON.stringify(undecided) === JSON.stringify(plan.undecided);
  if (isSame) return;
  const set = {
    ...needsFields(plan, needs, new Date(clock.now())),
    ...((until || plan.approvalUntil) && { approvalUntil: until }),
    ...(undecided && { undecided }),
    items,
    ...((mayHaveActed > 0 || actedBefore > 0) && { mayHaveActed }),
  };
  Object.assign(plan, set);
  const condition = { "lease.epoch": epoch };
  await group.set({ collection: "plans", id: plan._id, condition, set });
}

/** The units that wait for a decision; undefined as long as there was none. */
function undecidedNow({ plan, journal }: Pick<PlanClaim, "plan" | "journal">): PlanDocument["undecided"] {
  const folded = journal.plan();
  const now = folded && undecidedOf(folded);
  return now && (now.units.length > 0 || plan.undecided) ? now : undefined;
}

/**
 * Expressions that remove the controls with which nothing is left to do. From then on only the journal has
 * them, so that `undecided` has to take them into account.
 */
export function withoutSettledControls({ plan, journal }: Pick<PlanClaim, "plan" | "journal">): Document {
  const undecided = undecidedNow({ plan, journal });
  return {
    controls: controlsAfter(journal.settled()),
    ...(undecided && { undecided: { $literal: undecided } }),
  };
}
