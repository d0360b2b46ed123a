import {
  type Effect,
  type EventOf,
  isSkippedByCondition,
  needsAcceptance,
  openEffect,
  outlineOf,
  resentCallWarning,
  type StepRun,
  stepRuns,
} from "@planwright/engine";
import {
  actsWhenRepeated,
  createToolIndex,
  type Diagnostic,
  isForEachStep,
  type JsonObject,
  type Plan,
  parsePlan,
  planGraph,
  readersOf,
  type Step,
  type ToolDescriptor,
  toolContract,
  toolOfStep,
} from "@planwright/plan";
import type { PlanDocument, UnitResolution } from "../records/plan-document.ts";

/** A unit that is called again although an earlier call of it acted or may have acted. */
export type RepeatedCall = NonNullable<EventOf<"plan.stored">["repeats"]>[number];

/** The facts that decide a rerun. */
interface RerunFacts {
  plan: Plan;
  /** The units of the plan that has ended. */
  units: readonly StepRun[];
  /** Operators' decisions on these units while the plan ran. */
  resolutions: readonly UnitResolution[];
  /** Steps that depend on each step, directly. */
  dependents: ReadonlyMap<string, readonly string[]>;
  /** Null: only steps that did not complete run again. Otherwise also this step and all its dependents. */
  from: string | null;
}

/** The steps that run again. */
interface StepsToRerun {
  again: ReadonlySet<string>;
  /**
   * Those of `again` whose earlier results are not used, for lists those of all items: the caller wants new
   * results, or the inputs may have changed.
   */
  fromScratch: ReadonlySet<string>;
  /** The named step and its dependents. */
  named: ReadonlySet<string>;
}

/**
 * The steps that run again: steps that did not complete, lists with failed items, steps that used the output
 * of such a list, and the named step with all its dependents. Of a list only the failed items are called
 * again. All items are called again if the list uses an output that changes, if it is named and had no failed
 * items, or if a step before it is named. Pure.
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
  const fromScratch = readersOf(plan, again, dependents);
  for (const id of named) if (id !== from || !unfinished.has(id)) fromScratch.add(id);
  return { again, fromScratch, named };
}

function withDependents(from: string, dependents: RerunFacts["dependents"]): Set<string> {
  const found = new Set([from]);
  for (const id of found) for (const dependent of dependents.get(id) ?? []) found.add(dependent);
  return found;
}

/**
 * Keys of units in doubt of steps that would run again: an operator has to settle them first. Calls with an
 * idempotency key are left out, unless their arguments may have changed: when they are sent again with the
 * same key, the answer shows whether they acted. Pure.
 */
export function unitsInDoubt(
  units: readonly StepRun[],
  { again, fromScratch }: Pick<StepsToRerun, "again" | "fromScratch">,
): string[] {
  return units
    .filter(({ stepId, status }) => status === "IN_DOUBT" && again.has(stepId))
    .filter((unit) => !isUnanswered(unit, []) || fromScratch.has(unit.stepId))
    .map(({ key }) => key);
}

/**
 * The units of steps that run again whose calls acted or may have acted: an effect is repeated only when the
 * caller names its step. A completed step is one of them when it was named as the first to run again. Pure.
 * @param changed - ids of steps with other arguments: their calls have other effects
 */
export function repeatsOf(
  units: readonly StepRun[],
  {
    again,
    fromScratch,
    from,
    changed,
  }: Pick<StepsToRerun, "again" | "fromScratch"> & {
    from: string | null;
    changed: ReadonlySet<string>;
  },
): RepeatedCall[] {
  const failed = units
    .filter((unit) => again.has(unit.stepId) && needsAcceptance(unit))
    .map(({ key, stepId, planId }) => ({ key, planId, hasOtherArguments: changed.has(stepId) }));
  const done = units.find(
    ({ stepId, status, effect, effectClass }) =>
      stepId === from &&
      fromScratch.has(stepId) &&
      status === "COMPLETED" &&
      effect === "done" &&
      effectClass !== "R",
  );
  if (!done) return failed;
  const { stepId: key, planId, carriedFrom } = done;
  return [...failed, { key, planId: carriedFrom ?? planId, hasOtherArguments: false, isDone: true }];
}

