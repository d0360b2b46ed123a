import { isDeepStrictEqual } from "node:util";
import { needsAcceptance, type StepRun } from "@planwright/engine";
import type { DraftResult, ReplanRequest, ReplanStep } from "@planwright/models";
import {
  actsWhenRepeated,
  argumentsOfStep,
  CodedError,
  type Condition,
  canonicalDigest,
  createToolIndex,
  type Diagnostic,
  evaluateCondition,
  exactAsText,
  ForEachSchema,
  hasSideEffects,
  isForEachStep,
  isJsonObject,
  isKeyed,
  isRepeatable,
  type JsonObject,
  type JsonValue,
  type LeftOutTool,
  outputParts,
  outputSteps,
  type Plan,
  type PlanGraph,
  type PlanningContext,
  type Policy,
  planGraph,
  printReference,
  REDACTED,
  readersOf,
  resolveReferences,
  type Step,
  type StepStatus,
  scanReferences,
  stepsInStatus,
  stringifyExactJson,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import { type PlanRecord, unfinishedLists } from "@planwright/store";
import { type CheckedDraft, checkDraft, stricterEffects } from "./check-draft.ts";
import { withoutSecrets } from "./context-of.ts";

/** Most characters of outputs that are searched for the values of an answer. */
const MAX_SOURCES = 1_000_000;

const JSON_ESCAPE = /\\(?:u[0-9a-f]{4}|.)/g;
/** What an escape of JSON stands for; a line end for all signs that nothing shows. Letters of an escape are no word. */
const plainOf = (escape: string): string => (/^\\["\\]$/.test(escape) ? escape.slice(1) : "\n");

/** Options of {@link checkReplan}. */
interface CheckReplanOptions {
  tools: readonly ToolDescriptor[];
  /** Tools that servers list and that no plan can use. Default: none. */
  leftOut?: readonly LeftOutTool[] | undefined;
  /** The text of the user: the request and the note. */
  said: string;
  context?: PlanningContext;
  /**
   * The operator's limit on side effects that were not planned before; the policy of the plan cannot loosen
   * it. Default: approve.
   */
  replannedEffects?: Policy["replannedEffects"] | undefined;
}

/** Reads an answer as the plan that replaces a failed one, and validates it. Pure. */
export function checkReplan(
  draft: Pick<DraftResult, "text" | "finishReason">,
  past: PastPlan,
  { tools, leftOut, said, context, replannedEffects = "approve" }: CheckReplanOptions,
): CheckedDraft {
  const { policy, limits } = past.plan;
  // Values from tool outputs are not made up; nor is the placeholder of a secret, which is restored below.
  const outputs = stringifyExactJson([REDACTED, ...past.outputs.values()]).slice(0, MAX_SOURCES);
  const sources = outputs.replace(JSON_ESCAPE, plainOf);
  const checked = checkDraft(draft, tools, said, {
    leftOut,
    sources,
    context,
    policy,
    limits,
    given: past.given,
  });
  if (!checked.plan) return "asks" in checked && checked.asks.length > 0 ? asFailure(checked) : checked;
  const effects = effectsOf(tools);
  const mayRun = stricterEffects(policy.replannedEffects, replannedEffects) === "run";
  const known = new Map<string, Step>(past.plan.steps.map((step) => [step.id, step]));
  const steps = checked.plan.steps.map((step) => restoreSecrets(step, known.get(step.id)));
  const hidden = steps.filter((step) => JSON.stringify(step).includes(REDACTED));
  if (hidden.length > 0) {
    return rejected([...checked.diagnostics, ...hidden.map(hiddenValue)]);
  }
  const { plan, changed } = composeReplan(past, { ...checked.plan, steps }, { ...effects, mayRun });
  const repeated = repeatedEffects(past, plan, { changed, hasEffects: effects.actsAgain });
  const diagnostics = [...checked.diagnostics, ...repeated];
  if (repeated.length > 0) return rejected(diagnostics);
  const digest = planDigest(plan);
  if (past.tried.some((tried) => planDigest(tried) === digest))
    return { plan: null, diagnostics, failure: UNCHANGED };
  return { plan, diagnostics };
}

/** Diagnostics that only the model can remove. */
const rejected = (diagnostics: Diagnostic[]): CheckedDraft => ({
  plan: null,
  diagnostics,
  open: null,
  asks: [],
});

/** A secret may only be used where it was used before. */
function hiddenValue({ id }: Step): Diagnostic {
  const message = `step ${id}: ${REDACTED} is the placeholder of a secret that another argument used, and may not be used here; leave it out, or keep the step unchanged`;
  return { code: "ARGUMENT_PLACEHOLDER", severity: "error", stepId: id, message };
}

const UNCHANGED = {
  code: "REPLAN_UNCHANGED",
  message:
    "The model gave a plan that was tried before under this request. Use rerun to repeat the failed steps, or replan with a note that says what to do differently",
};

/** A replan cannot ask the user, but the note of another replan can answer. */
function asFailure({
  diagnostics,
  asks,
}: Pick<CheckedDraft, "diagnostics"> & { asks: string[] }): CheckedDraft {
  const message = `The model needs to know more: ${asks.join(" ")} Use replan with a note that contains the answer`;
  return { plan: null, diagnostics, failure: { code: "NOT_PLANNABLE", message } };
}

/**
 * SHA-256 of the effects of a plan: its steps in any order, and the requested outputs. Approval does not
 * count. Pure.
 */
function planDigest({ steps, outputs }: Plan): string {
  const done = steps
    .map((step) => {
      const { approval: _, dependsOn, ...rest } = step;
      return { ...rest, dependsOn: dependsOn.toSorted() };
    })
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return canonicalDigest({
    steps: done,
    outputs: (Array.isArray(outputs) ? outputs.toSorted() : outputs) ?? null,
  });
}

/*
 * A model sees the calls of a plan without their secrets, and repeats the placeholders if it keeps a step or
 * a part of it. This code restores the secrets, so that no placeholder is sent and an unchanged step is
 * recognised as unchanged. A secret is restored only in its original position, never in another tool, step or
 * argument.
 */

/** A step from the model's answer, with the secrets of the old step with the same id. Pure. */
function restoreSecrets(step: Step, old: Step | undefined): Step {
  if (!old || toolOfStep(step) !== toolOfStep(old)) return step;
  if (!isForEachStep(step))
    return isForEachStep(old) ? step : { ...step, arguments: restored(step.arguments, old.arguments) };
  if (!isForEachStep(old)) return step;
  return { ...step, forEach: ForEachSchema.parse(restored(asJson(step.forEach), asJson(old.forEach))) };
}

function restored(answered: JsonObject, old: JsonObject): JsonObject {
  return restoredEntries(answered, old, withoutSecrets(old));
}

/**
 * @param old - the value that was in the same position; undefined for none
 * @param shown - the same value as the model saw it
 */
function restoredAt(
  answered: JsonValue,
  old: JsonValue | undefined,
  shown: JsonValue | undefined,
): JsonValue {
  if (old === undefined) return answered;
  if (typeof answered === "string") return answered === shown ? old : answered;
  if (Array.isArray(answered))
    return answered.map((item, index) => restoredAt(item, at(old, index), at(shown, index)));
  return isJsonObject(answered) ? restoredEntries(answered, old, shown) : answered;
}

function restoredEntries(answered: JsonObject, old: JsonValue, shown: JsonValue | undefined): JsonObject {
  const entries = Object.entries(answered).map(([key, value]): [string, JsonValue] => [
    key,
    restoredAt(value, at(old, key), at(shown, key)),
  ]);
  return Object.fromEntries(entries);
}

function at(value: JsonValue | undefined, key: string | number): JsonValue | undefined {
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isJsonObject(value) && typeof key === "string" && Object.hasOwn(value, key) ? value[key] : undefined;
}

const asJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value));

/** Most items of a list that are compared; no plan contains a longer literal list. */
const MAX_ITEMS = 1_000;
const MAX_DIAGNOSTICS = 20;

/**
 * Diagnostics for steps that repeat a completed call: the same tool with the same arguments, as far as these
 * are known before the call. Steps that were planned before are not checked. Pure.
 * @param changed - steps that were not planned before
 * @param hasEffects - true for a tool with side effects; reads may be repeated
 */
function repeatedEffects(
  past: PastPlan,
  plan: Plan,
  { changed, hasEffects }: { changed: ReadonlySet<string>; hasEffects: (tool: string) => boolean },
): Diagnostic[] {
  const done = callsDone(past, hasEffects);
  const newSteps = plan.steps.slice(past.given.length);
  const found = newSteps.flatMap((step, index): Diagnostic[] => {
    const tool = toolOfStep(step);
    const earlier = changed.has(step.id) ? (done.get(tool) ?? []) : [];
    const calls = earlier.length > 0 ? callsOf(step, past) : [];
    const repeated = earlier.find(({ arguments: made }) =>
      calls.some((call) => isDeepStrictEqual(asTexts(call), asTexts(made?.value ?? {}))),
    );
    if (!repeated) return [];
    const message = `step ${step.id} would call ${tool} with the same arguments as ${repeated.key}, which is finished; leave it out, and refer to <<${repeated.stepId}>> where its output is needed`;
    return [{ code: "STEP_REPEATED", severity: "error", stepId: step.id, path: `steps[${index}]`, message }];
  });
  return found.slice(0, MAX_DIAGNOSTICS);
}

/** The completed calls, by tool. */
function callsDone(
  { plan, unitsOf }: PastPlan,
  hasEffects: (tool: string) => boolean,
): ReadonlyMap<string, StepRun[]> {
  const done = new Map<string, StepRun[]>();
  for (const step of plan.steps) {
    const tool = toolOfStep(step);
    if (!hasEffects(tool)) continue;
    const isCall = ({ item, status }: StepRun) =>
      status === "COMPLETED" && (item !== null) === isForEachStep(step);
    done.set(tool, [...(done.get(tool) ?? []), ...(unitsOf.get(step.id) ?? []).filter(isCall)]);
  }
  return done;
}

/** The arguments of the calls of a step; none if they depend on outputs that do not exist yet. */
function callsOf(step: Step, { outputs }: PastPlan): JsonObject[] {
  if (!isForEachStep(step)) return resolved(step.arguments, { outputs });
  const { items, as, when, do: call } = step.forEach;
  const [list] = Array.isArray(items) ? [items] : resolvedValue(items, outputs);
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_ITEMS).flatMap((item: JsonValue, index) => {
    const options = { outputs, scope: { [as]: item, index } };
    return when && isFalse(when, options) ? [] : resolved(call.arguments, options);
  });
}

