import {
  argumentsOfStep,
  isTerminalStepStatus,
  type JsonValue,
  planGraph,
  type Step,
  toolOfStep,
  type WaitReason,
} from "@planwright/plan";
import type { PlanDocument, StepDocument } from "@planwright/store";
import { stepWaitReason } from "./wait-reason.ts";

/** A step, or one item of a forEach: what was planned, what was recorded, and why it waits. */
export interface StepView {
  recorded: StepDocument;
  dependsOn: readonly string[];
  /** As planned, with references. */
  arguments: JsonValue;
  waitReason: WaitReason | null;
}

/**
 * The steps of a plan in plan order, each followed by the items of its forEach that have begun. Pure.
 * Steps without a plan (INVALID and unreadable) give nothing.
 */
export function stepViews(plan: PlanDocument, recorded: readonly StepDocument[], nowMs: number): StepView[] {
  if (!plan.plan) return [];
  const { dependencies } = planGraph(plan.plan);
  const steps = new Map<string, Step>(plan.plan.steps.map((step) => [step.id, step]));
  const isOver = finalSteps(recorded);
  return inPlanOrder(recorded).flatMap((document) => {
    const step = steps.get(document.stepId);
    if (!step) return [];
    const dependsOn = dependencies.get(step.id) ?? [];
    const hasOpenDependency = dependsOn.some((id) => !isOver.has(id));
    return {
      recorded: document,
      dependsOn,
      arguments: argumentsOfStep(step),
      waitReason: stepWaitReason(document, plan, { hasOpenDependency, nowMs }),
    };
  });
}

/** Ids of the steps that can never change again; items do not count. */
function finalSteps(recorded: readonly StepDocument[]): ReadonlySet<string> {
  const isFinal = ({ item, status }: StepDocument) => item === null && isTerminalStepStatus(status);
  return new Set(recorded.filter(isFinal).map((document) => document.stepId));
}

/** By position in the plan, a step before its items. */
function inPlanOrder(recorded: readonly StepDocument[]): StepDocument[] {
  return recorded.toSorted((a, b) => a.position - b.position || (a.item ?? -1) - (b.item ?? -1));
}

/** Tool of each step by step id. */
export function toolsOfSteps(plan: PlanDocument): Map<string, string> {
  return new Map(plan.plan?.steps.map((step) => [step.id, toolOfStep(step)]));
}