/**
 * The units of a new version. Steps that run again are PENDING; all others are kept as they are, with their
 * attempts. Of a list that runs again the completed items are kept, unless it is in `fromScratch`. Pure.
 * @param facts - with operators' decisions on units of the plan that has ended; a unit keeps the decision
 *   that its state is based on
 */
export function carriedUnits(
  document: PlanDocument,
  { plan, units, resolutions }: Pick<RerunFacts, "plan" | "units" | "resolutions">,
  { again, fromScratch }: Pick<StepsToRerun, "again" | "fromScratch">,
): StepRun[] {
  const open = stepRuns({ outline: outlineOf({ ...document, plan }), plan: undefined })
    .filter(({ key }) => again.has(key))
    .map((step) => withUnanswered(step, units, resolutions));
  const isKept = ({ stepId, item, status }: StepRun): boolean =>
    !again.has(stepId) || (item !== null && status === "COMPLETED" && !fromScratch.has(stepId));
  return [...open, ...units.filter(isKept).map((unit) => carry(document, unit, resolutions))];
}

/**
 * A step that runs again, with the calls of all versions that may have acted; its warnings list them. Pure.
 * @param units - of the version before
 */
export function withUnanswered(
  step: StepRun,
  units: readonly StepRun[],
  resolutions: readonly UnitResolution[],
): StepRun {
  const own = units.filter(({ stepId }) => stepId === step.stepId);
  const earlier = own.flatMap(({ unanswered }) => unanswered);
  const calls = own.flatMap((unit): StepRun["unanswered"] => {
    const { key, planId, argsHash } = unit;
    if (argsHash === null || (!isUnanswered(unit, resolutions) && !isKeyedFailure(unit))) return [];
    const same = earlier.find((call) => call.key === key && call.argsHash === argsHash);
    const isAnswered = !isUnanswered(unit, resolutions);
    const call = same ?? { key, planId, argsHash };
    return [{ key, planId: call.planId, argsHash, ...(isAnswered && { isAnswered }) }];
  });
  const known = new Set(calls.map(({ key }) => key));
  const all = [...calls, ...earlier.filter(({ key }) => !known.has(key))];
  return all.length > 0 ? { ...step, unanswered: all, warnings: all.map(resentCallWarning) } : step;
}

/**
 * True for a unit whose call was sent with a key and got no usable answer. An operator's decision is not an
 * answer to the key: if the decision was wrong, the same key prevents a second effect.
 */
function isUnanswered(unit: StepRun, resolutions: readonly UnitResolution[]): boolean {
  const { status, attempts } = unit;
  if (status === "COMPLETED" || !isKeyed(unit)) return false;
  if (
    settledBy(unit, resolutions) &&
    attempts.some(({ outcome }) => outcome !== "completed" && outcome !== "failed")
  )
    return true;
  return attempts.length > 0 && openEffect({ ...unit, unanswered: [] }) === "unsettled";
}

/**
 * True for a unit whose call with a key was answered by an error that leaves open whether it acted: the same
 * call is sent under the same key again, over any number of versions.
 */
function isKeyedFailure(unit: StepRun): boolean {
  return isKeyed(unit) && openEffect({ ...unit, unanswered: [] }) === "answered";
}

function isKeyed(unit: StepRun): unit is StepRun & { argsHash: string } {
  return unit.effectClass === "K" && unit.argsHash !== null;
}

/**
 * True for a unit that did not complete and whose call, in any version, has no usable answer. Pure.
 * @param resolutions - operators' decisions on the units while the plan ran
 */
export function isUnsettled(unit: StepRun, resolutions: readonly UnitResolution[]): boolean {
  // While the plan ran, "retry" asks for another call and says nothing about the earlier one. After its end
  // "retry" says that the call did not act.
  if (settledBy(unit, resolutions)?.resolution === "failed") return false;
  return openEffect(unit) === "unsettled";
}