/** True for a condition that is false now already; one that reads statuses of steps may change. */
function isFalse(when: Condition, options: Parameters<typeof evaluateCondition>[1]): boolean {
  try {
    return stepsInStatus(when).length === 0 && !evaluateCondition(when, options);
  } catch (error) {
    if (error instanceof CodedError) return false;
    throw error;
  }
}

function resolved(value: JsonObject, options: Parameters<typeof resolveReferences>[1]): JsonObject[] {
  try {
    return [resolveReferences(value, options).value];
  } catch (error) {
    if (error instanceof CodedError) return [];
    throw error;
  }
}

/**
 * A call with numbers and booleans as JSON texts: the type that a tool gets from an output depends on the
 * tool's schema.
 */
function asTexts(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(asTexts);
  if (typeof value !== "object" || value === null)
    return typeof value === "string" ? exactAsText(value) : JSON.stringify(value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asTexts(inner)]));
}

function resolvedValue(value: JsonValue, outputs: PastPlan["outputs"]): JsonValue[] {
  return resolved({ value }, { outputs }).map((result) => result["value"] ?? null);
}

/*
 * 1. Completed steps are copied into the new plan unchanged, so that they are carried over and never called
 *    again.
 * 2. A step counts as planned before only when it and all its dependencies are unchanged. So a change that a
 *    tool's output caused never reaches a side effect without approval, not even through a step that only
 *    reads.
 * 3. A completed side effect is not repeated without approval because the results of a list that it used
 *    changed.
 * 4. Only code sets `approval`, policy and limits.
 */

