import {
  argumentsOfStep,
  isTerminalStepStatus,
  type JsonValue,
  planGraph,
  type Step,
  type StepStatus,
  toolOfStep,
  type WaitReason,
} from "@planwright/plan";
import type { LiveWorkers, PlanGraph, PlanHead, StepHead } from "@planwright/store";
import { barriersOf } from "./plan-barriers.ts";
import { type Settlement, settlementOf } from "./settlement.ts";
import { stepWaitReason } from "./wait-reason.ts";

/** A version of a plan, with the plan itself. */
export type GraphedPlan = Pick<PlanHead, "status" | "lease" | "waitReason" | "resolutions"> & PlanGraph;

/** A step, or one item of a forEach: what was planned, what was recorded, and why it waits. */
export interface StepView {
  recorded: StepHead;
  dependsOn: readonly string[];
  /** As planned, with references. */
  arguments: JsonValue;
  /** Of a step on a page it is found out only for those who ask: other steps may have to be read for it. */
  waitReason: WaitReason | null | (() => Promise<WaitReason | null>);
  /** What an operator said, where that is what it stands on. */
  settlement: Settlement | null;
}

/**
 * The steps of a plan in plan order, each followed by the items of its forEach that have begun. Pure.
 * Steps without a plan (INVALID and unreadable) give nothing.
 */
export function stepViews(plan: GraphedPlan, recorded: readonly StepHead[], live: LiveWorkers): StepView[] {
  const isOver = finalSteps(recorded);
  const barriers = barriersOf(plan);
  const running = new Set(recorded.flatMap(({ status, stepId }) => (status === "RUNNING" ? [stepId] : [])));
  const isBlocked = barriers?.blockedBy(
    barriers.ids.findIndex((id) => !isOver.has(id)),
    running,
  );
  return viewsOf(plan, inPlanOrder(recorded), (document, dependsOn) => {
    const hasOpenDependency =
      dependsOn.some((id) => !isOver.has(id)) || isBlocked?.(document.stepId) === true;
    return stepWaitReason(document, plan, live, hasOpenDependency);
  });
}

/**
 * Some steps and items of a plan, in the order in which they come.
 * @param statusOf - where a step of the plan stands, which need not be one of these; null for one that is not there
 */
export function stepViewsOfPage(
  plan: GraphedPlan,
  recorded: readonly StepHead[],
  live: LiveWorkers,
  statusOf: (stepId: string) => Promise<StepStatus | null>,
): StepView[] {
  return viewsOf(plan, recorded, (document, dependsOn) => async () => {
    const reason = (hasOpenDependency: boolean) => stepWaitReason(document, plan, live, hasOpenDependency);
    // Of most steps no other one has to be known.
    if (reason(true) === reason(false)) return reason(true);
    const barriers = barriersOf(plan)?.before(document.stepId) ?? [];
    const statuses = await Promise.all([...dependsOn, ...barriers].map(statusOf));
    return reason(statuses.some((status) => status === null || !isTerminalStepStatus(status)));
  });
}

function viewsOf(
  document: GraphedPlan,
  recorded: readonly StepHead[],
  waitReasonOf: (document: StepHead, dependsOn: readonly string[]) => StepView["waitReason"],
): StepView[] {
  const { plan } = document;
  if (!plan) return [];
  const { dependencies } = planGraph(plan);
  const steps = new Map<string, Step>(plan.steps.map((step) => [step.id, step]));
  return recorded.flatMap((unit) => {
    const step = steps.get(unit.stepId);
    if (!step) return [];
    const dependsOn = dependencies.get(step.id) ?? [];
    return {
      recorded: unit,
      dependsOn,
      arguments: argumentsOfStep(step),
      waitReason: waitReasonOf(unit, dependsOn),
      settlement: settlementOf(document, unit),
    };
  });
}

/** Ids of the steps that can never change again; items do not count. */
function finalSteps(recorded: readonly StepHead[]): ReadonlySet<string> {
  const isFinal = ({ item, status }: StepHead) => item === null && isTerminalStepStatus(status);
  return new Set(recorded.filter(isFinal).map((document) => document.stepId));
}

/** By position in the plan, a step before its items. */
function inPlanOrder(recorded: readonly StepHead[]): StepHead[] {
  return recorded.toSorted((a, b) => a.position - b.position || (a.item ?? -1) - (b.item ?? -1));
}

/** Tool of each step by step id. */
export function toolsOfSteps(plan: Pick<PlanGraph, "plan">): Map<string, string> {
  return new Map(plan.plan?.steps.map((step) => [step.id, toolOfStep(step)]));
}
