import { createToolIndex, hasSideEffects, type ToolDescriptor } from "@planwright/plan";

/** Tells by a tool's contract whether its calls have side effects; a tool without a known contract has. */
export function effectsOf(tools: readonly ToolDescriptor[]): (name: string) => boolean {
  const index = createToolIndex(tools);
  return (name) => hasSideEffects(index.find(name));
}
