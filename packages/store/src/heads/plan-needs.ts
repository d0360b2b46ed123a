import type { FoldedUnit } from "@planwright/engine";
import { needsPerson, STEP_LIFECYCLE } from "@planwright/plan";
import type { PlanDocument } from "../records/documents.ts";

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