/** The plan that replaces a failed one. */
interface ComposedReplan {
  plan: Plan;
  /** Steps that the model added or changed, or that depend on such a step. */
  changed: ReadonlySet<string>;
}

/**
 * The plan of the new version: the completed steps, then those of the answer. Side effects that were not
 * planned before get `approval`, unless they may run. Pure.
 * @param answered - the answer as a plan that begins with the given steps
 * @param mayRun - true when side effects that were not planned before run without approval
 */
function composeReplan(
  past: PastPlan,
  answered: Plan,
  { hasEffects, actsAgain, mayRun }: ToolEffects & { mayRun: boolean },
): ComposedReplan {
  const { plan: old, given } = past;
  const known = new Map<string, Step>(old.steps.map((step) => [step.id, step]));
  const done = new Set<string>(given.map(({ id }) => id));
  const graphs = { before: planGraph(old), now: planGraph(answered) };
  const answeredSteps = answered.steps.filter(({ id }) => !done.has(id));
  const same = new Set(
    answeredSteps
      .filter((step) => isSameStep(step, known.get(step.id), graphs))
      .map(({ id }) => id as string),
  );
  const asBefore = new Set(done);
  for (const id of graphs.now.order) {
    const isPlanned =
      same.has(id) && (graphs.now.dependencies.get(id) ?? []).every((source) => asBefore.has(source));
    if (isPlanned) asBefore.add(id);
  }
  const toolsToApprove = toolsToAskAbout(past);
  const readers = readersOf(answered, past.unfinished, graphs.now.dependents);
  const steps = answeredSteps.map((step): Step => {
    const kept = (same.has(step.id) ? known.get(step.id) : undefined) ?? step;
    const tool = toolOfStep(step);
    const isNew = !asBefore.has(step.id);
    const isRepeated = readers.has(step.id) && isDone(past, step.id);
    const mayRepeat = (isRepeated || toolsToApprove.always.has(tool)) && actsAgain(tool);
    const isUnplanned = isNew && (!mayRun || toolsToApprove.whenChanged.has(tool)) && hasEffects(tool);
    return mayRepeat || isUnplanned ? { ...kept, approval: true } : kept;
  });
  const changed = new Set(answeredSteps.map(({ id }) => id as string).filter((id) => !asBefore.has(id)));
  const outputs = outputsOf(past, steps, graphs.now.dependents);
  const plan: Plan = {
    formatVersion: 1,
    steps: [...given, ...steps],
    ...(outputs ? { outputs } : {}),
    ...literalsOf(old, answered),
    policy: old.policy,
    limits: old.limits,
  };
  return { plan, changed };
}

