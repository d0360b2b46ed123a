import type { FailureMode } from "@planwright/plan";
import type { EngineState, StepNode } from "./engine-state.ts";

/**
 * What the failure of this step does to the rest of the plan. The first that is set wins: the step's
 * `onError`, the plan's policy, the declared `error_propagation` of the tool (profile `contract`: also its
 * default). Otherwise fail-forward when the plan uses only read-only tools, else fail-fast.
 */
export function failureModeOf(state: EngineState, node: StepNode): FailureMode {
  const { policy } = state.plan;
  if (node.step.onError) return node.step.onError;
  if (policy.onStepFailure !== "auto") return policy.onStepFailure;
  if (node.tool.declaresErrorPropagation || policy.profile === "contract") {
    return node.tool.contract.errorPropagation === "fail-fast" ? "fail-fast" : "fail-forward";
  }
  return state.onlyReadOnlyTools ? "fail-forward" : "fail-fast";
}
