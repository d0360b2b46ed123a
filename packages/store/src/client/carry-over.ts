import { type Plan, readersOf } from "@planwright/plan";
import type { PlanDocument, StepDocument, UnansweredCall } from "../documents.ts";
import { FIRST_EPOCH, newSteps, stepDocumentId } from "../new-documents.ts";
import { unfinishedLists } from "./unfinished-lists.ts";

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

/** What runs again. */
export interface StepsToRerun {
  again: ReadonlySet<string>;
  /** Those of them whose earlier results count for nothing, of lists those of every item: they are wanted again, or may be others. */
  anew: ReadonlySet<string>;
  /** Those of them that were named, or that depend on the one that was. */
  named: ReadonlySet<string>;
}

/**
 * The steps that run again: those that did not complete, lists of which items failed, the steps that used the output of such a list,
 * the step that is named, and all that depends on that. Of a list its failed items are called again, and no others, unless it used
 * what changes, or it was asked for by naming it, when it had wholly succeeded, or a step before it. Pure.
 */
export function stepsToRerun({ plan, units, dependents, from }: RerunFacts): StepsToRerun {
  const statuses = new Map(units.filter(({ item }) => item === null).map(({ key, status }) => [key, status]));
  const open = plan.steps.map(({ id }): string => id).filter((id) => statuses.get(id) !== "COMPLETED");
  const unfinished = unfinishedLists(units);
  const named = from === null ? new Set<string>() : withDependents(from, dependents);
  const completed = [...unfinished].filter((id) => !open.includes(id));
  const readers = readersOf(plan, completed, dependents);
  const again = new Set([...open, ...unfinished, ...named, ...readers]);
  const anew = readersOf(plan, again, dependents);
  for (const id of named) if (id !== from || !unfinished.has(id)) anew.add(id);
  return { again, anew, named };
}

function withDependents(from: string, dependents: RerunFacts["dependents"]): Set<string> {
  const found = new Set([from]);
  for (const id of found) for (const dependent of dependents.get(id) ?? []) found.add(dependent);
  return found;
}

/** Units of steps that would run again and of which nobody knows whether they happened. Pure. */
export function unitsInDoubt(units: readonly StepDocument[], again: ReadonlySet<string>): string[] {
  return units
    .filter(({ stepId, status }) => status === "IN_DOUBT" && again.has(stepId))
    .map(({ key }) => key);
}

/**
 * The units of a new version: PENDING what runs again, and everything else as it was, attempts included. Of a list that runs again
 * the items that completed are kept, unless it runs anew. Pure.
 */
export function carriedUnits(
  document: PlanDocument,
  { plan, units }: Pick<RerunFacts, "plan" | "units">,
  { again, anew }: Pick<StepsToRerun, "again" | "anew">,
): StepDocument[] {
  const open = newSteps(document, plan)
    .filter(({ key }) => again.has(key))
    .map((step) => withUnanswered(step, units));
  const isKept = ({ stepId, item, status }: StepDocument): boolean =>
    !again.has(stepId) || (item !== null && status === "COMPLETED" && !anew.has(stepId));
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

/** Sent under a key, not completed, and not known not to have acted. */
function isUnanswered(unit: StepDocument): unit is StepDocument & { argsHash: string } {
  const { status, effectClass, argsHash, attempts, error } = unit;
  if (status === "COMPLETED" || effectClass !== "K" || argsHash === null) return false;
  if (attempts.length > 0 && error !== null && UNUSABLE_RESULTS.has(error.code)) return true;
  return attempts.some(({ outcome }) => outcome === "unknown" || outcome === "aborted" || outcome === null);
}

/**
 * True for a unit that did not complete and of which a call acted, or may have: one with a key that was never answered, in whichever
 * version, or one that was answered with what could not be used. A call that an operator has settled did not act. Pure.
 */
export function mayHaveActed(unit: StepDocument): boolean {
  const { status, effectClass, attempts, error, unansweredCalls } = unit;
  if (status === "COMPLETED" || effectClass === "R") return false;
  if (isUnanswered(unit) || (unansweredCalls?.length ?? 0) > 0) return true;
  return attempts.length > 0 && error !== null && UNUSABLE_RESULTS.has(error.code);
}

/** The tool acted, and its answer could not be used. */
const UNUSABLE_RESULTS: ReadonlySet<string> = new Set(["TOOL_RESULT_INVALID", "TOOL_RESULT_TOO_LARGE"]);

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