/** Most literals of a plan. */
const MAX_LITERALS = 1_000;

/** The literal texts of both plans: given steps contain some, and so do steps that the model repeats. */
function literalsOf(old: Plan, answered: Plan): Pick<Plan, "literals"> {
  const all = new Set([...(old.literals ?? []), ...(answered.literals ?? [])]);
  return all.size === 0 ? {} : { literals: [...all].slice(0, MAX_LITERALS) };
}

/** True for a step that completed, or that has completed items. */
function isDone({ unitsOf }: PastPlan, id: string): boolean {
  return (unitsOf.get(id) ?? []).some(({ status }) => status === "COMPLETED");
}

/**
 * The requested outputs that still exist. Missing ones are replaced by the new steps whose output no other
 * step uses.
 */
function outputsOf(
  { plan: { outputs, steps: before }, given }: PastPlan,
  steps: readonly Step[],
  dependents: ReadonlyMap<string, readonly string[]>,
): Plan["outputs"] {
  const ids = outputSteps(outputs);
  const parts = outputParts(outputs);
  if (!ids && !parts) return undefined;
  const all = [...given, ...steps];
  const known = new Set<string>(before.map(({ id }) => id));
  const isNewEnd = ({ id }: Step) => !known.has(id) && (dependents.get(id) ?? []).length === 0;
  if (parts) return { ...newEnds(all.filter(isNewEnd)), ...partsOf(parts, all) };
  const wanted = new Set<string>(ids);
  return all.filter((step) => wanted.has(step.id) || isNewEnd(step)).map(({ id }) => id);
}

