import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Plan } from "../document/plan.ts";
import type { PolicyInput } from "../policy/policy.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { readPlan } from "./read-plan.ts";

/**
 * All diagnostics of a plan; without one of severity `error` it may run. The plan's own limits apply. A plan
 * in the one form holds no notes: a field that readers of other forms ignore is an error here.
 * @param policy - options that win over the plan's own
 */
export function validatePlan(
  plan: Plan,
  tools: readonly ToolDescriptor[],
  policy?: PolicyInput,
): Diagnostic[] {
  const { diagnostics } = readPlan(plan, { tools, policy, limits: plan?.limits });
  return diagnostics.map((each) =>
    each.code === "FIELD_IGNORED" ? { ...each, code: "FIELD_UNKNOWN", severity: "error" } : each,
  );
}
