import type { Plan } from "../document/plan.ts";
import { toolOfStep } from "../document/step.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import type { ToolIndex } from "../tools/tool-index.ts";
import type { ToolPin } from "./pin-tools.ts";

/**
 * The catalogue for a stored plan: the plan's tools have their names in the plan, even when their current
 * names differ, and no other tool has one of these names, even when the plan's tool no longer exists. Usually
 * the indexed array itself.
 * @param pins - pins of the plan, by its names; a tool without a pin is found by `findTool`
 */
export function catalogueOfPlan(
  plan: Pick<Plan, "steps">,
  index: ToolIndex,
  pins: ReadonlyMap<string, ToolPin>,
): readonly ToolDescriptor[] {
  const names = new Set(plan.steps.map(toolOfStep));
  const known = [...names].map((name) => ({ name, tool: index.findPinned(name, pins.get(name)) }));
  if (known.every(({ name, tool }) => tool?.name === name)) return index.tools;
  const own = new Set(known.map(({ tool }) => tool));
  return [
    ...known.flatMap(({ name, tool }) => (tool ? [tool.name === name ? tool : { ...tool, name }] : [])),
    ...index.tools.filter((tool) => !own.has(tool) && !names.has(tool.name)),
  ];
}

/**
 * The pins of a stored plan by its names for the tools; none for a plan that was stored before pins existed.
 */
export function pinsByTool(pins: readonly ToolPin[] = []): ReadonlyMap<string, ToolPin> {
  return new Map(pins.map((pin) => [pin.tool, pin]));
}
