import type { StepRun } from "@planwright/engine";
import type { ReplanRequest, ReplanStep } from "@planwright/models";
import { isForEachStep, type Step, toolOfStep } from "@planwright/plan";
import { withoutSecrets } from "../prompts/without-secrets.ts";
import type { PastPlan } from "./past-plan.ts";

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
