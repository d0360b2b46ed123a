/** The steps and items of a plan, as folded from its journal. */
import {
  effectOfUnit,
  type FoldedAttempt,
  type FoldedPlan,
  type FoldedUnit,
  type FoldedWait,
  unitTime,
} from "@planwright/engine";
import type { PlanId } from "@planwright/plan";
import { MAX_INLINE_BYTES } from "../outputs/inline-value.ts";
import type { StepHead } from "../records/document-heads.ts";
import { stepDocumentId } from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { AttemptDocument, StepDocument } from "../records/step-document.ts";

/** The parts of a plan that never change and that define its units. */
export interface PlanOutline extends Pick<PlanDocument, "_id" | "requestId" | "tenant" | "createdAt"> {
  /** In plan order; none of a plan that can never run. */
  steps: readonly OutlinedStep[];
}

/** One step of a {@link PlanOutline}. */
export interface OutlinedStep {
  id: string;
  tool: string;
  /** The step depends on others, or on the list that it runs over. */
  hasCauses: boolean;
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

/** The outline of a plan and its folded state. */
export interface PlanState {
  outline: PlanOutline;
  /** Undefined while the plan has no event. */
  plan: FoldedPlan | undefined;
}

/** The projection of a plan's document for {@link outlineOf}. */
export const OUTLINE = {
  requestId: 1,
  tenant: 1,
  createdAt: 1,
  status: 1,
  "plan.steps.id": 1,
  "plan.steps.tool": 1,
  "plan.steps.dependsOn": 1,
  "plan.steps.forEach.do.tool": 1,
} as const;

/** The outline of a plan. Pure. */
export function outlineOf(plan: PlanDocument): PlanOutline {
  const { _id, requestId, tenant, createdAt, status } = plan;
  const steps = status === "INVALID" ? [] : (plan.plan?.steps ?? []);
  return {
    _id,
    requestId,
    tenant,
    createdAt,
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

/** One unit of a plan, PENDING. Pure. */
export function newStep(
  plan: Pick<PlanDocument, "_id" | "requestId" | "tenant" | "createdAt">,
  of: Pick<StepDocument, "key" | "stepId" | "item" | "position" | "tool" | "waitReason">,
): StepDocument {
  const step = { id: of.stepId, tool: of.tool, hasCauses: false };
  const { key, position, item, waitReason } = of;
  return {
    ...toStepDocument({ ...plan, steps: [] }, { step, position, item, key, unit: undefined }),
    waitReason,
  };
}

/** The steps of a plan without events: PENDING, in plan order. Pure. */
export function newSteps(plan: PlanDocument): StepDocument[] {
  return stepDocuments({ outline: outlineOf(plan), plan: undefined });
}

/** All steps and items of a plan, in plan order. Pure. */
export function stepDocuments(state: PlanState): StepDocument[] {
  return [...unitsInOrder(state)].map((placed) => toStepDocument(state.outline, placed));
}

/** The step or item with a key; undefined when the plan has no such unit. Pure. */
export function stepDocumentAt(state: PlanState, key: string): StepDocument | undefined {
  const placed = unitAt(state, key);
  return placed && toStepDocument(state.outline, placed);
}

/** The unit with a key; undefined when the plan has no such unit. */
export function unitAt({ outline, plan }: PlanState, key: string): PlacedUnit | undefined {
  const unit = plan?.units.get(key);
  const stepId = unit?.stepId ?? key;
  const position = outline.steps.findIndex(({ id }) => id === stepId);
  const step = outline.steps[position];
  return step && { step, position, item: unit?.item ?? null, key, unit, planWaits: plan?.waits };
}

/** A unit as clients read it. Values that were not read for the fold are null. Pure. */
export function toStepDocument(outline: PlanOutline, placed: PlacedUnit): StepDocument {
  const { step, position, item, key, unit, planWaits = [] } = placed;
  const document: StepDocument = {
    _id: stepDocumentId(outline._id, key),
    planId: outline._id,
    requestId: outline.requestId,
    tenant: outline.tenant,
    key,
    stepId: step.id,
    item,
    position,
    tool: step.tool,
    status: "PENDING",
    seq: unit?.seq ?? 0,
    attempts: [],
    effectClass: null,
    arguments: null,
    argumentsPreview: null,
    argsHash: null,
    output: null,
    outputRef: null,
    error: null,
    warnings: [],
    waitReason: item === null && step.hasCauses ? "dependency" : null,
    approved: false,
    approvalHash: null,
    carriedFrom: null,
    effect: null,
    nextAttemptAt: null,
    expiresAt: null,
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    waitedForPeopleMs: null,
    updatedAt: unit?.updatedAt ?? outline.createdAt,
  };
  if (!unit) return document;
  // A carried unit ran in another version, whose waits it does not know.
  const time = unitTime(unit, unit.carriedFrom === null ? planWaits : []);
  return {
    ...document,
    ...foldedFields(unit, document),
    durationMs: time?.ownMs ?? null,
    waitedForPeopleMs: time?.waitedForPeopleMs ?? null,
  };
}

/** The fields of a unit that are folded from its events. */
function foldedFields(unit: FoldedUnit, { waitReason }: StepDocument): Partial<StepDocument> {
  const { arguments: args, startedAt, finishedAt, outputText, unanswered, resolvedBy, attempts } = unit;
  const hasEvents = unit.status !== "PENDING" || attempts.length > 0 || unit.waitReason !== null;
  return {
    status: unit.status,
    attempts: attempts.map(toAttempt),
    effectClass: unit.effectClass,
    arguments: args?.value ?? null,
    argumentsPreview: args?.preview === undefined ? null : { sizeBytes: args.sizeBytes, text: args.preview },
    argsHash: unit.argsHash,
    output: unit.output ?? null,
    outputRef: unit.outputRef ?? null,
    ...(outputText !== undefined && { outputText }),
    error: unit.error && withoutBytes(unit.error),
    warnings: unit.warnings,
    waitReason: hasEvents ? unit.waitReason : waitReason,
    approved: unit.approved,
    approvalHash: unit.approvalHash,
    // The fold has the plan's id as a string.
    carriedFrom: unit.carriedFrom as PlanId | null,
    ...(unanswered.length > 0 && {
      unansweredCalls: unanswered.map(({ isAnswered, ...call }) => ({
        ...call,
        planId: call.planId as PlanId,
        ...(isAnswered && { isAnswered }),
      })),
    }),
    ...((unit.mayHaveActed || attempts.length > 0) && { mayHaveActed: unit.mayHaveActed }),
    ...(resolvedBy && { resolvedBy }),
    effect: effectOfUnit(unit),
    nextAttemptAt: unit.nextAttemptAt,
    expiresAt: unit.expiresAt,
    startedAt,
    finishedAt,
  };
}

function toAttempt(folded: FoldedAttempt): AttemptDocument {
  const { worker, endSeq: _, error, ...attempt } = folded;
  return { ...attempt, executor: worker, error: error && withoutBytes(error) };
}

/** An error as it is stored in the documents of steps and plans. */
export function withoutBytes<WithBytes extends { dataBytes?: number | undefined }>(
  error: WithBytes,
): Omit<WithBytes, "dataBytes"> {
  const { dataBytes: _, ...kept } = error;
  return kept;
}

/** The unit's head, with the sizes of the values that it leaves out. Pure. */
export function toStepHead(outline: PlanOutline, placed: PlacedUnit): StepHead {
  const {
    arguments: _,
    argumentsPreview: __,
    attempts,
    output: ___,
    outputText: ____,
    error,
    ...head
  } = toStepDocument(outline, placed);
  const { unit } = placed;
  const { data: _____, ...kept } = error ?? { code: "", message: "", retryable: false };
  return {
    ...head,
    error: error && kept,
    attemptCount: attempts.length,
    bodyBytes: bodyBytesOf(unit),
    outputBytes: unit?.outputBytes ?? 0,
  };
}

/** Approximate stored size of an attempt or an error in bytes, without the data that its tool added. */
const ATTEMPT_BYTES = 300;
const ERROR_BYTES = 100;

/** Approximate size of the arguments, the attempts and the errors of a unit, in bytes. */
function bodyBytesOf(unit: FoldedUnit | undefined): number {
  if (!unit) return 0;
  const argumentBytes = Math.min(unit.arguments?.sizeBytes ?? 0, MAX_INLINE_BYTES);
  const attemptBytes = unit.attempts.reduce((sum, { error }) => sum + ATTEMPT_BYTES + bytesOf(error), 0);
  return argumentBytes + attemptBytes + bytesOf(unit.error);
}

function bytesOf(error: FoldedUnit["error"]): number {
  return error ? ERROR_BYTES + error.message.length + (error.dataBytes ?? 0) : 0;
}