/** The operator's decision that the state of a unit is based on. */
function settledBy(unit: StepRun, resolutions: readonly UnitResolution[]): StepRun["resolvedBy"] {
  const decision = resolutions.findLast(
    ({ key, attempt }) => key === unit.key && attempt === unit.attempts.length,
  );
  return unit.resolvedBy ?? (decision && { by: decision.by, resolution: decision.resolution.type });
}

/**
 * A unit of another version as a unit of this one, with the operator's decision that its state is based on.
 * Pure.
 * @param key - its key in the other version. Default: the same
 */
export function carry(
  document: PlanDocument,
  unit: StepRun,
  resolutions: readonly UnitResolution[],
  key: string = unit.key,
): StepRun {
  const resolvedBy = settledBy({ ...unit, key }, resolutions);
  return {
    ...unit,
    planId: document._id,
    carriedFrom: unit.carriedFrom ?? unit.planId,
    ...(resolvedBy && { resolvedBy }),
  };
}

/**
 * The forEach steps with an item that did not complete, or that completed only by an operator's decision
 * after the end of the plan: the list's output does not contain that item. The list itself may have
 * completed. An item that the list's condition skipped is finished. Pure.
 */
export function unfinishedLists(
  units: readonly (Pick<StepRun, "stepId" | "status"> & {
    item?: number | null;
    resolvedBy?: object | undefined;
    carriedFrom: string | null;
    error?: { code: string } | null;
  })[],
): Set<string> {
  const isOpen = (unit: (typeof units)[number]): boolean => {
    const { item = null, status, resolvedBy, carriedFrom } = unit;
    if (item === null || isSkippedByCondition(unit)) return false;
    return status !== "COMPLETED" || (resolvedBy !== undefined && carriedFrom === null);
  };
  return new Set(units.filter(isOpen).map(({ stepId }) => stepId));
}

/**
 * The plan of a rerun. Some steps with side effects that completed, or completed for some items, run again
 * only because a list that they used has other results now. They get `approval`, unless the caller accepted the
 * repeat: an operator sees the new arguments before the effect is repeated. Pure.
 * @param tools - with the names of the plan; an unknown tool counts as one with side effects
 */
export function askForRepeats(
  plan: Plan,
  units: readonly (Pick<StepRun, "stepId" | "status"> & CalledUnit)[],
  { again, fromScratch, named }: StepsToRerun,
  accepted: ReadonlySet<string>,
  tools: readonly ToolDescriptor[],
): Plan {
  const done = new Set(units.filter(({ status }) => status === "COMPLETED").map(({ stepId }) => stepId));
  const acted = new Set(units.filter(mayHaveActed).map(({ stepId }) => stepId));
  const isImplied = (id: string): boolean =>
    acted.has(id) && again.has(id) && fromScratch.has(id) && !named.has(id) && !accepted.has(id);
  return withApprovals(plan, new Set([...done].filter(isImplied)), tools);
}

interface CalledUnit {
  attempts: readonly unknown[];
  effect: Effect | null;
}

/** False for a unit that was never called, or whose calls had no effect: another call repeats nothing. Pure. */
export function mayHaveActed({ attempts, effect }: CalledUnit): boolean {
  return attempts.length > 0 && effect !== "none";
}

/** The plan, in which these steps need an operator's approval if a repeat of them acts again. Pure. */
export function withApprovals(plan: Plan, ids: ReadonlySet<string>, tools: readonly ToolDescriptor[]): Plan {
  const known = new Map(tools.map((tool) => [tool.name, tool]));
  const steps = plan.steps.map((step) =>
    ids.has(step.id) && actsWhenRepeated(known.get(toolOfStep(step))) ? { ...step, approval: true } : step,
  );
  return steps.some((step, index) => step !== plan.steps[index]) ? { ...plan, steps } : plan;
}

/** New arguments for one step of a rerun; arguments that are not named are kept. */
export interface ArgumentChange {
  stepId: string;
  /** Values by name; for a list, for each of its calls. */
  set: JsonObject;
}

