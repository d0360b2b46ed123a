import { isDeepStrictEqual } from "node:util";
import {
  type EventOf,
  effectOfUnit,
  type FoldedUnit,
  outlineOf,
  type StepRun,
  stepRuns,
  toStepRun,
} from "@planwright/engine";
import {
  callOfStep,
  canonicalJson,
  groupBy,
  isForEachStep,
  type Plan,
  planGraph,
  referencedSteps,
  type Step,
  toolOfStep,
} from "@planwright/plan";
import type { PlanDocument } from "../records/plan-document.ts";
import { mayHaveActed } from "./ask-for-repeats.ts";
import { carry, withUnanswered } from "./carry-over.ts";
import {
  type ComparedPlan,
  type EarlierCall,
  type EarlierVersion,
  earlierCalls,
  isSameCall,
  isSameTool,
  originOf,
} from "./earlier-calls.ts";
import { unfinishedLists } from "./unfinished-lists.ts";

/** A step of an earlier version whose results a step of the new one has. */
export interface StepSource {
  version: EarlierVersion;
  stepId: string;
  /** It has completed, with all its items; otherwise only its completed items are kept. */
  isComplete: boolean;
}

/** What a new version of a plan carries over and what it calls, compared with all versions before it. */
export interface VersionSteps {
  /** By step id of the new plan. */
  sources: ReadonlyMap<string, StepSource>;
  /** Steps that are called, or some of whose items are. */
  again: ReadonlySet<string>;
  /** Those of `again` that completed in the version before, may have acted, and only have other inputs now. */
  implied: ReadonlySet<string>;
}

/** A new version with another plan, and all versions before it. */
export interface VersionFacts extends ComparedPlan {
  /** Newest first. */
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
  const isImplied = (id: string): boolean => {
    const step = steps.get(id);
    const before = latest?.stepOf(id);
    if (!latest?.isComplete(id) || !step || !before) return false;
    const hasActed = latest.unitsOf(id).some((unit) => mayHaveActed({ ...unit, effect: effectOfUnit(unit) }));
    return hasActed && isSameCall(step, facts, before, latest.version);
  };
  return { sources, again, implied: new Set([...again].filter(isImplied)) };
}

/** Stands for the output of a step that has none. */
function openSource(id: string): string {
  return `open/${id}`;
}

function stepOriginOf({ version, stepId }: StepSource): string {
  const unit = version.folded.units.get(stepId);
  return unit ? originOf(version, unit) : `${version._id}/${stepId}`;
}

/** An earlier version, indexed. */
interface VersionContext {
  version: EarlierVersion;
  stepOf(id: string): Step | undefined;
  unitsOf(id: string): readonly FoldedUnit[];
  isComplete(id: string): boolean;
  inputsOf(id: string): StepInputs | undefined;
  /** Ids of the steps with a call, in plan order. */
  stepsWith(call: string): readonly string[];
}

