import type { FailureMode } from "@planwright/plan";
import type { EngineState, StepNode } from "./engine-state.ts";

/**
 * What the failure of this step does to the rest. The first that speaks wins: the step's `onError`, the
 * plan's policy, the declared `error_propagation` of the tool (profile `contract`: also its default), and for
 * `auto` fail-forward when the plan uses read-only tools alone, otherwise fail-fast.
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
