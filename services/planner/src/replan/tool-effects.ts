import { createToolIndex, hasSideEffects, type ToolDescriptor } from "@planwright/plan";

/** Returns whether a tool has side effects, by its contract; a tool without a known contract has. */
export function effectsOf(tools: readonly ToolDescriptor[]): (name: string) => boolean {
  const index = createToolIndex(tools);
  return (name) => hasSideEffects(index.find(name));
}
