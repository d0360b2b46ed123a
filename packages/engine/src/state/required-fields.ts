import { bareName, hasRequiredField, isForEachStep, isJsonObject, type JsonValue } from "@planwright/plan";
import type { StepNode } from "./engine-state.ts";
import type { RequiredFields, StepError } from "./protocol.ts";

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
 * The same as plain data: of the completed dependencies. A failed one decides nothing here: the policy says
 * whether its dependents run.
 */
export function requiredFields(node: StepNode): RequiredFields[] {
  return requiredSources(node).flatMap(({ tool, fields, sources }) => {
    const completed = sources.filter(({ unit }) => unit.status === "COMPLETED");
    if (completed.length === 0) return [];
    return [
      { tool, fields, of: completed.map(({ step }) => ({ id: step.id, isList: isForEachStep(step) })) },
    ];
  });
}

/**
 * The error when no completed dependency has a field that the tool requires; undefined when all fields are
 * there.
 */
export function missingField(
  outputs: ReadonlyMap<string, JsonValue>,
  name: string,
  required: readonly RequiredFields[],
): StepError | undefined {
  for (const { tool, fields, of } of required) {
    const found = of.flatMap(({ id, isList }) => outputsOf(outputs.get(id), isList));
    const missing = fields.find((field) => !found.some((output) => hasRequiredField(output, field)));
    if (missing === undefined) continue;
    const ids = of.slice(0, 10).map(({ id }) => `'${id}'`);
    return {
      code: "CONTRACT_FIELD_MISSING",
      message: `${name} was not called: it needs ${missing} of ${tool} (required_fields), and the output of ${ids.join(", ")} has none`,
      retryable: false,
    };
  }
  return undefined;
}

/** The outputs of the tool: of a list those of its items. */
function outputsOf(output: JsonValue | undefined, isList: boolean): JsonValue[] {
  if (output === undefined) return [];
  const results = isList && isJsonObject(output) ? output["results"] : undefined;
  if (!Array.isArray(results)) return [output];
  const done = results.filter((result) => isJsonObject(result) && result["status"] === "ok");
  return done.map((result) => (isJsonObject(result) ? (result["data"] ?? null) : null));
}
