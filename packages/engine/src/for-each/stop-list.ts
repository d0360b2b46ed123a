import type { EngineState, StepNode } from "../state/engine-state.ts";
import { failureModeOf } from "../state/failure-mode.ts";

/**
 * An item failed: a list that stops at failures starts no further one. Its step fails as soon as what runs
 * has ended, so a plan that stops at that failure starts nothing else either.
 */
export function stopList(state: EngineState, node: StepNode): void {
  const { forEach } = node;
  if (!forEach?.stopsAtFailure) return;
  forEach.stopped = true;
  if (failureModeOf(state, node) === "fail-fast") state.failing = true;
}
