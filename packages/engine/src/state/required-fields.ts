import { bareName, hasRequiredField, isForEachStep, isJsonObject, type JsonValue } from "@planwright/plan";
import type { EngineState, StepNode } from "./engine-state.ts";
import type { StepError } from "./protocol.ts";

/** Fields that the contract of a step's tool requires, and the steps before it whose outputs may have them. */
export interface RequiredSources {
  tool: string;
  fields: readonly string[];
  sources: readonly StepNode[];
}

/** What the contract of a step's tool requires of the outputs of its dependencies (`required_fields`). */
export function requiredSources(node: StepNode): RequiredSources[] {
  const { contract, descriptor } = node.tool;
  return contract.dependsOn.flatMap(({ tool, requiredFields }) => {
    if (requiredFields.length === 0) return [];
    const all = node.dependencies.filter(({ tool: slot }) => {
      return slot.name === tool || (slot.descriptor && bareName(slot.descriptor) === tool);
    });
    const own = all.filter(({ tool: slot }) => slot.descriptor?.server === descriptor?.server);
    return [{ tool, fields: requiredFields, sources: own.length > 0 ? own : all }];
  });
}

/**
 * The error when no completed dependency has a field that the tool requires; undefined when all fields are
 * there. A failed dependency decides nothing here: the policy says whether its dependents run.
 */
export function missingField(state: EngineState, node: StepNode): StepError | undefined {
  for (const { tool, fields, sources } of requiredSources(node)) {
    const completed = sources.filter(({ unit }) => unit.status === "COMPLETED");
    const outputs = completed.flatMap((source) => outputsOf(source, state.outputs.get(source.step.id)));
    const missing = fields.find((field) => !outputs.some((output) => hasRequiredField(output, field)));
    if (completed.length === 0 || missing === undefined) continue;
    const ids = completed.slice(0, 10).map(({ step }) => `'${step.id}'`);
    return {
      code: "CONTRACT_FIELD_MISSING",
      message: `${node.tool.name} was not called: it needs ${missing} of ${tool} (required_fields), and the output of ${ids.join(", ")} has none`,
      retryable: false,
    };
  }
  return undefined;
}

/** The outputs of the tool: of a list those of its items. */
function outputsOf({ step }: StepNode, output: JsonValue | undefined): JsonValue[] {
  if (output === undefined) return [];
  const results = isForEachStep(step) && isJsonObject(output) ? output["results"] : undefined;
  if (!Array.isArray(results)) return [output];
  const done = results.filter((result) => isJsonObject(result) && result["status"] === "ok");
  return done.map((result) => (isJsonObject(result) ? (result["data"] ?? null) : null));
}