function contextOf(version: EarlierVersion, { plan: { policy } }: VersionFacts): VersionContext {
  const { plan, folded } = version;
  const { units } = folded;
  const all = [...units.values()];
  const byStep = groupBy(all, ({ stepId }) => stepId);
  const unfinished = unfinishedLists(all);
  const steps = new Map(plan.steps.map((step) => [step.id as string, step]));
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
    stepOf: (id) => steps.get(id),
    unitsOf: (id) => byStep.get(id) ?? [],
    isComplete: (id) => units.get(id)?.status === "COMPLETED" && !unfinished.has(id),
    inputsOf: inputsOfStep,
    stepsWith(call) {
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

/** What the source of a step is searched in. */
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
          (!isOwn && hasNamesake(facts, other, version))
        )
          continue;
        if (source.isComplete) return source;
        if (context.unitsOf(id).some(({ item, status }) => item !== undefined && status === "COMPLETED"))
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

/** True when the new plan has a step with the id and the call of an earlier one. */
function hasNamesake(facts: VersionFacts, other: Step, version: EarlierVersion): boolean {
  const namesake = facts.plan.steps.find(({ id }) => id === other.id);
  return namesake !== undefined && isSameCall(namesake, facts, other, version);
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
  if (context.unitsOf(other.id).some((unit) => effectOfUnit(unit) === "done")) return true;
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
export interface VersionRepeats {
  /** Calls that acted or may have acted, and that the new version makes again. */
  repeated: RepeatedUnit[];
  /** Keys of units with a call without a usable answer, for which the new version has other calls. */
  replaced: { key: string; ids: readonly string[] }[];
}

/** A unit whose call acted or may have acted, and that the new plan calls again. */
export interface RepeatedUnit {
  /** Its key; under another step id the id of the step that makes the same call. */
  key: string;
  /** The plan that called it. */
  planId: string;
  isDone: boolean;
  /** Ids of the steps that make the same call. */
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
      if (!isCarriedCall(call, carried)) continue;
      for (const id of same) {
        if (extra.has(id) || !isExtra(id, call, facts)) continue;
        extra.add(id);
        repeats.repeated.push({ key: id, planId: version._id, isDone: true, steps: [id], ids: [id] });
      }
    } else if (first === undefined) {
      const others = replacementsOf(other, version, { facts, steps });
      if (effect === "unsettled" && others.length > 0)
        repeats.replaced.push({ key: unit.key, ids: [unit.stepId, ...others] });
    } else if (unit.effectClass !== "K") {
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

/** True when the step of a done call is carried over. Arguments that are known now belong to no other call. */
function isCarriedCall({ version, unit }: EarlierCall, carried: ReadonlySet<string>): boolean {
  return carried.has(stepOriginOf({ version, stepId: unit.stepId, isComplete: true }));
}

/** True when a step makes a call that is done, and no earlier version had both. */
function isExtra(id: string, { origin }: EarlierCall, facts: VersionFacts): boolean {
  const { plan, versions } = facts;
  const step = plan.steps.find((one) => one.id === id);
  if (!step || referencedSteps(step, plan).length > 0) return false;
  const isPlannedIn = (version: EarlierVersion): boolean => {
    const other = version.plan.steps.find((one) => one.id === id);
    const own = version.folded.units.get(id);
    const isThere = [...version.folded.units.values()].some((unit) => originOf(version, unit) === origin);
    return Boolean(
      other &&
        isThere &&
        (!own || originOf(version, own) !== origin) &&
        isSameCall(step, facts, other, version),
    );
  };
  return !versions.some(isPlannedIn);
}

/** The units with which a version begins, and the steps whose units come from elsewhere. */
export interface CarriedVersion {
  units: StepRun[];
  moved: NonNullable<EventOf<"plan.stored">["moved"]>;
}

/** The units of a version with another plan: carried ones, and steps that are PENDING. Pure. */
export function carriedVersion(
  document: PlanDocument,
  facts: VersionFacts,
  { sources, again }: VersionSteps,
): CarriedVersion {
  const [latest] = facts.versions;
  const positions = new Map(facts.plan.steps.map(({ id }, position) => [id as string, position]));
  const outline = outlineOf({ ...document, plan: facts.plan });
  const steps = new Map(outline.steps.map((step) => [step.id, step]));
  const open = stepRuns({ outline, plan: undefined })
    .filter(({ key }) => again.has(key))
    .map((step) =>
      withUnanswered(step, sameCallBefore(step.stepId, facts, latest), latest?.folded.resolutions ?? []),
    );
  const carried = [...sources].flatMap(([id, { version, stepId, isComplete }]): StepRun[] => {
    const step = steps.get(id);
    const units = [...version.folded.units.values()].filter((unit) => unit.stepId === stepId);
    const kept = units.filter(
      ({ item, status }) => isComplete || (item !== undefined && status === "COMPLETED"),
    );
    if (!step) return [];
    return kept.map((unit) => {
      const key = id + unit.key.slice(stepId.length);
      const placed = { step, position: positions.get(id) ?? 0, item: unit.item ?? null, key, unit };
      return carry(
        document,
        toStepRun({ ...version, planId: version._id }, placed),
        version.folded.resolutions,
        unit.key,
      );
    });
  });
  const moved = [...sources].flatMap(([stepId, { version, stepId: from }]) =>
    version === latest && from === stepId ? [] : [{ stepId, planId: version._id as string, from }],
  );
  return { units: [...open, ...carried], moved };
}

/** The units of the version before whose step has the same id and the same call. */
function sameCallBefore(id: string, facts: VersionFacts, latest: EarlierVersion | undefined): StepRun[] {
  const step = facts.plan.steps.find((one) => one.id === id);
  const other = latest?.plan.steps.find((one) => one.id === id);
  if (!latest || !step || !other || !isSameCall(step, facts, other, latest)) return [];
  const outlined = { id, tool: toolOfStep(other), hasCauses: false };
  return [...latest.folded.units.values()]
    .filter((unit) => unit.stepId === id)
    .map((unit) =>
      toStepRun(
        { ...latest, planId: latest._id },
        { step: outlined, position: 0, item: unit.item ?? null, key: unit.key, unit },
      ),
    );
}
