import {
  argumentsOfStep,
  bareName,
  CodedError,
  fitTexts,
  fittedWarnings,
  type HeldJson,
  hasRequiredField,
  heldOfSent,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  JsonText,
  type JsonValue,
  resolveArguments as resolveByTypes,
  resolveReferences,
  type SentJson,
  type Step,
  toSentJson,
  validateArguments,
  withoutNulls,
} from "@planwright/plan";
import { type EngineState, HeldOutputs, type StepNode } from "./engine-state.ts";
import { isOnlyStored, namesOf } from "./outputs.ts";
import type {
  CallTemplate,
  CallUnit,
  CallUnits,
  RequiredFields,
  Sources,
  StepError,
  StoredOutput,
  UnresolvedArguments,
} from "./protocol.ts";

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
type ItemScope = Readonly<Record<string, JsonValue>>;

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

/** Fields that the contract of a step's tool requires, and the steps before it whose outputs may have them. */
interface RequiredSources {
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
function requiredFields(node: StepNode): RequiredFields[] {
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

/*
 * Arguments that refer to large outputs, or are those of many items. The size of the outputs is known before
 * they are built, so the shell waits for memory first, and resolves them beside the event loop.
 */

/** Resolving one item takes as long as writing about this many bytes. */
const BYTES_OF_ITEM = 256;

/** What the arguments of a call are resolved from, when they are large; undefined when they are small. */
export function unresolvedArguments(
  state: EngineState,
  node: StepNode,
  called: CallUnits,
): UnresolvedArguments | undefined {
  const itemBytes = called.units.reduce((sum, { value }) => sum + sizeOfHeld(value), 0);
  const isMany = called.isBatch && isLargeList(state, node.step, called.units.length);
  if (!insertsLarge(state, node) && itemBytes <= state.largeBytes && !isMany) return undefined;
  const sources = sourcesOf(state, node.inserts);
  return { ...sources, ...callTemplate(state, node), ...called, bytes: sources.bytes + itemBytes };
}

/** What the calls of a step have in common. */
export function callTemplate({ plan }: Pick<EngineState, "plan">, node: StepNode): CallTemplate {
  const { step, tool, dependencies } = node;
  return {
    step,
    tool: { name: tool.name, descriptor: tool.descriptor, batch: tool.contract.batch },
    merged: plan.policy.mergeDependencyOutputs ? dependencies.map(({ step: { id } }) => id) : [],
    required: requiredFields(node),
  };
}

/** True when resolving so many items takes as long as writing large JSON. */
export function isLargeList(
  { largeBytes }: Pick<EngineState, "largeBytes">,
  step: Step,
  count: number,
): boolean {
  if (!isForEachStep(step)) return false;
  return count * (BYTES_OF_ITEM + JSON.stringify(argumentsOfStep(step)).length) > largeBytes;
}

/** The outputs of steps as another thread reads them. @param inserts - once for each reference */
export function sourcesOf(state: EngineState, inserts: readonly StepNode[]): Sources {
  let bytes = sizeOfAll(inserts);
  const outputs: Sources["outputs"] = [];
  const stored: Sources["stored"] = [];
  const texts: Sources["texts"] = [];
  for (const source of new Set(inserts)) {
    const names = namesOf(state, source);
    if (isOnlyStored(source.unit)) {
      const { key, outputBytes = 0 } = source.unit;
      stored.push({ key, names, bytes: outputBytes });
      bytes += outputBytes;
      continue;
    }
    for (const name of names) {
      const output = state.outputs.held(name);
      const written = state.texts.get(name);
      if (output !== undefined) outputs.push([name, output]);
      if (written !== undefined) texts.push([name, written]);
    }
  }
  return { bytes, policy: state.plan.policy, outputs, stored, texts };
}

/** True for a step whose calls read large outputs: to insert them, or to find required fields. */
export function insertsLarge({ largeBytes }: EngineState, node: StepNode): boolean {
  return sizeOfAll(node.inserts) > largeBytes;
}

/** Size of the outputs of steps, in bytes; 0 for a small one that is not stored yet. */
export function sizeOfAll(sources: readonly StepNode[]): number {
  return sources.reduce((sum, { unit: { output, outputBytes } }) => {
    return sum + (outputBytes ?? sizeOfHeld(output));
  }, 0);
}

function sizeOfHeld(held: HeldJson | undefined): number {
  return held instanceof JsonText ? held.sizeBytes : 0;
}

/** The arguments with the outputs that were read. */
export function withStored(
  unresolved: UnresolvedArguments,
  read: readonly StoredOutput[],
): UnresolvedArguments {
  const outputs = [...unresolved.outputs];
  const texts = [...unresolved.texts];
  for (const { key, output, texts: written } of read) {
    for (const name of unresolved.stored.find((one) => one.key === key)?.names ?? []) {
      outputs.push([name, output]);
      if (written !== undefined) texts.push([name, written]);
    }
  }
  return { ...unresolved, outputs, texts, stored: [] };
}

/** What references are resolved from, by name. */
export function namedSources({ outputs: held, texts, policy }: Sources): ArgumentsState {
  const outputs = new HeldOutputs();
  for (const [name, output] of held) outputs.hold(name, output);
  return { outputs, texts: new Map(texts), plan: { policy } };
}

/** The same data for another thread, which gets large values as their texts. */
export type Sent<Data extends Sources> = Omit<Data, "outputs" | "units"> & {
  outputs: [name: string, output: SentJson][];
  units?: (Omit<CallUnit, "value"> & { value?: SentJson | undefined })[] | undefined;
};

type MaybeCall = Sources & Partial<Pick<UnresolvedArguments, "units">>;

/** The data in a form that can be sent to another thread. */
export function toSent<Data extends MaybeCall>(data: Data): Sent<Data> {
  const outputs = data.outputs.map(([name, output]): [string, SentJson] => [name, toSentJson(output)]);
  const units = data.units?.map((unit) => ({
    ...unit,
    value: unit.value === undefined ? undefined : toSentJson(unit.value),
  }));
  return { ...data, outputs, units };
}

/** The data that was sent to this thread. */
export function fromSent<Data extends MaybeCall>(sent: Sent<Data>): Data {
  const outputs = sent.outputs.map(([name, output]): [string, HeldJson] => [name, heldOfSent(output)]);
  const units = sent.units?.map((unit) => ({
    ...unit,
    value: unit.value === undefined ? undefined : heldOfSent(unit.value),
  }));
  // The rest of the data was not changed.
  return { ...sent, outputs, units } as unknown as Data;
}
