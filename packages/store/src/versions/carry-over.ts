import { toldAgain } from "@planwright/engine";
import { type Plan, readersOf } from "@planwright/plan";
import { newSteps } from "../journal/plan-units.ts";
import { stepDocumentId } from "../records/new-documents.ts";
import type { PlanDocument, UnitResolution } from "../records/plan-document.ts";
import type { StepDocument, UnansweredCall } from "../records/step-document.ts";
import { unfinishedLists } from "./unfinished-lists.ts";

/** What a rerun is decided by. */
export interface RerunFacts {
  plan: Plan;
  /** The units of the plan that has ended. */
  units: readonly StepDocument[];
  /** What operators said of them while it ran. */
  resolutions: readonly UnitResolution[];
  /** Steps that depend on each step, directly. */
  dependents: ReadonlyMap<string, readonly string[]>;
  /** Null: only what did not complete. Otherwise also this step and all that depends on it. */
  from: string | null;
}

/** What runs again. */
export interface StepsToRerun {
  again: ReadonlySet<string>;
  /**
   * Those of them whose earlier results count for nothing, of lists those of every item: they are wanted
   * again, or may be others.
   */
  anew: ReadonlySet<string>;
  /** Those of them that were named, or that depend on the one that was. */
  named: ReadonlySet<string>;
}

/**
 * The steps that run again: those that did not complete, lists of which items failed, the steps that used the
 * output of such a list, the step that is named, and all that depends on that. Of a list its failed items are
 * called again, and no others, unless it used what changes, or it was asked for by naming it, when it had
 * wholly succeeded, or a step before it. Pure.
 */
export function stepsToRerun({
  plan,
  units,
  dependents,
  from,
}: Omit<RerunFacts, "resolutions">): StepsToRerun {
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

/**
 * Units in doubt of steps that would run again, which an operator has to settle before. Calls that bear a key
 * are not among them, unless they may be other ones now: sent again under the same key they say themselves
 * what became of them. Pure.
 */
export function unitsInDoubt(
  units: readonly StepDocument[],
  { again, anew }: Pick<StepsToRerun, "again" | "anew">,
): string[] {
  return units
    .filter(({ stepId, status }) => status === "IN_DOUBT" && again.has(stepId))
    .filter((unit) => !isUnanswered(unit, []) || anew.has(unit.stepId))
    .map(({ key }) => key);
}

/**
 * The units of a new version: PENDING what runs again, and everything else as it was, attempts included. Of a
 * list that runs again the items that completed are kept, unless it runs anew. Pure.
 * @param facts - with the decisions of operators on units of the plan that has ended; a unit keeps the
 *   decision that its state rests on
 */
export function carriedUnits(
  document: PlanDocument,
  { plan, units, resolutions }: Pick<RerunFacts, "plan" | "units" | "resolutions">,
  { again, anew }: Pick<StepsToRerun, "again" | "anew">,
): StepDocument[] {
  const open = newSteps({ ...document, plan })
    .filter(({ key }) => again.has(key))
    .map((step) => withUnanswered(step, units, resolutions));
  const isKept = ({ stepId, item, status }: StepDocument): boolean =>
    !again.has(stepId) || (item !== null && status === "COMPLETED" && !anew.has(stepId));
  return [...open, ...units.filter(isKept).map((unit) => carry(document, unit, resolutions))];
}

/**
 * A step that runs again, with the calls of which it is not known whether they happened, whichever version
 * made them: its warnings tell them.
 */
function withUnanswered(
  step: StepDocument,
  units: readonly StepDocument[],
  resolutions: readonly UnitResolution[],
): StepDocument {
  const own = units.filter(({ stepId }) => stepId === step.stepId);
  const earlier = own.flatMap(({ unansweredCalls }) => unansweredCalls ?? []);
  const calls = own.flatMap((unit): UnansweredCall[] => {
    if (!isUnanswered(unit, resolutions)) return [];
    const { key, planId, argsHash } = unit;
    const same = earlier.find((call) => call.key === key && call.argsHash === argsHash);
    return [same ?? { key, planId, argsHash }];
  });
  const known = new Set(calls.map(({ key }) => key));
  const all = [...calls, ...earlier.filter(({ key }) => !known.has(key))];
  return all.length > 0 ? { ...step, unansweredCalls: all, warnings: all.map(toldAgain) } : step;
}

/**
 * Sent under a key, not completed, and not known not to have acted. An operator's decision is no answer to
 * the key: if it was wrong, the same key keeps the call from acting twice.
 */
function isUnanswered(
  unit: StepDocument,
  resolutions: readonly UnitResolution[],
): unit is StepDocument & { argsHash: string } {
  const { status, effectClass, argsHash, attempts } = unit;
  if (status === "COMPLETED" || effectClass !== "K" || argsHash === null) return false;
  if (hasUnusableResult(unit)) return true;
  // An answer to its key settled it, or its call never left.
  if (unit.mayHaveActed === false && !settledBy(unit, resolutions)) return false;
  return attempts.some(({ outcome }) => outcome === "unknown" || outcome === "aborted" || outcome === null);
}

/**
 * True for a unit that did not complete and of which a call acted, or may have: one with a key that was never
 * answered, in whichever version, or one that was answered with what could not be used. A call that an
 * operator has settled did not act. Pure.
 * @param resolutions - what operators said of the units while the plan ran
 */
export function mayHaveActed(unit: StepDocument, resolutions: readonly UnitResolution[]): boolean {
  const { status, effectClass, unansweredCalls } = unit;
  if (status === "COMPLETED" || effectClass === "R") return false;
  if (hasUnusableResult(unit)) return true;
  // While the plan ran, "retry" asks for another call and says nothing of the one before; after its end it
  // says that there was none.
  const isSettled = unit.resolvedBy || settledBy(unit, resolutions)?.resolution === "failed";
  if (isSettled) return false;
  return isUnanswered(unit, resolutions) || (unansweredCalls?.length ?? 0) > 0;
}

/** The operator's decision on which the state of a unit rests. */
function settledBy(unit: StepDocument, resolutions: readonly UnitResolution[]): StepDocument["resolvedBy"] {
  const said = resolutions.findLast(
    ({ key, attempt }) => key === unit.key && attempt === unit.attempts.length,
  );
  return unit.resolvedBy ?? (said && { by: said.by, resolution: said.resolution.type });
}

const UNUSABLE_RESULTS: ReadonlySet<string> = new Set(["TOOL_RESULT_INVALID", "TOOL_RESULT_TOO_LARGE"]);

/** The tool acted, and its answer could not be used. */
function hasUnusableResult({ attempts, error }: StepDocument): boolean {
  return attempts.length > 0 && error !== null && UNUSABLE_RESULTS.has(error.code);
}

function carry(
  document: PlanDocument,
  unit: StepDocument,
  resolutions: readonly UnitResolution[],
): StepDocument {
  const resolvedBy = settledBy(unit, resolutions);
  return {
    ...unit,
    _id: stepDocumentId(document._id, unit.key),
    planId: document._id,
    carriedFrom: unit.carriedFrom ?? unit.planId,
    ...(resolvedBy && { resolvedBy }),
    updatedAt: document.updatedAt,
  };
}
