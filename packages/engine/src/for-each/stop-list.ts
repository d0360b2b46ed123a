import { failureModeOf } from "../failure/failure-mode.ts";
import type { EngineState, StepNode } from "../state/engine-state.ts";

/**
 * An item failed: a list that stops at failures starts no further one. Its step fails as soon as what runs has ended, so a plan
 * that stops at that failure starts nothing else either.
 */
export function stopList(state: EngineState, node: StepNode): void {
  const { forEach } = node;
  if (!forEach?.stopsAtFailure) return;
  forEach.stopped = true;
  if (failureModeOf(state, node) === "fail-fast") state.failing = true;
}
