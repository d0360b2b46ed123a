import { actsWhenRepeated, createToolIndex, hasSideEffects, type ToolDescriptor } from "@planwright/plan";

/** What is known about the effects of tools, by their names. */
export interface ToolEffects {
  /** True for a tool with side effects, by its contract; a tool without a known contract has them. */
  hasEffects: (tool: string) => boolean;
  /** True for a tool whose second call acts a second time; see `actsWhenRepeated`. */
  actsAgain: (tool: string) => boolean;
}

/** The effects of these tools. */
export function effectsOf(tools: readonly ToolDescriptor[]): ToolEffects {
  const index = createToolIndex(tools);
  return {
    hasEffects: (name) => hasSideEffects(index.find(name)),
    actsAgain: (name) => actsWhenRepeated(index.find(name)),
  };
}
