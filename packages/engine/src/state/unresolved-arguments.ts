/**
 * Arguments that refer to large outputs. Their size is known before they are built, so the shell waits for
 * memory first, and resolves them beside the event loop.
 */
import { type HeldJson, type JsonObject, JsonText, type JsonValue, valueOfHeld } from "@planwright/plan";
import {
  type ArgumentsState,
  checkArguments,
  fitArguments,
  itemScope,
  resolveArguments,
} from "./arguments.ts";
import type { Caller, EngineState, StepNode } from "./engine-state.ts";
import { HeldOutputs } from "./held-outputs.ts";
import { isOnlyStored, namesOf } from "./outputs.ts";
import type { Sources, StepError, StoredOutput, UnresolvedArguments } from "./protocol.ts";

/** Resolved arguments with warnings, or why the call must not be made. */
export type ResolvedCall =
  | { ok: true; arguments: JsonObject; warnings: readonly string[] }
  | { ok: false; error: StepError };

/**
 * The arguments of a caller's next call when they insert large outputs; undefined when they are small. The
 * arguments of batches, and those that an operator approves, are always resolved by the engine.
 * @param values - the item values of a forEach
 */
export function unresolvedArguments(
  state: EngineState,
  caller: Caller,
  values: readonly HeldJson[] | undefined,
): UnresolvedArguments | undefined {
  const { step: node, units } = caller;
  const [unit, ...others] = units;
  if (!unit || others.length > 0) return undefined;
  const value = unit.item === undefined ? undefined : values?.[unit.item];
  const itemBytes = value instanceof JsonText ? value.sizeBytes : 0;
  if (!insertsLarge(state, node) && itemBytes <= state.largeBytes) return undefined;
  const { step, tool } = node;
  const sources = sourcesOf(state, node.inserts);
  return {
    ...sources,
    bytes: sources.bytes + itemBytes,
    step,
    tool: { name: tool.name, descriptor: tool.descriptor, batch: tool.contract.batch },
    merged: state.plan.policy.mergeDependencyOutputs ? node.dependencies.map(({ step: { id } }) => id) : [],
    scope: value === undefined || unit.item === undefined ? undefined : itemScope(step, value, unit.item),
  };
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

/** True for a step whose calls insert large outputs. An operator approves arguments that the engine resolved. */
export function insertsLarge({ largeBytes }: EngineState, node: StepNode): boolean {
  return sizeOfAll(node.inserts) > largeBytes && !node.approvable && !node.unit.approved;
}

/** Size of the outputs of steps, in bytes; 0 for a small one that is not stored yet. */
export function sizeOfAll(sources: readonly StepNode[]): number {
  return sources.reduce((sum, { unit: { output, outputBytes } }) => {
    return sum + (outputBytes ?? (output instanceof JsonText ? output.sizeBytes : 0));
  }, 0);
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

/** Resolves and validates the arguments of a call. They may share lists and objects, also with each other. */
export function resolveUnresolved(unresolved: UnresolvedArguments): ResolvedCall {
  const { step } = unresolved;
  const { name, descriptor, batch } = unresolved.tool;
  const state = namedSources(unresolved);
  const scope = unresolved.scope && mapValues(unresolved.scope, valueOfHeld);
  const node = {
    step,
    tool: { name, descriptor, contract: { batch } },
    dependencies: unresolved.merged.map((id) => ({ step: { id } })),
  };
  const schema = descriptor?.inputSchema;
  const resolved = resolveArguments(state, node, { scope, schema, shares: true });
  if (!resolved.ok) return resolved;
  const { value, warnings } = fitArguments(node, resolved.value);
  const error = checkArguments(node, value);
  if (error) return { ok: false, error };
  return {
    ok: true,
    arguments: value,
    warnings: [...new Set([...resolved.warnings, ...warnings])].toSorted(),
  };
}

/** The same data for another thread, which gets large values as their texts. */
export type Sent<Data extends Sources> = Omit<Data, "outputs" | "scope"> & {
  outputs: [name: string, output: SentJson][];
  scope?: Readonly<Record<string, SentJson>> | undefined;
};

type SentJson = { value: JsonValue } | { text: string; sizeBytes: number };
type MaybeScoped = Sources & Partial<Pick<UnresolvedArguments, "scope">>;

/** The data in a form that can be sent to another thread. */
export function toSent<Data extends MaybeScoped>(data: Data): Sent<Data> {
  const toJson = (held: HeldJson): SentJson =>
    held instanceof JsonText ? { text: held.text, sizeBytes: held.sizeBytes } : { value: held };
  const outputs = data.outputs.map(([name, output]): [string, SentJson] => [name, toJson(output)]);
  return { ...data, outputs, scope: data.scope && mapValues(data.scope, toJson) };
}

/** The data that was sent to this thread. */
export function fromSent<Data extends MaybeScoped>(sent: Sent<Data>): Data {
  const toHeld = (json: SentJson): HeldJson =>
    "text" in json ? new JsonText(json.text, json.sizeBytes) : json.value;
  const outputs = sent.outputs.map(([name, output]): [string, HeldJson] => [name, toHeld(output)]);
  // The rest of the data was not changed.
  return { ...sent, outputs, scope: sent.scope && mapValues(sent.scope, toHeld) } as unknown as Data;
}

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  to: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]));
}
