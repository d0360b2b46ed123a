import { executorLost, type FoldedAttempt, type StepRun } from "@planwright/engine";
import {
  acyclicDependencies,
  argumentsOfStep,
  barrierOrder,
  isTerminalStepStatus,
  type JsonValue,
  type Plan,
  planGraph,
  type Step,
  type StepStatus,
  toolOfStep,
  type WaitReason,
} from "@planwright/plan";
import type { LiveWorkers, PlanGraph, PlanHead } from "@planwright/store";
import type { PlanTimes } from "./plan-times.ts";
import { type Settlement, settlementOf } from "./settlement.ts";
import type { StepCounts } from "./step-counts.ts";
import { stepWaitReason } from "./wait-reason.ts";

/** A version of a plan, with the plan itself. */
export type GraphedPlan = Pick<PlanHead, "status" | "lease" | "waitReason" | "resolutions"> & PlanGraph;

/** A step, or one item of a forEach: its run, with what follows from its plan and the live workers. */
export type ShownStep = StepRun & {
  /** The id of the step, as in its plan. */
  id: string;
  dependsOn: readonly string[];
  /** The planned arguments, with references. */
  planned: JsonValue;
  /** Why it waits now. For a step on a page it is a function, because other steps may have to be read. */
  waitsFor: WaitReason | null | (() => Promise<WaitReason | null>);
  /** The decision of an operator that gave the step its status. */
  settled: Settlement | null;
};

/** What a plan was at an entry, beyond the fields of its document. */
export interface PastPlan extends PlanTimes {
  counts: StepCounts;
  mayHaveActed: number;
  waitReason: WaitReason | null;
  steps(graph: PlanGraph): ShownStep[];
}

/**
 * The steps of a plan in plan order, each followed by the started items of its forEach. Pure.
 * Empty without a plan document (INVALID and unreadable).
 */
export function stepViews(plan: GraphedPlan, recorded: readonly StepRun[], live: LiveWorkers): ShownStep[] {
  const finalIds = finalSteps(recorded);
  const barriers = barriersOf(plan);
  const running = new Set(recorded.flatMap(({ status, stepId }) => (status === "RUNNING" ? [stepId] : [])));
  const isBlocked = barriers?.blockedBy(
    barriers.ids.findIndex((id) => !finalIds.has(id)),
    running,
  );
  return viewsOf(plan, inPlanOrder(recorded), live, (document, dependsOn) => {
    const hasOpenDependency =
      dependsOn.some((id) => !finalIds.has(id)) || isBlocked?.(document.stepId) === true;
    return stepWaitReason(document, plan, live, hasOpenDependency);
  });
}

/**
 * Some steps and items of a plan, in the given order.
 * @param statusOf - status of any step of the plan; null for an unknown step
 */
export function stepViewsOfPage(
  plan: GraphedPlan,
  recorded: readonly StepRun[],
  live: LiveWorkers,
  statusOf: (stepId: string) => Promise<StepStatus | null>,
): ShownStep[] {
  return viewsOf(plan, recorded, live, (document, dependsOn) => async () => {
    const reason = (hasOpenDependency: boolean) => stepWaitReason(document, plan, live, hasOpenDependency);
    // For most steps no other step must be read.
    if (reason(true) === reason(false)) return reason(true);
    const barriers = barriersOf(plan)?.before(document.stepId) ?? [];
    const statuses = await Promise.all([...dependsOn, ...barriers].map(statusOf));
    return reason(statuses.some((status) => status === null || !isTerminalStepStatus(status)));
  });
}

/**
 * The attempts of a step; one that has no end, and whose executor is not alive, ended without an answer: it is not
 * running. When it ended is known as soon as another executor takes the plan. Pure.
 */
export function attemptsSeen(
  attempts: FoldedAttempt[],
  { owners }: Pick<LiveWorkers, "owners">,
): FoldedAttempt[] {
  if (attempts.every(({ endedAt }) => endedAt !== null)) return attempts;
  return attempts.map((attempt) =>
    attempt.endedAt !== null || owners.has(attempt.executor)
      ? attempt
      : { ...attempt, outcome: "unknown", error: executorLost(attempt.executor) },
  );
}