/** The parts whose steps all exist. */
function partsOf(parts: JsonObject, steps: readonly Step[]): JsonObject {
  const known = new Set<string>(steps.map(({ id }) => id));
  const isComplete = (part: JsonValue) => scanReferences(part).every(({ root }) => known.has(root));
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => isComplete(part)));
}

/** Complete outputs of steps, by step id. */
function newEnds(steps: readonly Step[]): JsonObject {
  return Object.fromEntries(steps.map(({ id }) => [id, printReference(id, [])]));
}

/** The dependencies of each of two plans. */
interface TwoGraphs {
  before: PlanGraph;
  now: PlanGraph;
}

/**
 * True when a step of another plan makes the same call with the same dependencies. Fields that the model
 * cannot set are ignored. Pure.
 */
function isSameStep(step: Step, old: Step | undefined, { before, now }: TwoGraphs): boolean {
  if (!old || toolOfStep(step) !== toolOfStep(old)) return false;
  if (isForEachStep(step) || isForEachStep(old)) {
    if (!isForEachStep(step) || !isForEachStep(old) || !isDeepStrictEqual(step.forEach, old.forEach))
      return false;
  } else if (!isDeepStrictEqual(argumentsOfStep(step), argumentsOfStep(old))) return false;
  if (!isDeepStrictEqual(step.when, old.when)) return false;
  return isDeepStrictEqual(sourcesOf(step.id, now), sourcesOf(step.id, before));
}

function sourcesOf(id: string, { dependencies }: PlanGraph): string[] {
  return [...(dependencies.get(id) ?? [])].toSorted();
}

/** Tools whose calls may repeat an effect that cannot be seen from the plan alone. */
interface ToolsToAskAbout {
  /** A call of the tool acted or may have acted without completing, and is not safe to repeat. */
  always: ReadonlySet<string>;
  /**
   * Some items of a list of its calls completed and others did not; or a call got no answer and is safe to
   * repeat only with its key, which only the same call has.
   */
  whenChanged: ReadonlySet<string>;
}

/** The tools that need an operator's approval, whatever the policy says. Pure. */
function toolsToAskAbout({ plan, unitsOf, statusOf, unfinished }: PastPlan): ToolsToAskAbout {
  const always = new Set<string>();
  const whenChanged = new Set<string>();
  for (const step of plan.steps) {
    const units = unitsOf.get(step.id) ?? [];
    const isOpen = statusOf.get(step.id) !== "COMPLETED" || unfinished.has(step.id);
    const unanswered = units.filter(isUnanswered);
    const hasKeyedCalls = units.some(({ unanswered: calls }) => calls.length > 0);
    if (!unanswered.every(isKeyed)) always.add(toolOfStep(step));
    const hasDoneItems = units.some(({ item, status }) => item !== null && status === "COMPLETED");
    if (unanswered.length > 0 || (isOpen && (hasKeyedCalls || hasDoneItems)))
      whenChanged.add(toolOfStep(step));
  }
  return { always, whenChanged };
}

/**
 * True when a call of the unit acted or may have acted although it did not complete, or when the result of an
 * attempt is unknown; and no operator has settled it since.
 */
function isUnanswered(unit: StepRun): boolean {
  const { status, attempts, resolvedBy } = unit;
  if (status === "COMPLETED" || isRepeatable(unit) || resolvedBy) return false;
  if (needsAcceptance(unit)) return true;
  return attempts.some(({ outcome }) => outcome !== "completed" && outcome !== "failed");
}

/** What is known about the effects of tools, by their names. */
interface ToolEffects {
  /** True for a tool with side effects, by its contract; a tool without a known contract has them. */
  hasEffects: (tool: string) => boolean;
  /** True for a tool whose second call acts a second time; see `actsWhenRepeated`. */
  actsAgain: (tool: string) => boolean;
}

