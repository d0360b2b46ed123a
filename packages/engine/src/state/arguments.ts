import {
  argumentsOfStep,
  CodedError,
  fitTexts,
  fittedWarnings,
  type HeldJson,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  resolveArguments as resolveByTypes,
  resolveReferences,
  validateArguments,
  withoutNulls,
} from "@planwright/plan";
import type { EngineState, StepNode } from "./engine-state.ts";
import type { StepError } from "./protocol.ts";

/** A value with its references resolved, or the error. */
export type Resolved<Value extends JsonValue = JsonValue> =
  | { ok: true; value: Value; warnings: readonly string[] }
  | { ok: false; error: StepError };

/** What is read of a plan's state to resolve references. */
export type ArgumentsState = Pick<EngineState, "outputs" | "texts"> & {
  plan: Pick<EngineState["plan"], "policy">;
};

/** What is read of a step to resolve its arguments. */
export interface ArgumentsNode {
  readonly step: StepNode["step"];
  readonly tool: Pick<StepNode["tool"], "name" | "descriptor"> & {
    readonly contract: Pick<StepNode["tool"]["contract"], "batch">;
  };
  readonly dependencies: readonly { readonly step: Pick<StepNode["step"], "id"> }[];
}

/** Options of {@link resolveArguments}. */
interface ArgumentsOptions {
  scope?: ItemScope | undefined;
  /** Of the arguments: the tool's input schema, or the schema of one item of a batch. */
  schema: JsonObject | undefined;
  /** The arguments are not changed: lists and objects need not be copied. Default: they are copied. */
  shares?: boolean | undefined;
}

/** The names that exist inside the `do` of a forEach: the alias and `index`. */
export type ItemScope = Readonly<Record<string, JsonValue>>;

/**
 * Resolves the references in a value from durable outputs. An error of the plan language becomes a step
 * error.
 * @param policy - what happens to a missing field; default: the policy of the plan
 */
export function resolveValue(
  state: ArgumentsState,
  value: JsonValue,
  scope?: ItemScope,
  policy: Partial<EngineState["plan"]["policy"]> = state.plan.policy,
): Resolved {
  try {
    const resolved = resolveReferences(value, {
      outputs: state.outputs,
      texts: state.texts,
      policy,
      ...(scope ? { scope } : {}),
    });
    return { ok: true, value: resolved.value, warnings: resolved.warnings };
  } catch (error) {
    return { ok: false, error: toStepError(error) };
  }
}

/** A typed error of the plan language as a step error. Any other exception is a bug and is rethrown. */
export function toStepError(error: unknown, code?: string): StepError {
  if (!(error instanceof CodedError)) throw error;
  return { code: code ?? error.code, message: error.message, retryable: false };
}

/**
 * Arguments of a call, not validated. References are resolved to the types that the tool expects. With
 * `mergeDependencyOutputs`, missing arguments are taken from dependencies; with `onMissingField: "null"`,
 * optional arguments that are null are left out where the tool does not take null.
 */
export function resolveArguments(
  state: ArgumentsState,
  node: ArgumentsNode,
  { scope, schema, shares }: ArgumentsOptions,
): Resolved<JsonObject> {
  try {
    const { outputs, texts } = state;
    const options = { outputs, texts, policy: state.plan.policy, scope, shares };
    const resolved = resolveByTypes(argumentsOfStep(node.step), options, schema);
    const value = state.plan.policy.mergeDependencyOutputs
      ? withDependencyOutputs(state, node, resolved.value)
      : resolved.value;
    if (state.plan.policy.onMissingField !== "null") return { ok: true, value, warnings: resolved.warnings };
    // The null of a missing field must not make a call fail that does not need the argument.
    const kept = withoutNulls(value, schema);
    const left = Object.keys(value).filter((name) => !Object.hasOwn(kept, name));
    const told = left.map((name) => `Argument ${name} of ${node.tool.name} was left out: its value was null`);
    return { ok: true, value: kept, warnings: [...resolved.warnings, ...told] };
  } catch (error) {
    return { ok: false, error: toStepError(error) };
  }
}

/**
 * The arguments, with values converted to JSON text where the tool expects text; one warning for each
 * conversion.
 */
export function fitArguments(
  node: ArgumentsNode,
  args: JsonObject,
): { value: JsonObject; warnings: string[] } {
  const schema = node.tool.descriptor?.inputSchema;
  if (!schema) return { value: args, warnings: [] };
  const { value, places } = fitTexts(schema, args);
  return { value, warnings: fittedWarnings(node.tool.name, places) };
}

/**
 * The error when the tool's input schema does not allow these arguments, or they hold more items than a batch
 * may have; undefined when it allows them.
 */
export function checkArguments(node: ArgumentsNode, value: JsonObject): StepError | undefined {
  const { descriptor, contract } = node.tool;
  const items = contract.batch && Object.hasOwn(value, contract.batch.param) && value[contract.batch.param];
  if (contract.batch && Array.isArray(items) && items.length > contract.batch.max) {
    const { param, max } = contract.batch;
    return invalidArguments(node, `${param} has ${items.length} items, and a call takes at most ${max}`);
  }
  if (!descriptor?.inputSchema) return undefined;
  const errors = validateArguments(descriptor, value).filter(({ severity }) => severity === "error");
  if (errors.length === 0) return undefined;
  return invalidArguments(node, errors.map(({ message }) => message).join("; "));
}

function invalidArguments(node: ArgumentsNode, why: string): StepError {
  return {
    code: "ARGUMENTS_INVALID",
    message: `Arguments of ${node.tool.name} are invalid: ${why}`,
    retryable: false,
  };
}

/**
 * Fills arguments that the tool accepts and the plan does not set, from fields of the object outputs of
 * dependencies. A later dependency wins over an earlier one, an explicit argument over both. A tool without
 * declared properties is assumed to accept every name.
 */
function withDependencyOutputs(state: ArgumentsState, node: ArgumentsNode, explicit: JsonObject): JsonObject {
  const declared = node.tool.descriptor?.inputSchema?.["properties"];
  const merged: JsonObject = {};
  for (const dependency of node.dependencies) {
    const output = state.outputs.get(dependency.step.id);
    if (!isJsonObject(output)) continue;
    for (const [name, value] of Object.entries(output)) {
      const isAccepted = !isJsonObject(declared) || Object.hasOwn(declared, name);
      if (isAccepted && name !== "__proto__" && !Object.hasOwn(explicit, name))
        merged[name] = structuredClone(value);
    }
  }
  return { ...merged, ...explicit };
}

/** The names that exist inside `do` for one item. */
export function itemScope<Value extends HeldJson>(
  step: StepNode["step"],
  value: Value,
  index: number,
): Readonly<Record<string, Value | number>> {
  return isForEachStep(step) ? { [step.forEach.as]: value, index } : {};
}
