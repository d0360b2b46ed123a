/**
 * What a new version of a plan carries over, what it calls, and which of these calls would be repeats. A rerun
 * compares the same plan with the version that has ended ({@link rerunSteps}); an amendment and a replan compare
 * another plan with all versions before it ({@link versionSteps}). Everything else follows from the answer.
 */
import { isDeepStrictEqual } from "node:util";
import {
  type Effect,
  type EventOf,
  effectOfUnit,
  type FoldedUnit,
  hasDoneEffect,
  isSkippedByCondition,
  needsAcceptance,
  openEffect,
  outlineOf,
  unitsInOrder,
} from "@planwright/engine";
import {
  actsWhenRepeated,
  calledIn,
  callOfStep,
  canonicalJson,
  groupBy,
  isCarried,
  isForEachStep,
  isKeyed,
  type MaybeCarried,
  type Plan,
  planGraph,
  readersOf,
  referencedSteps,
  remembered,
  type Step,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import type { UnitResolution } from "../records/plan-document.ts";
import {
  type ComparedPlan,
  type EarlierCall,
  type EarlierVersion,
  earlierCalls,
  isSameCall,
  isSameStep,
  isSameTool,
  originOf,
  settledBy,
  stepsById,
} from "./earlier-calls.ts";

/** A step of an earlier version whose results a step of the new one has. */
interface StepSource {
  version: EarlierVersion;
  stepId: string;
  /** It has completed, with all its items; otherwise only its completed items are kept. */
  isComplete: boolean;
}

/** What a new version of a plan carries over and what it calls, compared with all versions before it. */
export interface VersionSteps {
  sources: ReadonlyMap<string, StepSource>;
  /** Steps that are called, or some of whose items are. */
  again: ReadonlySet<string>;
  /** Those of `again` that completed in the version before, may have acted, and only have other inputs now. */
  implied: ReadonlySet<string>;
  /** True for a step with the id of one of the version before whose unanswered calls it makes again. */
  isOwn: (step: Step) => boolean;
}

/** A unit of an earlier version; its item is null for a step. */
type Unit = Omit<FoldedUnit, "item" | "tool"> & { item: number | null; effect: Effect | null };

/** The units of a version that have events, in plan order. Pure. */
export function unitsOfVersion(version: EarlierVersion): readonly Unit[] {
  return indexedUnits(version).all;
}

/** Once for each version, because versions are immutable. */
const indexedUnits = remembered((version: EarlierVersion) => {
  const { folded, ...document } = version;
  const outline = outlineOf({ ...document, status: folded.status });
  const all = [...unitsInOrder({ outline, plan: folded })].flatMap(({ unit, item }): Unit[] =>
    unit ? [{ ...unit, item, effect: effectOfUnit(unit) }] : [],
  );
  return { all, byStep: groupBy(all, ({ stepId }) => stepId) };
});

interface RerunFacts {
  plan: Plan;
  before: EarlierVersion;
  units: readonly Unit[];
  /** Steps that depend on each step, directly. */
  dependents: ReadonlyMap<string, readonly string[]>;
  /** Null: only steps that did not complete run again. Otherwise also this step and all its dependents. */
  from: string | null;
}

interface RerunSteps extends VersionSteps {
  /**
   * Those of `again` whose earlier results are not used, for lists those of all items: the caller wants new
   * results, or the inputs may have changed.
   */
  fromScratch: ReadonlySet<string>;
}

/**
 * Decides which steps of a rerun run again: steps that did not complete, lists with failed items, steps that
 * used the output of such a list, and the named step with all its dependents. Of a list only the failed items
 * are called again. All items are called again if the list uses an output that changes, if it is named and had
 * no failed items, or if a step before it is named. All other steps are carried over. Pure.
 */
export function rerunSteps({ plan, before, units, dependents, from }: RerunFacts): RerunSteps {
  const ids = plan.steps.map(({ id }): string => id);
  const statuses = new Map(units.map(({ key, status }) => [key, status]));
  const open = ids.filter((id) => statuses.get(id) !== "COMPLETED");
  const unfinished = unfinishedLists(units);
  const named = from === null ? new Set<string>() : withDependents(from, dependents);
  const completed = [...unfinished].filter((id) => !open.includes(id));
  const readers = readersOf(plan, completed, dependents);
  const again = new Set([...open, ...unfinished, ...named, ...readers]);
  const fromScratch = readersOf(plan, again, dependents);
  for (const id of named) if (id !== from || !unfinished.has(id)) fromScratch.add(id);
  const sources = new Map(
    ids
      .filter((id) => !fromScratch.has(id) || !again.has(id))
      .map((id) => [id, { version: before, stepId: id, isComplete: !again.has(id) }]),
  );
  const done = new Set(units.filter(({ status }) => status === "COMPLETED").map(({ stepId }) => stepId));
  const acted = new Set(units.filter(mayHaveActed).map(({ stepId }) => stepId));
  // They run only because a list that they used has other results now.
  const isImplied = (id: string): boolean =>
    acted.has(id) && again.has(id) && fromScratch.has(id) && !named.has(id);
  return { sources, again, fromScratch, implied: new Set([...done].filter(isImplied)), isOwn: () => true };
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
  units: readonly Unit[],
  { again, fromScratch }: Pick<RerunSteps, "again" | "fromScratch">,
): string[] {
  return units
    .filter(({ stepId, status }) => status === "IN_DOUBT" && again.has(stepId))
    .filter((unit) => !isUnanswered(unit, []) || fromScratch.has(unit.stepId))
    .map(({ key }) => key);
}

/** A unit that is called again although an earlier call of it acted or may have acted. */
export type RepeatedCall = NonNullable<EventOf<"plan.stored">["repeats"]>[number];

/**
 * The units of steps that run again whose calls acted or may have acted: an effect is repeated only when the
 * caller names its step. A completed step is one of them when it was named as the first to run again. Pure.
 * @param changed - ids of steps with other arguments: their calls have other effects
 */
export function rerunRepeats(
  { units, before, from }: Pick<RerunFacts, "units" | "before" | "from">,
  { again, fromScratch }: Pick<RerunSteps, "again" | "fromScratch">,
  changed: ReadonlySet<string>,
): RepeatedCall[] {
  const planId = before._id;
  const failed = units
    .filter((unit) => again.has(unit.stepId) && needsAcceptance(unit))
    .map(({ key, stepId }) => ({ key, planId, hasOtherArguments: changed.has(stepId) }));
  const done = units.find(
    (unit) => unit.stepId === from && fromScratch.has(unit.stepId) && hasDoneEffect(unit),
  );
  if (!done) return failed;
  const { stepId: key } = done;
  return [
    ...failed,
    { key, planId: calledIn(before.folded.planId, done), hasOtherArguments: false, isDone: true },
  ];
}

/** A new version with another plan, and all versions before it. */
export interface VersionFacts extends ComparedPlan {
  versions: readonly EarlierVersion[];
}

/**
 * Decides which steps of a version with another plan are carried over. A step is, when a step of an earlier
 * version has completed with the same call: the same tool, arguments and sources of what it reads, whatever its
 * id, its time limits, its retries or its dependencies. A step without an effect runs again under another
 * condition, and when it now comes after a step that runs. Of a list that did not complete its completed items
 * are carried over. Pure.
 */
export function versionSteps(facts: VersionFacts): VersionSteps {
  const { plan, versions } = facts;
  const sources = new Map<string, StepSource>();
  const taken = new Set<string>();
  const graph = planGraph(plan);
  const dependencies = plan.policy.mergeDependencyOutputs ? graph.dependencies : undefined;
  const steps = new Map(plan.steps.map((step) => [step.id as string, step]));
  const contexts = versions.map((version) => contextOf(version, facts));
  const sourceNow = (id: string): string => {
    const source = sources.get(id);
    if (!source?.isComplete) return openSource(id);
    const unit = source.version.folded.units.get(source.stepId);
    return unit ? originOf(source.version, unit) : openSource(id);
  };
  for (const id of new Set([...graph.order, ...steps.keys()])) {
    const step = steps.get(id);
    if (!step) continue;
    const inputs = inputsOf(step, plan, { dependencies, sourceOf: sourceNow });
    const isOpen = (other: string): boolean => !sources.get(other)?.isComplete;
    const found = findSource(step, inputs, { facts, contexts, taken, isOpen });
    if (!found) continue;
    sources.set(id, found);
    taken.add(stepOriginOf(found));
  }
  const ids = plan.steps.map((step): string => step.id);
  const again = new Set(ids.filter((id) => !sources.get(id)?.isComplete));
  const [latest] = contexts;
  const isOwn = ({ id }: Step): boolean => latest !== undefined && isSameStep(id, facts, latest.version);
  const isImplied = (id: string): boolean => {
    const step = steps.get(id);
    if (!latest?.isComplete(id) || !step) return false;
    return latest.unitsOf(id).some(mayHaveActed) && isOwn(step);
  };
  return { sources, again, implied: new Set([...again].filter(isImplied)), isOwn };
}

/** Stands for the output of a step that has none. */
function openSource(id: string): string {
  return `open/${id}`;
}

function stepOriginOf({ version, stepId }: Pick<StepSource, "version" | "stepId">): string {
  const unit = version.folded.units.get(stepId);
  return unit ? originOf(version, unit) : `${version._id}/${stepId}`;
}

/** An earlier version, indexed. */
type VersionContext = ReturnType<typeof contextOf>;

function contextOf(version: EarlierVersion, { plan: { policy } }: VersionFacts) {
  const { plan, folded } = version;
  const { units } = folded;
  const { all, byStep } = indexedUnits(version);
  const unfinished = unfinishedLists(all);
  const steps = stepsById(plan);
  const isMerged = policy.mergeDependencyOutputs;
  const dependencies = isMerged ? planGraph(plan).dependencies : undefined;
  const sourceOf = (id: string): string => {
    const unit = units.get(id);
    return unit?.status === "COMPLETED" ? originOf(version, unit) : openSource(id);
  };
  const inputs = new Map<string, StepInputs>();
  const inputsOfStep = (id: string): StepInputs | undefined => {
    const step = steps.get(id);
    const known = inputs.get(id) ?? (step && inputsOf(step, plan, { dependencies, sourceOf }));
    if (known) inputs.set(id, known);
    return known;
  };
  let byCall: Map<string | undefined, string[]> | undefined;
  return {
    version,
    stepOf: (id: string) => steps.get(id),
    unitsOf: (id: string) => byStep.get(id) ?? [],
    isComplete: (id: string) => units.get(id)?.status === "COMPLETED" && !unfinished.has(id),
    inputsOf: inputsOfStep,
    /** Ids of the steps with a call, in plan order. */
    stepsWith(call: string) {
      byCall ??= groupBy(steps.keys(), (id) => inputsOfStep(id)?.call);
      return byCall.get(call) ?? [];
    },
  };
}

/** What a step calls its tool with, in comparable form, and the sources of everything that it reads. */
interface StepInputs {
  call: string;
  reads: readonly string[];
}

/** @param dependencies - of each step, when the outputs of dependencies become arguments */
function inputsOf(
  step: Step,
  plan: Plan,
  {
    dependencies,
    sourceOf,
  }: {
    dependencies: ReadonlyMap<string, readonly string[]> | undefined;
    sourceOf: (id: string) => string;
  },
): StepInputs {
  const merged = (dependencies?.get(step.id) ?? []).map(sourceOf).toSorted();
  const reads = [...referencedSteps(step, plan).map(sourceOf), ...merged];
  return { call: canonicalJson([callOfStep(step, plan, sourceOf), merged]), reads };
}

interface Search {
  facts: VersionFacts;
  contexts: readonly VersionContext[];
  /** Origins of the steps that are carried over already. */
  taken: ReadonlySet<string>;
  /** True for a step of the new plan that runs. */
  isOpen: (id: string) => boolean;
}

/** The best source of a step: complete before incomplete, its own id before others, newest first. */
function findSource(step: Step, inputs: StepInputs, search: Search): StepSource | undefined {
  const { facts, contexts, taken } = search;
  let partial: StepSource | undefined;
  for (const isOwn of [true, false]) {
    for (const context of contexts) {
      const { version } = context;
      const ids = isOwn ? [step.id as string] : context.stepsWith(inputs.call).filter((id) => id !== step.id);
      for (const id of ids) {
        const other = context.stepOf(id);
        const isComplete = context.isComplete(id) && !isDecidedAgain(step, inputs, { context, id });
        const source = { version, stepId: id, isComplete };
        if (!other || (!source.isComplete && partial) || taken.has(stepOriginOf(source))) continue;
        if (
          !isSame(step, inputs, { ...search, context, other }) ||
          (!isOwn && isSameStep(id, facts, version))
        )
          continue;
        if (source.isComplete) return source;
        if (context.unitsOf(id).some(({ item, status }) => item !== null && status === "COMPLETED"))
          partial = source;
      }
    }
  }
  return partial;
}

/**
 * True for a list whose condition may now let other items through: it differs, or reads other outputs. Its
 * completed items are kept, and the condition decides about the others.
 */
function isDecidedAgain(
  step: Step,
  { reads }: StepInputs,
  { context, id }: { context: VersionContext; id: string },
): boolean {
  const other = context.stepOf(id);
  const now = isForEachStep(step) ? step.forEach.when : undefined;
  const before = other && isForEachStep(other) ? other.forEach.when : undefined;
  if (!now && !before) return false;
  return !isDeepStrictEqual(now, before) || !isDeepStrictEqual(reads, context.inputsOf(id)?.reads);
}

/** The same call. Of a step without an effect also its condition counts, and what it comes after. */
function isSame(
  step: Step,
  inputs: StepInputs,
  {
    facts,
    isOpen,
    context,
    other,
  }: Pick<Search, "facts" | "isOpen"> & { context: VersionContext; other: Step },
): boolean {
  const { version } = context;
  const before = context.inputsOf(other.id);
  if (inputs.call !== before?.call || !isSameTool(toolOfStep(step), facts, toolOfStep(other), version))
    return false;
  if (context.unitsOf(other.id).some(({ effect }) => effect === "done")) return true;
  const comesLater = step.dependsOn.some((id) => !other.dependsOn.includes(id) && isOpen(id));
  return (
    !comesLater &&
    isDeepStrictEqual(inputs.reads, before.reads) &&
    isDeepStrictEqual(step.when, other.when) &&
    itemKeyOf(step) === itemKeyOf(other)
  );
}

function itemKeyOf(step: Step): string | undefined {
  return isForEachStep(step) ? step.forEach.key : undefined;
}

/** Calls that a new version would make again, and calls that it would replace by others. */
interface VersionRepeats {
  /** Calls that acted or may have acted, and that the new version makes again. */
  repeated: RepeatedUnit[];
  /** Keys of units with a call without a usable answer, for which the new version has other calls. */
  replaced: { key: string; ids: readonly string[] }[];
}

/** A unit whose call acted or may have acted, and that the new plan calls again. */
interface RepeatedUnit {
  /** Its key; under another step id the id of the step that makes the same call. */
  key: string;
  planId: string;
  isDone: boolean;
  steps: readonly string[];
  /** Ids by which the repeat may be accepted: of its step, and of the steps with the same call. */
  ids: readonly string[];
}

/**
 * The calls of all earlier versions that the steps of a new version repeat or replace, as far as their arguments
 * are known before they run. The rest is compared when the call is made: see `createRepeats`. Pure.
 */
export function versionRepeats(facts: VersionFacts, { again, sources }: VersionSteps): VersionRepeats {
  const { plan, versions } = facts;
  const steps = plan.steps.filter(({ id }) => again.has(id));
  const carried = new Set([...sources.values()].map(stepOriginOf));
  const sameSteps = new Map<Step, string[]>();
  const sameAs = (other: Step, version: EarlierVersion): readonly string[] => {
    const known =
      sameSteps.get(other) ??
      steps.filter((step) => isSameCall(step, facts, other, version)).map(({ id }): string => id);
    sameSteps.set(other, known);
    return known;
  };
  const repeats: VersionRepeats = { repeated: [], replaced: [] };
  const extra = new Set<string>();
  for (const call of earlierCalls(versions)) {
    const { version, unit, effect } = call;
    const other = version.plan.steps.find(({ id }) => id === unit.stepId);
    if (!other || effect === "denied") continue;
    const same = sameAs(other, version);
    const [first] = same;
    if (effect === "done") {
      // Only where its step is carried over: otherwise arguments that are known now belong to no other call.
      if (!carried.has(stepOriginOf({ version, stepId: unit.stepId }))) continue;
      for (const id of same) {
        if (extra.has(id) || !isExtra(id, call, facts)) continue;
        extra.add(id);
        repeats.repeated.push({ key: id, planId: version._id, isDone: true, steps: [id], ids: [id] });
      }
    } else if (first === undefined) {
      const others = replacementsOf(other, version, { facts, steps });
      if (effect === "unsettled" && others.length > 0)
        repeats.replaced.push({ key: unit.key, ids: [unit.stepId, ...others] });
    } else if (!isKeyed(unit)) {
      const key = same.includes(unit.stepId) ? unit.key : first;
      repeats.repeated.push({
        key,
        planId: version._id,
        isDone: false,
        steps: same,
        ids: [unit.stepId, ...same],
      });
    }
  }
  return repeats;
}

/** Ids of steps with other calls in place of an earlier one: they have its id or its tool. */
function replacementsOf(
  other: Step,
  version: EarlierVersion,
  { facts, steps }: { facts: VersionFacts; steps: readonly Step[] },
): string[] {
  return steps
    .filter((step) => step.id === other.id || isSameTool(toolOfStep(step), facts, toolOfStep(other), version))
    .filter((step) => !version.plan.steps.some((one) => isSameCall(step, facts, one, version)))
    .map(({ id }): string => id);
}

/** True when a step makes a call that is done, and no earlier version had both. */
function isExtra(id: string, { origin }: EarlierCall, facts: VersionFacts): boolean {
  const { plan, versions } = facts;
  const step = plan.steps.find((one) => one.id === id);
  if (!step || referencedSteps(step, plan).length > 0) return false;
  const isPlannedIn = (version: EarlierVersion): boolean => {
    const own = version.folded.units.get(id);
    const isThere = [...version.folded.units.values()].some((unit) => originOf(version, unit) === origin);
    return isThere && (!own || originOf(version, own) !== origin) && isSameStep(id, facts, version);
  };
  return !versions.some(isPlannedIn);
}

/** What the entry of a version says about its units. */
export interface CarriedVersion extends Pick<EventOf<"plan.stored">, "unanswered"> {
  /** Under their keys in the new version, with the operators' decisions that their states are based on. */
  carried: readonly Pick<FoldedUnit, "key" | "status" | "finishedAt" | "resolvedBy">[];
  /** Steps whose units come from elsewhere than the version before. */
  moved: NonNullable<EventOf<"plan.stored">["moved"]>;
}

/**
 * The units with which a new version begins: carried ones, and steps that send earlier calls again. All others
 * are PENDING. Pure.
 */
export function carriedVersion(
  { plan, versions: [latest] }: Pick<VersionFacts, "plan" | "versions">,
  { sources, again, isOwn }: VersionSteps,
): CarriedVersion {
  const ofStep = (version: EarlierVersion, stepId: string): readonly Unit[] =>
    indexedUnits(version).byStep.get(stepId) ?? [];
  const unanswered = plan.steps.flatMap((step) =>
    latest && again.has(step.id) && isOwn(step) ? unansweredOf(ofStep(latest, step.id), latest) : [],
  );
  const carried = [...sources].flatMap(([id, { version, stepId, isComplete }]) =>
    ofStep(version, stepId)
      .filter(({ item, status }) => isComplete || (item !== null && status === "COMPLETED"))
      .map((unit) => ({
        ...unit,
        key: id + unit.key.slice(stepId.length),
        resolvedBy: settledBy(unit, version.folded.resolutions),
      })),
  );
  const moved = [...sources].flatMap(([stepId, { version, stepId: from }]) =>
    version === latest && from === stepId ? [] : [{ stepId, planId: version._id as string, from }],
  );
  return { carried, unanswered, moved };
}

/**
 * The calls of a step, of all versions, that may have acted and that are sent again under their keys. Pure.
 * @param units - of the step, in the version before
 */
function unansweredOf(
  units: readonly Unit[],
  { _id: planId, folded: { resolutions } }: EarlierVersion,
): FoldedUnit["unanswered"] {
  const earlier = units.flatMap(({ unanswered }) => unanswered);
  const calls = units.flatMap((unit): FoldedUnit["unanswered"] => {
    const { key, argsHash } = unit;
    const isAnswered = !isUnanswered(unit, resolutions);
    if (argsHash === null || (isAnswered && !isKeyedFailure(unit))) return [];
    const same = earlier.find((call) => call.key === key && call.argsHash === argsHash);
    return [{ key, planId: same?.planId ?? planId, argsHash, ...(isAnswered && { isAnswered }) }];
  });
  const known = new Set(calls.map(({ key }) => key));
  return [...calls, ...earlier.filter(({ key }) => !known.has(key))];
}

/**
 * True for a unit whose call was sent with a key and got no usable answer. An operator's decision is not an
 * answer to the key: if the decision was wrong, the same key prevents a second effect.
 */
function isUnanswered(unit: Unit, resolutions: readonly UnitResolution[]): boolean {
  const { status, attempts } = unit;
  if (status === "COMPLETED" || !wasSentWithKey(unit)) return false;
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
function isKeyedFailure(unit: Unit): boolean {
  return wasSentWithKey(unit) && openEffect({ ...unit, unanswered: [] }) === "answered";
}

function wasSentWithKey(unit: Unit): boolean {
  return isKeyed(unit) && unit.argsHash !== null;
}

/**
 * True for a unit that did not complete and whose call, in any version, has no usable answer. Pure.
 * @param resolutions - operators' decisions on the units while the plan ran
 */
export function isUnsettled(unit: Unit, resolutions: readonly UnitResolution[]): boolean {
  // While the plan ran, "retry" asks for another call and says nothing about the earlier one. After its end
  // "retry" says that the call did not act.
  if (settledBy(unit, resolutions)?.resolution === "failed") return false;
  return openEffect(unit) === "unsettled";
}

/**
 * The forEach steps with an item that did not complete, or that completed only by an operator's decision
 * after the end of the plan: the list's output does not contain that item. The list itself may have
 * completed. An item that the list's condition skipped is finished. Pure.
 */
export function unfinishedLists(
  units: readonly (Pick<Unit, "stepId" | "status"> & {
    item: number | null;
    resolvedBy?: object | undefined;
    error?: { code: string } | null;
  } & MaybeCarried)[],
): Set<string> {
  const isOpen = (unit: (typeof units)[number]): boolean => {
    const { item, status, resolvedBy } = unit;
    if (item === null || isSkippedByCondition(unit)) return false;
    return status !== "COMPLETED" || (resolvedBy !== undefined && !isCarried(unit));
  };
  return new Set(units.filter(isOpen).map(({ stepId }) => stepId));
}

/** False for a unit that was never called, or whose calls had no effect: another call repeats nothing. Pure. */
function mayHaveActed({ attempts, effect }: Pick<Unit, "attempts" | "effect">): boolean {
  return attempts.length > 0 && effect !== "none";
}

/**
 * The plan, in which these steps need an operator's approval if a repeat of them acts again: an operator sees the
 * new arguments before. Pure.
 * @param accepted - steps whose repeat the caller has accepted
 * @param tools - with the names of the plan; an unknown tool counts as one with side effects
 */
export function withApprovals(
  plan: Plan,
  ids: ReadonlySet<string>,
  accepted: ReadonlySet<string>,
  tools: readonly ToolDescriptor[],
): Plan {
  const known = new Map(tools.map((tool) => [tool.name, tool]));
  const steps = plan.steps.map((step) =>
    ids.has(step.id) && !accepted.has(step.id) && actsWhenRepeated(known.get(toolOfStep(step)))
      ? { ...step, approval: true }
      : step,
  );
  return steps.some((step, index) => step !== plan.steps[index]) ? { ...plan, steps } : plan;
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
  { units, before }: Pick<RerunFacts, "units" | "before">,
  changes: readonly { stepId: string }[],
  accepted: ReadonlySet<string> = new Set(),
): ChangeRefusal | undefined {
  const unfinished = unfinishedLists(units);
  for (const { stepId } of changes) {
    if (!plan.steps.some(({ id }) => id === stepId)) return { type: "unknown step", stepId };
    const own = units.filter((unit) => unit.stepId === stepId);
    const isCompleted = own.some(({ item, status }) => item === null && status === "COMPLETED");
    if (isCompleted && !unfinished.has(stepId)) return { type: "completed step", stepId };
    if (accepted.has(stepId)) continue;
    const keys = own.filter((unit) => isUnsettled(unit, before.folded.resolutions)).map(({ key }) => key);
    if (keys.length > 0) return { type: "may have acted", keys };
  }
  return undefined;
}