/** The effects of these tools. */
function effectsOf(tools: readonly ToolDescriptor[]): ToolEffects {
  const index = createToolIndex(tools);
  return {
    hasEffects: (name) => hasSideEffects(index.find(name)),
    actsAgain: (name) => actsWhenRepeated(index.find(name)),
  };
}

/** A plan that has ended, prepared for its replacement. */
export interface PastPlan {
  plan: Plan;
  /** Units of every step; the unit of the step itself comes first. */
  unitsOf: ReadonlyMap<string, readonly StepRun[]>;
  statusOf: ReadonlyMap<string, StepStatus>;
  /** Lists with items that did not complete, including lists that completed nevertheless. */
  unfinished: ReadonlySet<string>;
  /**
   * Completed steps without failed items whose dependencies are all such steps. Any later version can contain
   * them unchanged. In plan order.
   */
  given: readonly Step[];
  outputs: PlanRecord["outputs"];
  /** Plans that were tried so far, this one first. */
  tried: readonly Plan[];
}

/** Prepares a record for a new version. Pure. */
export function toPastPlan({ plan: { plan }, units, outputs, earlier }: PlanRecord): PastPlan {
  const unitsOf = new Map<string, StepRun[]>(plan.steps.map(({ id }) => [id, []]));
  for (const unit of units) unitsOf.get(unit.stepId)?.push(unit);
  const stepUnits = units.filter(({ item }) => item === null);
  const statusOf = new Map(stepUnits.map(({ stepId, status }) => [stepId, status]));
  const unfinished = unfinishedLists(units);
  const { order, dependencies } = planGraph(plan);
  const givenIds = new Set<string>();
  for (const id of order) {
    const isDone = statusOf.get(id) === "COMPLETED" && !unfinished.has(id);
    // With `run-dependents` a step completes although a dependency failed. It would refer to a step that is
    // missing in the new plan.
    if (isDone && (dependencies.get(id) ?? []).every((source) => givenIds.has(source))) givenIds.add(id);
  }
  const given = plan.steps.filter(({ id }) => givenIds.has(id));
  return { plan, unitsOf, statusOf, unfinished, given, outputs, tried: [plan, ...earlier] };
}

/**
 * The part of the failed plan that a model sees, with what it may change. Calls and outputs are without
 * secrets. Pure.
 */
export function toReplanRequest(past: PastPlan, note: string | null): ReplanRequest {
  const given = new Set<string>(past.given.map(({ id }) => id));
  return { steps: past.plan.steps.map((step) => toReplanStep(past, step, given.has(step.id))), note };
}

function toReplanStep(past: PastPlan, step: Step, isGiven: boolean): ReplanStep {
  const units = past.unitsOf.get(step.id) ?? [];
  const error = units.find(({ item }) => item === null)?.error ?? undefined;
  const isList = isForEachStep(step);
  const output = past.outputs.get(step.id);
  const shown = {
    id: step.id,
    tool: toolOfStep(step),
    call: withoutSecrets(isList ? JSON.parse(JSON.stringify({ forEach: step.forEach })) : step.arguments),
    isList,
  };
  switch (past.statusOf.get(step.id)) {
    case "COMPLETED": {
      if (past.unfinished.has(step.id)) {
        const failed = units.find(({ item, status }) => item !== null && status === "FAILED");
        return { ...shown, status: "failed", error: failed?.error ?? undefined, ...itemsOf(units, isList) };
      }
      const status = isGiven ? "finished" : "finished, closed";
      return { ...shown, status, output: output === undefined ? undefined : withoutSecrets(output) };
    }
    case "FAILED":
      return { ...shown, status: "failed", error, ...itemsOf(units, isList) };
    default:
      return { ...shown, status: "not run", ...itemsOf(units, isList) };
  }
}

function itemsOf(units: readonly StepRun[], isList: boolean): Pick<ReplanStep, "items"> {
  const ofStatus = (wanted: string) =>
    units.filter(({ item, status }) => item !== null && status === wanted).length;
  return isList ? { items: { completed: ofStatus("COMPLETED"), failed: ofStatus("FAILED") } } : {};
}
