import { outlineOf, type StepRun, stepRuns } from "@planwright/engine";
import {
  argumentsOfStep,
  isForEachStep,
  type Plan,
  type PlanStatus,
  planGraph,
  type Step,
  toolOfStep,
} from "@planwright/plan";
import type { PlanDocument } from "@planwright/store";
import { TOOL_FACTS, unitNamesOf, type WorldTool } from "../world/catalogue.ts";
import type { SimulatedProcess } from "../world/processes.ts";

/** Lists of simulated plans have fewer items. */
const MAX_ITEMS = 8;

/** Facts of the checker about one plan, in addition to its documents. */
export interface PlanFacts {
  /** Name in the world, such as "p0": the prefix of the names of its units. */
  name: string;
  plan: Plan;
  document: PlanDocument;
  /** Units by key. */
  units: Map<string, StepRun>;
  /** The epoch that last wrote each unit, by key. */
  epochs: Map<string, number>;
  steps: Map<string, StepFacts>;
  /** Ids of the steps by the names in their calls, such as "p0/s3". */
  stepIds: Map<string, string>;
  /** The latest epoch for which the units were fenced. */
  fencedBy: number;
  /** Calls that were answered, or whose answer was lost, by `nameOfAnswer`. */
  answered: Set<string>;
  /** True when its journal has the entry that stored it, and the one by which a client queued it. */
  isStoredInJournal: boolean;
  isQueuedInJournal: boolean;
  /** The end in its journal, and its simulated time; null before. */
  endedInJournal: PlanStatus | null;
  endedAt: number | null;
  /** When the latest epoch was granted, in simulated milliseconds. */
  claimedAt: number;
  /** Numbers of the controls in its journal. */
  controls: Set<number>;
  /** Decisions of operators about calls that need approval, from the journal. */
  approvals: { stepId: string; approved: boolean }[];
  /** Since when only a person can continue it, in simulated milliseconds; null: it can continue. */
  peopleSince: number | null;
  /** How long it waited only for people before, in milliseconds. */
  peopleMs: number;
  cancelAskedAt: number | null;
  pauseAskedAt: number | null;
  /** When its last pause ended; null: it was never resumed. */
  resumedAt: number | null;
  /** Claims since the last claim that found more finished units than the one before it. */
  claimsWithoutProgress: number;
  /** The same count, which everything that the store counts as progress resets. */
  claimsWithoutAnyProgress: number;
  finishedAtClaim: number;
  /** The epoch of the first claim that is counted: progress wiped out those before it. */
  countedFrom: number;
  /** `claimsWithoutProgress` as the latest claim found it: what the store counts later decides nothing for it. */
  claimsAtClaim: number;
  /** Number of claims of each process that it has not reported as survived. */
  claimsOf: Map<SimulatedProcess, number>;
}

/** One step as the plan defines it. */
export interface StepFacts {
  step: Step;
  dependencies: readonly string[];
  /** Barriers before it in the plan, except those that depend on it. */
  barriersBefore: readonly string[];
  tool: WorldTool;
  toolName: string;
}

/** The facts of a plan that was just accepted. */
export function planFactsOf(name: string, plan: Plan, document: PlanDocument): PlanFacts {
  const { dependencies } = planGraph(plan);
  const barriers = barriersIn(plan, dependencies);
  const steps = plan.steps.map((step, index): [string, StepFacts] => {
    const waits = { dependencies: dependencies.get(step.id) ?? [], barriersBefore: barriers[index] ?? [] };
    return [step.id, { ...calledBy(step), ...waits }];
  });
  return {
    name,
    plan,
    document,
    units: new Map(
      stepRuns({ outline: outlineOf(document), plan: undefined }).map((step) => [step.key, step]),
    ),
    epochs: new Map(),
    steps: new Map(steps),
    stepIds: new Map(plan.steps.map((step) => [unitNameOf(step), step.id])),
    fencedBy: 0,
    answered: new Set(),
    isStoredInJournal: false,
    isQueuedInJournal: false,
    endedInJournal: null,
    endedAt: null,
    claimedAt: 0,
    controls: new Set(),
    approvals: [],
    peopleSince: null,
    peopleMs: 0,
    cancelAskedAt: null,
    pauseAskedAt: null,
    resumedAt: null,
    claimsWithoutProgress: 0,
    claimsWithoutAnyProgress: 0,
    finishedAtClaim: document.progressSeen,
    countedFrom: 0,
    claimsAtClaim: 0,
    claimsOf: new Map(),
  };
}

