import { type Diagnostic, type Plan, parsePlan } from "@planwright/plan";
import type { OperationParts } from "../parts.ts";
import { readPlanInput } from "./plan-input.ts";

/** What submitting the plan would find. */
export interface PlanCheck {
  valid: boolean;
  plan: Plan | null;
  diagnostics: Diagnostic[];
}

/** Checks a plan against the catalogue and stores nothing. @throws {BadInputError} */
export async function checkPlan(
  { store, tenant, maxStepTimeoutMs }: OperationParts,
  plan: unknown,
): Promise<PlanCheck> {
  const { value } = readPlanInput(plan);
  const parsed = parsePlan(value, { tools: await store.toolCatalogue(tenant), maxStepTimeoutMs });
  return { valid: parsed.ok, plan: parsed.ok ? parsed.plan : null, diagnostics: parsed.diagnostics };
}
