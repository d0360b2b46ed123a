import type { Plan } from "@planwright/plan";
import type { PlanDocument, StepDocument, UnansweredCall } from "../documents.ts";
import { FIRST_EPOCH, newSteps, stepDocumentId } from "../new-documents.ts";

/** What a rerun is decided by. */
export interface RerunFacts {
  plan: Plan;
  /** The units of the plan that is over. */
  units: readonly StepDocument[];
  /** Steps that depend on each step, directly. */
  dependents: ReadonlyMap<string, readonly string[]>;
  /** Null: only what did not complete. Otherwise also this step and all that depends on it. */
  from: string | null;
}

/** The ids of the steps that run again: those that did not complete, the one named, and all that depends on that. Pure. */
export function stepsToRerun({ plan, units, dependents, from }: RerunFacts): Set<string> {
  const statuses = new Map(units.filter(({ item }) => item === null).map(({ key, status }) => [key, status]));
  const again = new Set(plan.steps.map(({ id }) => id).filter((id) => statuses.get(id) !== "COMPLETED"));
  const path = from === null ? [] : [from];
  const named = new Set(path);
  for (let id = path.pop(); id !== undefined; id = path.pop()) {
    again.add(id);
    for (const dependent of dependents.get(id) ?? []) {
      if (named.has(dependent)) continue;
      named.add(dependent);
      path.push(dependent);
    }
  }
  return again;
}

/** Units of steps that would run again and of which nobody knows whether they happened. Pure. */
export function unitsInDoubt(units: readonly StepDocument[], again: ReadonlySet<string>): string[] {
  return units
    .filter(({ stepId, status }) => status === "IN_DOUBT" && again.has(stepId))
    .map(({ key }) => key);
}

/**
 * The units of a new version: PENDING what runs again, and everything else as it was, attempts included. Of a list that runs
 * again because of its failed items the others are kept, unless it was named or its items may be other ones now. Pure.
 */
export function carriedUnits(
  document: PlanDocument,
  { plan, units, dependents, from }: RerunFacts,
  again: ReadonlySet<string>,
): StepDocument[] {
  const open = newSteps(document, plan)
    .filter(({ key }) => again.has(key))
    .map((step) => withUnanswered(step, units));
  const behind = stepsBehind(dependents, again);
  const isKept = ({ stepId, item, status }: StepDocument): boolean => {
    if (!again.has(stepId)) return true;
    return item !== null && status === "COMPLETED" && stepId !== from && !behind.has(stepId);
  };
  return [...open, ...units.filter(isKept).map((unit) => carry(document, unit))];
}

/** A step that runs again, with the calls of which it is not known whether they happened, whichever version made them. */
function withUnanswered(step: StepDocument, units: readonly StepDocument[]): StepDocument {
  const own = units.filter(({ stepId }) => stepId === step.stepId);
  const earlier = own.flatMap(({ unansweredCalls }) => unansweredCalls ?? []);
  const calls = own.filter(isUnanswered).map(({ key, planId, argsHash }): UnansweredCall => {
    const same = earlier.find((call) => call.key === key && call.argsHash === argsHash);
    return same ?? { key, planId, argsHash };
  });
  const known = new Set(calls.map(({ key }) => key));
  const all = [...calls, ...earlier.filter(({ key }) => !known.has(key))];
  return all.length > 0 ? { ...step, unansweredCalls: all } : step;
}

/** Sent under a key, not completed, and at least one attempt without an answer. */
function isUnanswered(unit: StepDocument): unit is StepDocument & { argsHash: string } {
  const { status, effectClass, argsHash, attempts } = unit;
  if (status === "COMPLETED" || effectClass !== "K" || argsHash === null) return false;
  return attempts.some(({ outcome }) => outcome === "unknown" || outcome === "aborted" || outcome === null);
}

/** Steps that depend on one that runs again. */
function stepsBehind(dependents: RerunFacts["dependents"], again: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...again].flatMap((id) => dependents.get(id) ?? []));
}

function carry(document: PlanDocument, unit: StepDocument): StepDocument {
  return {
    ...unit,
    _id: stepDocumentId(document._id, unit.key),
    planId: document._id,
    epoch: FIRST_EPOCH,
    writeId: null,
    carriedFrom: unit.carriedFrom ?? unit.planId,
    updatedAt: document.updatedAt,
  };
}