/** What a step calls. */
export function calledBy(step: Step): Pick<StepFacts, "step" | "tool" | "toolName"> {
  return { step, tool: toolFactsOf(step), toolName: toolOfStep(step) };
}

function toolFactsOf(step: Step): WorldTool {
  const tool = TOOL_FACTS.get(toolOfStep(step));
  if (!tool) throw new TypeError(`No simulated tool is called ${toolOfStep(step)}`);
  return tool;
}

/** The ids of the barriers that each step waits for, by its position. */
function barriersIn({ steps }: Plan, dependencies: ReadonlyMap<string, readonly string[]>): string[][] {
  const positions = new Map(steps.map(({ id }, index) => [id, index]));
  const edges = steps.map(({ id }) =>
    (dependencies.get(id) ?? []).flatMap((other) => positions.get(other) ?? []),
  );
  const barriers = barriersBefore(
    edges,
    steps.map((step) => toolFactsOf(step).isBarrier),
  );
  return barriers.map((list) => list.flatMap((index) => steps[index]?.id ?? []));
}

/** The unit with this name in its calls: `p0/s3` for a step, `p0/s3/2` for an item. */
export function unitOfName(facts: PlanFacts, name: string): { key: string; step: StepFacts } | undefined {
  const [plan, called, item] = name.split("/");
  const stepId = facts.stepIds.get(`${plan}/${called}`) ?? "";
  const step = facts.steps.get(stepId);
  if (!step) return undefined;
  const key = isForEachStep(step.step) && item !== undefined ? `${stepId}[${item}]` : stepId;
  return { key, step };
}

/** The name of a unit in its calls. */
export function nameOfUnit(
  { steps }: Pick<PlanFacts, "steps">,
  { stepId, item }: Pick<StepRun, "stepId" | "item">,
): string {
  const step = steps.get(stepId);
  const name = step ? unitNameOf(step.step) : stepId;
  return item === null ? name : `${name}/${item}`;
}

/** The names of all units that a step may have in its calls. */
export function unitsOfStep(step: Step): string[] {
  const name = unitNameOf(step);
  return [name, ...Array.from({ length: MAX_ITEMS }, (_, item) => `${name}/${item}`)];
}

/** The name of a step in its calls. */
export function unitNameOf(step: Step): string {
  const [unit] = unitNamesOf({ arguments: argumentsOfStep(step) });
  return unit === undefined ? step.id : unit.replace("/<<index>>", "");
}

/** Number of units that have ended, without those that ended because the plan is poisoned. */
export function countFinished(facts: PlanFacts): number {
  let count = 0;
  for (const { finishedAt, error } of facts.units.values()) {
    if (finishedAt !== null && error?.code !== "POISONED") count += 1;
  }
  return count;
}

/**
 * The barriers that each step waits for, found by a full search: those before the step in plan order that do
 * not depend on it, directly or through earlier barriers. This follows the documented rule and is independent
 * of the engine's code. Steps are given by their positions.
 * @param dependencies - the positions of each step's dependencies
 */
function barriersBefore(
  dependencies: readonly (readonly number[])[],
  isBarrier: readonly boolean[],
): number[][] {
  const waits = dependencies.map((list) => new Set(list));
  const found: number[][] = dependencies.map(() => []);
  for (const [barrier, isBarrierHere] of isBarrier.entries()) {
    if (!isBarrierHere) continue;
    const awaited = new Set([barrier]);
    for (const next of awaited) for (const other of waits[next] ?? []) awaited.add(other);
    for (let later = barrier + 1; later < waits.length; later++) {
      if (awaited.has(later)) continue;
      waits[later]?.add(barrier);
      found[later]?.push(barrier);
    }
  }
  return found;
}
