import type { StepRun } from "@planwright/engine";
import type { ReplanRequest, ReplanStep } from "@planwright/models";
import {
  isForEachStep,
  type Plan,
  planGraph,
  type Step,
  type StepStatus,
  toolOfStep,
} from "@planwright/plan";
import { type PlanRecord, unfinishedLists } from "@planwright/store";
import { withoutSecrets } from "../prompts/context-of.ts";

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