/** Why a step cannot get other arguments. */
export type ChangeRefusal =
  | { type: "unknown step"; stepId: string }
  /** The step is carried over and never called again. */
  | { type: "completed step"; stepId: string }
  /** Units of the step acted or may have acted: another call would be a second effect. */
  | { type: "may have acted"; keys: string[] };

/**
 * Why these steps cannot get other arguments; undefined when they can. Pure.
 * @param accepted - ids of steps whose effect may be repeated. Default: none
 */
export function refusedChange(
  plan: Plan,
  { units, resolutions }: Pick<RerunFacts, "units" | "resolutions">,
  changes: readonly ArgumentChange[],
  accepted: ReadonlySet<string> = new Set(),
): ChangeRefusal | undefined {
  const unfinished = unfinishedLists(units);
  for (const { stepId } of changes) {
    if (!plan.steps.some(({ id }) => id === stepId)) return { type: "unknown step", stepId };
    const own = units.filter((unit) => unit.stepId === stepId);
    const isCompleted = own.some(({ item, status }) => item === null && status === "COMPLETED");
    if (isCompleted && !unfinished.has(stepId)) return { type: "completed step", stepId };
    if (accepted.has(stepId)) continue;
    const keys = own.filter((unit) => isUnsettled(unit, resolutions)).map(({ key }) => key);
    if (keys.length > 0) return { type: "may have acted", keys };
  }
  return undefined;
}

/** A plan with other arguments, or its diagnostics. */
type ChangedPlan =
  | { ok: true; plan: Plan; diagnostics: Diagnostic[] }
  | { ok: false; diagnostics: Diagnostic[] };

/**
 * A plan in which these steps have other arguments, checked against the catalogue like a submitted plan. All
 * other steps are unchanged. Pure.
 * @param options - the catalogue with the names of the plan, and the sentence that the plan was made for
 */
export function changeArguments(
  plan: Plan,
  changes: readonly ArgumentChange[],
  options: { tools: readonly ToolDescriptor[]; request?: string | undefined },
): ChangedPlan {
  const sets = new Map(changes.map(({ stepId, set }) => [stepId, set]));
  const steps = plan.steps.map((step) => withArguments(step, sets.get(step.id)));
  const read = parsePlan({ ...plan, steps }, options);
  if (!read.ok) return read;
  const changed = new Map(read.plan.steps.map((step) => [step.id, step]));
  return {
    ok: true,
    plan: {
      ...plan,
      steps: plan.steps.map((step) => (sets.has(step.id) ? (changed.get(step.id) ?? step) : step)),
    },
    diagnostics: read.diagnostics.filter(({ stepId }) => stepId !== undefined && sets.has(stepId)),
  };
}

function withArguments(step: Step, set: JsonObject | undefined): Step {
  if (!set) return step;
  if (!isForEachStep(step)) return { ...step, arguments: { ...step.arguments, ...set } };
  const { forEach } = step;
  return {
    ...step,
    forEach: { ...forEach, do: { ...forEach.do, arguments: { ...forEach.do.arguments, ...set } } },
  };
}

/**
 * The direct dependents of each step, by the plan and by the contracts of its tools. Pure.
 * @param catalogue - with the names of the plan: see `catalogueOfPlan`
 */
export function dependentsOf(
  plan: Plan,
  catalogue: readonly ToolDescriptor[],
): ReadonlyMap<string, readonly string[]> {
  const index = createToolIndex(catalogue);
  const contracts = new Map(
    [...new Set(plan.steps.map(toolOfStep))].flatMap((name) => {
      const tool = index.find(name);
      if (!tool) return [];
      const dependsOn = toolContract(tool).contract.dependsOn.map((dependency) => ({
        ...dependency,
        tool: index.findRelated(tool, dependency.tool)?.name ?? dependency.tool,
      }));
      return [[name, { dependsOn }] as const];
    }),
  );
  return planGraph(plan, { contracts }).dependents;
}
