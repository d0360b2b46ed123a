import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Plan } from "../document/plan.ts";
import type { PolicyInput } from "../policy/policy.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { readPlan } from "./read-plan.ts";

/**
 * All diagnostics of a plan; it may run when none has the severity `error`. The plan's own limits apply. A
 * plan in canonical form has no notes: a field that readers of other dialects ignore is an error here, and so is a
 * condition about items beside their forEach, which these readers move into it.
 * @param policy - options that override the plan's policy
 */
export function validatePlan(
  plan: Plan,
  tools: readonly ToolDescriptor[],
  policy?: PolicyInput,
): Diagnostic[] {
  return readPlan(plan, { tools, policy, limits: plan?.limits, isCanonical: true }).diagnostics;
}
