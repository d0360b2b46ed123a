import { hasSideEffects } from "../contract/tool-contract.ts";
import type { Plan } from "../document/plan.ts";
import { argumentsOfStep, isForEachStep, type Step, toolOfStep } from "../document/step.ts";
import { isJsonObject } from "../json/json.ts";
import { findTool } from "../tools/name-tools.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import type { ValueSources } from "./check-values.ts";
import { isExplainedCode } from "./explained-codes.ts";
import { createSaidValues, type SaidValues } from "./said-values.ts";
import { type UnsourcedValue, unsourcedValues } from "./unsourced-values.ts";

/** Maximum number of diagnostics for one step. */
const MAX_DIAGNOSTICS = 20;

/**
 * Finds values that are not in the request, the caller's facts or the tools. In a call with side effects, an
 * invented name of a thing or person, or an invented required amount, is an error. Any other value without a
 * source is an assumption: a warning.
 */
export function checkSources(
  plan: Plan,
  { tools, query, facts, moments, diagnostics, schemaWords }: ValueSources,
): void {
  if (query === undefined) return;
  const said = createSaidValues(query);
  for (const [index, step] of plan.steps.entries()) {
    const tool = findTool(tools, toolOfStep(step));
    // An unknown tool will be replaced in a repair, with other values.
    if (!tool) continue;
    const words = schemaWords.of(tool);
    const schema = isJsonObject(tool.inputSchema) ? tool.inputSchema : undefined;
    const found = unsourcedOf(
      step,
      said,
      (value) => words.has(value) || facts.gives(value) || moments.gives(value),
      (value, keys) => schema !== undefined && isExplainedCode(value, { schema, keys }, said),
    ).slice(0, MAX_DIAGNOSTICS);
    for (const value of found) {
      const severity = isError(value, step, tool) ? "error" : "warning";
      diagnostics.add(
        "ARGUMENT_UNSOURCED",
        { step: { index, id: step.id }, keys: value.keys },
        {
          message: severity === "error" ? madeUp(step, value) : assumed(step, value),
          severity,
        },
      );
    }
  }
}

function unsourcedOf(
  step: Step,
  said: SaidValues,
  isAllowed: (value: string | number) => boolean,
  isExplained: Parameters<typeof unsourcedValues>[3],
): UnsourcedValue[] {
  const under = (below: readonly string[], values: UnsourcedValue[]) =>
    values.map((value) => ({ ...value, keys: [...below, ...value.keys] }));
  const args = unsourcedValues(argumentsOfStep(step), said, isAllowed, isExplained);
  if (!isForEachStep(step)) return under(["arguments"], args);
  return [
    ...under(
      ["forEach", "items"],
      unsourcedValues(step.forEach.items, said, isAllowed, () => false),
    ),
    ...under(["forEach", "do", "arguments"], args),
  ];
}

function isError(value: UnsourcedValue, step: Step, tool: ToolDescriptor): boolean {
  if (!value.isParticular || !hasSideEffects(tool)) return false;
  if (value.isName) return true;
  const top = isForEachStep(step) ? value.keys[3] : value.keys[1];
  const required = isJsonObject(tool.inputSchema) ? tool.inputSchema["required"] : undefined;
  return Array.isArray(required) && required.includes(top ?? "");
}

const madeUp = ({ id }: Step, { field, shown }: UnsourcedValue): string =>
  `step ${id}: the request does not give ${field === "" ? "the item" : field} ${JSON.stringify(shown)}; refer to an earlier step that gives it, leave it out where it is optional, or ask for it under "missing"`;
const assumed = ({ id }: Step, { field, shown }: UnsourcedValue): string =>
  `step ${id}: ${field === "" ? "the item" : field} ${JSON.stringify(shown)} is an assumption, which the request does not say`;
