import {
  isForEachStep,
  type Plan,
  type PlanStatus,
  planGraph,
  type Step,
  toolOfStep,
} from "@planwright/plan";
import { newSteps, type PlanDocument, type StepDocument } from "@planwright/store";
import { TOOL_FACTS, type ToolFacts } from "../world/catalogue.ts";
import type { SimulatedProcess } from "../world/simulated-process.ts";
import { barriersAhead } from "./barriers-ahead.ts";

/** What the checker knows about one plan, beside its documents. */
export interface PlanFacts {
  /** Name inside the world, such as "p0": the prefix of the names of its units. */
  name: string;
  plan: Plan;
  document: PlanDocument;
  /** By key. */
  units: Map<string, StepDocument>;
  /** The owner that last wrote each unit, by key. */
  epochs: Map<string, number>;
  steps: Map<string, StepFacts>;
  /** The epoch that fenced all earlier ones, and the units that had ended by then. */
  fencedBy: number;
  /** Calls that were answered, or whose answer was lost: see `nameOfAnswer`. */
  answered: Set<string>;
  /** The end as its journal tells it; null before. */
  endedInJournal: PlanStatus | null;
  /** When the latest epoch was granted, in simulated milliseconds. */
  claimedAt: number;
  /** The last entry of its journal that a client or operator wrote. */
  lastControl: number;
  /** Decisions of operators about calls that need approval, as the journal tells them. */
  approvals: { stepId: string; approved: boolean }[];
  cancelAskedAt: number | null;
  pauseAskedAt: number | null;
  /** Claims since the last claim that found more finished units than the one before it. */
  claimsWithoutProgress: number;
  /** The same count, reset by everything that the store counts as progress. */
  claimsWithoutAnything: number;
  finishedAtClaim: number;
  /** Claims of each process that it has not reported as survived. */
  claimsOf: Map<SimulatedProcess, number>;
}

/** One step as the plan defines it. */
export interface StepFacts {
  step: Step;
  dependencies: readonly string[];
  /** Barriers before it in the plan, except those that wait for it. */
  barriersAhead: readonly string[];
  tool: ToolFacts;
  toolName: string;
}

/** Facts of a plan that was just accepted. */
export function planFactsOf(name: string, plan: Plan, document: PlanDocument): PlanFacts {
  const { dependencies } = planGraph(plan);
  const ahead = aheadIn(plan, dependencies);
  const steps = plan.steps.map((step, index): [string, StepFacts] => {
    const toolName = toolOfStep(step);
    const tool = toolFactsOf(step);
    const waits = { dependencies: dependencies.get(step.id) ?? [], barriersAhead: ahead[index] ?? [] };
    return [step.id, { step, ...waits, tool, toolName }];
  });
  return {
    name,
    plan,
    document,
    units: new Map(newSteps(document).map((step) => [step.key, step])),
    epochs: new Map(),
    steps: new Map(steps),
    fencedBy: 0,
    answered: new Set(),
    endedInJournal: null,
    claimedAt: 0,
    lastControl: 0,
    approvals: [],
    cancelAskedAt: null,
    pauseAskedAt: null,
    claimsWithoutProgress: 0,
    claimsWithoutAnything: 0,
    finishedAtClaim: 0,
    claimsOf: new Map(),
  };
}

function toolFactsOf(step: Step): ToolFacts {
  const tool = TOOL_FACTS.get(toolOfStep(step));
  if (!tool) throw new TypeError(`No simulated tool is called ${toolOfStep(step)}`);
  return tool;
}

/** By position, the ids of the barriers that a step waits for. */
function aheadIn({ steps }: Plan, dependencies: ReadonlyMap<string, readonly string[]>): string[][] {
  const positions = new Map(steps.map(({ id }, index) => [id, index]));
  const edges = steps.map(({ id }) =>
    (dependencies.get(id) ?? []).flatMap((other) => positions.get(other) ?? []),
  );
  const ahead = barriersAhead(
    edges,
    steps.map((step) => toolFactsOf(step).isBarrier),
  );
  return ahead.map((list) => list.flatMap((index) => steps[index]?.id ?? []));
}

/** A unit by the name in its calls: `p0/s3` for a step, `p0/s3/2` for an item. */
export function unitOfName(facts: PlanFacts, name: string): { key: string; step: StepFacts } | undefined {
  const [, stepId = "", item] = name.split("/");
  const step = facts.steps.get(stepId);
  if (!step) return undefined;
  const key = isForEachStep(step.step) && item !== undefined ? `${stepId}[${item}]` : stepId;
  return { key, step };
}

/** Units that have ended, except those that were closed because the plan is poisoned. */
export function countFinished(facts: PlanFacts): number {
  let count = 0;
  for (const { finishedAt, error } of facts.units.values()) {
    if (finishedAt !== null && error?.code !== "POISONED") count += 1;
  }
  return count;
}
