import { type Diagnostic, type Plan, parsePlan } from "@planwright/plan";
import { readPlanInput } from "../arguments/plan-input.ts";
import type { OperationContext } from "../operation/context.ts";

/** The result of checking a plan. */
export interface PlanCheck {
  valid: boolean;
  plan: Plan | null;
  diagnostics: Diagnostic[];
}

/** Checks a plan against the catalogue and stores nothing. @throws {BadInputError} */
export async function checkPlan(
  { knownTools, tenant, maxStepTimeoutMs }: OperationContext,
  plan: unknown,
): Promise<PlanCheck> {
  const { value } = readPlanInput(plan);
  const parsed = await knownTools.ask(
    tenant,
    (tools, leftOut) => parsePlan(value, { tools, leftOut, maxStepTimeoutMs }),
    ({ ok }) => ok,
  );
  return { valid: parsed.ok, plan: parsed.ok ? parsed.plan : null, diagnostics: parsed.diagnostics };
}
