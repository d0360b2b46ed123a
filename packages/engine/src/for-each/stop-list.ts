import type { EngineState, StepNode } from "../state/engine-state.ts";
import { failureModeOf } from "../state/failure-mode.ts";

/**
 * Stops a list after a failed item, if the list stops at failures: no further item starts. Its step fails as
 * soon as running items have ended, so in a fail-fast plan nothing else starts either.
 */
export function stopList(state: EngineState, node: StepNode): void {
  const { forEach } = node;
  if (!forEach?.stopsAtFailure) return;
  forEach.stopped = true;
  if (failureModeOf(state, node) === "fail-fast") state.failing = true;
}
