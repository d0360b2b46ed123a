import { actsWhenRepeated, createToolIndex, hasSideEffects, type ToolDescriptor } from "@planwright/plan";

/** Returns whether a tool has side effects, by its contract; a tool without a known contract has. */
export function effectsOf(tools: readonly ToolDescriptor[]): (name: string) => boolean {
  const index = createToolIndex(tools);
  return (name) => hasSideEffects(index.find(name));
}

/** Returns whether a second call of a tool acts a second time; see `actsWhenRepeated`. */
export function repeatsOf(tools: readonly ToolDescriptor[]): (name: string) => boolean {
  const index = createToolIndex(tools);
  return (name) => actsWhenRepeated(index.find(name));
}
