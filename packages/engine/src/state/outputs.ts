import type { EngineState, StepNode } from "./engine-state.ts";

/** Makes the output of a completed step readable under its id, and under its tool's name while no other step goes by that. */
export function publishOutput(state: Pick<EngineState, "outputs" | "stepsById">, node: StepNode): void {
  const { unit, tool } = node;
  if (unit.status !== "COMPLETED" || unit.output === undefined) return;
  state.outputs.set(unit.key, unit.output);
  if (tool.users === 1 && !state.stepsById.has(tool.name)) state.outputs.set(tool.name, unit.output);
}
