/** The steps and items of a plan: its document says which there are, the folded journal what became of them. Pure. */
import type { Plan, PlanId, PlanStatus, RequestId } from "@planwright/plan";
import { isCarried } from "@planwright/plan";
import { effectOfUnit } from "../state/effect.ts";
import type { StepRecord } from "../state/protocol.ts";
import { newUnit } from "./fold-units.ts";
import type { FoldedPlan, FoldedUnit, FoldedWait, StepRun } from "./folded.ts";
import { unitTime } from "./time-use.ts";

/** The parts of a plan that never change and that define its units. */
export interface PlanOutline {
  planId: PlanId;
  requestId: RequestId;
  tenant: string;
  /** In plan order; none of a plan that can never run. */
  steps: readonly OutlinedStep[];
}

/** One step of a {@link PlanOutline}. */
interface OutlinedStep {
  id: string;
  tool: string;
  /** The step depends on others, or on the list that it runs over. */
  hasCauses: boolean;
}

/** The outline of a plan and its folded state. */
export interface PlanState {
  outline: PlanOutline;
  /** Undefined while the plan has no event. */
  plan: FoldedPlan | undefined;
}

/** A unit and its position in the plan; `unit` is undefined while it has no event. */
export interface PlacedUnit {
  step: OutlinedStep;
  /** Position of the step in the plan. */
  position: number;
  item: number | null;
  key: string;
  unit: FoldedUnit | undefined;
  /** The waits of its plan. Absent: none. */
  planWaits?: readonly FoldedWait[] | undefined;
}

/** The outline of a stored plan. */
export function outlineOf({
  _id: planId,
  requestId,
  tenant,
  status,
  plan,
}: {
  _id: PlanId;
  requestId: RequestId;
  tenant: string;
  status: PlanStatus;
  plan: Plan | null;
}): PlanOutline {
  const steps = status === "INVALID" ? [] : (plan?.steps ?? []);
  return {
    planId,
    requestId,
    tenant,
    steps: steps.map((step) => {
      const isList = "forEach" in step;
      const tool = isList ? step.forEach.do.tool : step.tool;
      return { id: step.id, tool, hasCauses: isList || step.dependsOn.length > 0 };
    }),
  };
}

/** Steps in plan order, each followed by its items. */
export function* unitsInOrder({ outline, plan }: PlanState): Generator<PlacedUnit> {
  const items = itemsOf(plan);
  const planWaits = plan?.waits;
  for (const [position, step] of outline.steps.entries()) {
    yield { step, position, item: null, key: step.id, unit: plan?.units.get(step.id), planWaits };
    for (const [item, unit] of items.get(step.id)?.entries() ?? []) {
      // Before a list is expanded, a version has only the items that it carried over.
      if (unit) yield { step, position, item, key: unit.key, unit, planWaits };
    }
  }
}

/** The items of each list, by their index. A list may have 10,000: their keys are not made again. */
function itemsOf(plan: FoldedPlan | undefined): Map<string, (FoldedUnit | undefined)[]> {
  const items = new Map<string, (FoldedUnit | undefined)[]>();
  for (const unit of plan?.units.values() ?? []) {
    if (unit.item === undefined) continue;
    const list = items.get(unit.stepId) ?? [];
    list[unit.item] = unit;
    items.set(unit.stepId, list);
  }
  return items;
}

/** All steps and items of a plan, in plan order. Without a folded state all are PENDING. */
export function stepRuns(state: PlanState): StepRun[] {
  return [...unitsInOrder(state)].map((placed) => toStepRun(state.outline, placed));
}

/** The step or item with a key; undefined when the plan has no such unit. */
export function stepRunAt({ outline, plan }: PlanState, key: string): StepRun | undefined {
  const unit = plan?.units.get(key);
  const stepId = unit?.stepId ?? key;
  const position = outline.steps.findIndex(({ id }) => id === stepId);
  const step = outline.steps[position];
  if (!step) return undefined;
  return toStepRun(outline, { step, position, item: unit?.item ?? null, key, unit, planWaits: plan?.waits });
}

/** A unit in its place. Values that were not read for the fold are absent. */
export function toStepRun(
  { planId, requestId, tenant }: Omit<PlanOutline, "steps">,
  { step, position, item, key, unit, planWaits = [] }: PlacedUnit,
): StepRun {
  const folded = unit ?? newUnit(key);
  const { status, attempts, waitReason } = folded;
  const hasEvents = status !== "PENDING" || attempts.length > 0 || waitReason !== null;
  const firstReason = item === null && step.hasCauses ? "dependency" : null;
  // A carried unit ran in another version, whose waits it does not know.
  const time = unitTime(folded, isCarried(folded) ? [] : planWaits);
  return {
    ...folded,
    requestId,
    tenant,
    planId,
    key,
    stepId: step.id,
    item,
    position,
    tool: step.tool,
    waitReason: hasEvents ? waitReason : firstReason,
    effect: effectOfUnit(folded),
    durationMs: time?.ownMs ?? null,
    waitedForPeopleMs: time?.waitedForPeopleMs ?? null,
  };
}

/**
 * The records with which an engine resumes a plan: one for each unit in the folded plan. For an output that
 * is stored separately the record has only its size; the engine requests the output when it needs it. Pure.
 */
export function recordsOf({ units }: FoldedPlan): StepRecord[] {
  return [...units.values()].map(recordOf);
}

/** The record of one unit: see {@link recordsOf}. Pure. */
export function recordOf(unit: FoldedUnit): StepRecord {
  const { key, stepId, item, status, attempts, outputRef, outputBytes, outputText, warnings, unanswered } =
    unit;
  const record: StepRecord = { key, stepId, status, attempts: attempts.length };
  const unsent = attempts.filter(({ unsent: seen, isLookup }) => seen || isLookup).length;
  const latest = attempts.at(-1)?.unsent;
  if (item !== undefined) record.item = item;
  if (unsent > 0) record.unsent = unsent;
  if (latest && !latest.isOver) record.unreachable = { since: latest.since.getTime(), tries: latest.tries };
  const storedBytes = outputRef?.sizeBytes ?? outputBytes;
  if (storedBytes !== undefined) record.outputBytes = storedBytes;
  if (unit.output !== undefined) record.output = unit.output;
  if (outputText !== undefined) record.outputText = outputText;
  if (unit.error) {
    const { dataBytes: _, ...error } = unit.error;
    record.error = error;
  }
  if (unit.waitReason) record.waitReason = unit.waitReason;
  if (unit.nextAttemptAt) record.nextAttemptAt = unit.nextAttemptAt.getTime();
  if (unit.expiresAt) record.expiresAt = unit.expiresAt.getTime();
  if (warnings.length > 0) record.warnings = [...warnings];
  if (unit.mayHaveActed) record.mayHaveActed = true;
  const open = unanswered.filter(({ isAnswered }) => !isAnswered);
  if (open.length > 0) record.unanswered = open.map((call) => call.key);
  if (unit.approved) record.approved = true;
  if (unit.carriedFrom) record.carriedFrom = { planId: unit.carriedFrom, key: unit.carriedKey ?? key };
  return record;
}
