import type { Plan } from "../document/plan.ts";
import { toolOfStep } from "../document/step.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import type { ToolIndex } from "../tools/tool-index.ts";
import type { ToolPin } from "./pin-tools.ts";

/**
 * The catalogue as a stored plan knows it: the plan's tools have the names that the plan uses, even if they
 * are called otherwise now, and no other tool has one of these names, even if the plan's own tool no longer
 * exists. Usually the indexed array itself.
 * @param pins - of the plan, by its names; a tool without a pin is the one that `findTool` finds
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

/** The pins of a stored plan by its names for the tools; none for a plan stored before there were any. */
export function pinsByTool(pins: readonly ToolPin[] = []): ReadonlyMap<string, ToolPin> {
  return new Map(pins.map((pin) => [pin.tool, pin]));
}
