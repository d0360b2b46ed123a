import {
  argumentsOfStep,
  CodedError,
  fitTexts,
  fittedWarnings,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  resolveArguments as resolveByTypes,
  resolveReferences,
  validateArguments,
} from "@planwright/plan";
import type { EngineState, StepNode } from "./engine-state.ts";
import type { StepError } from "./protocol.ts";

/** A value with its references filled in, or why that cannot be. */
export type Resolved<Value extends JsonValue = JsonValue> =
  | { ok: true; value: Value; warnings: readonly string[] }
  | { ok: false; error: StepError };

/** The names that exist inside the `do` of a forEach: the alias and `index`. */
export type ItemScope = Readonly<Record<string, JsonValue>>;

/**
 * Fills the references in a value from the outputs that are durable. Every error of the plan language becomes
 * a step's error.
 */
export function resolveValue(state: EngineState, value: JsonValue, scope?: ItemScope): Resolved {
  try {
    const resolved = resolveReferences(value, {
      outputs: state.outputs,
      texts: state.texts,
      policy: state.plan.policy,
      ...(scope ? { scope } : {}),
    });
    return { ok: true, value: resolved.value, warnings: resolved.warnings };
  } catch (error) {
    return { ok: false, error: toStepError(error) };
  }
}

/**
 * A typed error of the plan language as a step's error. Anything else is a fault of ours and is thrown on.
 */
export function toStepError(error: unknown, code?: string): StepError {
  if (!(error instanceof CodedError)) throw error;
  return { code: code ?? error.code, message: error.message, retryable: false };
}

/**
 * Arguments of a call: references filled in by the types that its tool takes, missing ones taken from
 * dependencies where the policy says so. Not validated.
 * @param schema - what the arguments are for: the tool's input schema, or that of one item of a batch
 */
export function resolveArguments(
  state: EngineState,
  node: StepNode,
  { scope, schema }: { scope?: ItemScope | undefined; schema: JsonObject | undefined },
): Resolved<JsonObject> {
  try {
    const options = { outputs: state.outputs, texts: state.texts, policy: state.plan.policy, scope };
    const resolved = resolveByTypes(argumentsOfStep(node.step), options, schema);
    const value = state.plan.policy.mergeDependencyOutputs
      ? withDependencyOutputs(state, node, resolved.value)
      : resolved.value;
    return { ok: true, value, warnings: resolved.warnings };
  } catch (error) {
    return { ok: false, error: toStepError(error) };
  }
}

/**
 * The arguments with JSON texts where the tool takes texts and they hold something else, and a warning for
 * each.
 */
export function fitArguments(node: StepNode, args: JsonObject): { value: JsonObject; warnings: string[] } {
  const schema = node.tool.descriptor?.inputSchema;
  if (!schema) return { value: args, warnings: [] };
  const { value, places } = fitTexts(schema, args);
  return { value, warnings: fittedWarnings(node.tool.name, places) };
}

/** What the tool's input schema says against these arguments; undefined when nothing. */
export function checkArguments(node: StepNode, value: JsonObject): StepError | undefined {
  const { descriptor } = node.tool;
  if (!descriptor?.inputSchema) return undefined;
  const errors = validateArguments(descriptor, value).filter(({ severity }) => severity === "error");
  if (errors.length === 0) return undefined;
  return invalidArguments(node, errors.map(({ message }) => message).join("; "));
}

function invalidArguments(node: StepNode, why: string): StepError {
  return {
    code: "ARGUMENTS_INVALID",
    message: `Arguments of ${node.tool.name} are invalid: ${why}`,
    retryable: false,
  };
}

const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Object outputs of dependencies fill arguments that the tool takes and the plan does not give; a later
 * dependency wins over an earlier one, an explicit argument over both. Without declared properties the tool
 * is taken to accept every name.
 */
function withDependencyOutputs(state: EngineState, node: StepNode, explicit: JsonObject): JsonObject {
  const declared = node.tool.descriptor?.inputSchema?.["properties"];
  const merged: JsonObject = {};
  for (const dependency of node.dependencies) {
    const output = state.outputs.get(dependency.step.id);
    if (!isJsonObject(output)) continue;
    for (const [name, value] of Object.entries(output)) {
      const isTaken = !isJsonObject(declared) || Object.hasOwn(declared, name);
      if (isTaken && !FORBIDDEN.has(name) && !Object.hasOwn(explicit, name))
        merged[name] = structuredClone(value);
    }
  }
  return { ...merged, ...explicit };
}

/** The names inside `do` for one item. */
export function itemScope(node: StepNode, value: JsonValue, index: number): ItemScope {
  return isForEachStep(node.step) ? { [node.step.forEach.as]: value, index } : {};
}