function viewsOf(
  document: GraphedPlan,
  recorded: readonly StepRun[],
  live: LiveWorkers,
  waitReasonOf: (document: StepRun, dependsOn: readonly string[]) => ShownStep["waitsFor"],
): ShownStep[] {
  const { plan } = document;
  if (!plan) return [];
  const { dependencies } = planGraph(plan);
  const steps = new Map<string, Step>(plan.steps.map((step) => [step.id, step]));
  return recorded.flatMap((unit) => {
    const step = steps.get(unit.stepId);
    if (!step) return [];
    const dependsOn = dependencies.get(step.id) ?? [];
    return {
      ...unit,
      id: unit.stepId,
      attempts: attemptsSeen(unit.attempts, live),
      dependsOn,
      planned: argumentsOfStep(step),
      waitsFor: waitReasonOf(unit, dependsOn),
      settled: settlementOf(document, unit),
    };
  });
}

/** Ids of the steps with a final status, without items. */
function finalSteps(recorded: readonly StepRun[]): ReadonlySet<string> {
  const isFinal = ({ item, status }: StepRun) => item === null && isTerminalStepStatus(status);
  return new Set(recorded.filter(isFinal).map((document) => document.stepId));
}

/** By position in the plan, a step before its items. */
function inPlanOrder(recorded: readonly StepRun[]): StepRun[] {
  return recorded.toSorted((a, b) => a.position - b.position || (a.item ?? -1) - (b.item ?? -1));
}

/** Tool of each step by step id. */
export function toolsOfSteps(plan: Pick<PlanGraph, "plan">): Map<string, string> {
  return new Map(plan.plan?.steps.map((step) => [step.id, toolOfStep(step)]));
}

/** The barriers of a plan: steps during which no other step runs, according to the tool pins. */
interface PlanBarriers {
  /** Ids of the barrier steps, in order. */
  readonly ids: readonly string[];
  /** The barriers before a step in the plan. */
  before(stepId: string): readonly string[];
  /**
   * A predicate for steps that a barrier blocks: steps after the first open barrier, a barrier while other
   * steps run, and all others while a barrier runs.
   * @param firstOpen - index in `ids` of the first barrier that has not ended; -1 without one
   */
  blockedBy(firstOpen: number, running: ReadonlySet<string>): (stepId: string) => boolean;
}

const barriersOfPlans = new WeakMap<Plan, PlanBarriers | null>();

/** Undefined for a plan without barriers. Cached as long as the plan object exists. */
function barriersOf({ plan, toolPins = [] }: PlanGraph): PlanBarriers | undefined {
  if (!plan) return undefined;
  const tools = new Set(toolPins.flatMap(({ tool, barrier }) => (barrier ? [tool] : [])));
  if (tools.size === 0) return undefined;
  let barriers = barriersOfPlans.get(plan);
  if (barriers === undefined) {
    barriers = readBarriers(plan, tools);
    barriersOfPlans.set(plan, barriers);
  }
  return barriers ?? undefined;
}

function readBarriers(plan: Plan, tools: ReadonlySet<string>): PlanBarriers | null {
  const graph = planGraph(plan);
  const { onCycle } = plan.policy;
  if (graph.cycle && onCycle === "error") return null;
  const dependencies = [...acyclicDependencies(graph, onCycle)];
  const positions = new Map(dependencies.map(([id], position) => [id, position]));
  const barrierSteps = new Set(plan.steps.flatMap((step) => (tools.has(toolOfStep(step)) ? [step.id] : [])));
  const { barriers, before } = barrierOrder(
    dependencies.map(([, list]) => list.flatMap((id) => positions.get(id) ?? [])),
    (position) => barrierSteps.has(dependencies[position]?.[0] ?? ""),
  );
  const ids = barriers.flatMap((position) => dependencies[position]?.[0] ?? []);
  const countBefore = (stepId: string) => before[positions.get(stepId) ?? -1] ?? 0;
  return {
    ids,
    before: (stepId) => ids.slice(0, countBefore(stepId)),
    blockedBy(firstOpen, running) {
      const isBarrierRunning = ids.some((id) => running.has(id));
      return (stepId) =>
        (firstOpen !== -1 && countBefore(stepId) > firstOpen) ||
        (isBarrierRunning && !running.has(stepId)) ||
        (barrierSteps.has(stepId) && running.size > 0 && !running.has(stepId));
    },
  };
}
