/**
 * Arguments that refer to large outputs. Their size is known before they are built, so the shell waits for
 * memory first, and resolves them beside the event loop.
 */
import { type JsonObject, JsonText, type JsonValue } from "@planwright/plan";
import { checkArguments, fitArguments, itemScope, resolveArguments } from "./arguments.ts";
import type { Caller, EngineState, StepNode } from "./engine-state.ts";
import { HeldOutputs } from "./held-outputs.ts";
import { isOnlyStored, namesOf } from "./outputs.ts";
import type { StepError, StoredOutput, UnresolvedArguments } from "./protocol.ts";

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
  values: readonly JsonValue[] | undefined,
): UnresolvedArguments | undefined {
  const { step: node, units } = caller;
  const [unit, ...others] = units;
  if (!unit || others.length > 0 || !insertsLarge(state, node)) return undefined;
  const { step, tool } = node;
  let bytes = insertedBytes(node);
  const outputs: UnresolvedArguments["outputs"] = [];
  const stored: UnresolvedArguments["stored"] = [];
  const texts: UnresolvedArguments["texts"] = [];
  for (const source of new Set(node.inserts)) {
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
  const value = unit.item === undefined ? undefined : values?.[unit.item];
  return {
    bytes,
    step,
    tool: { name: tool.name, descriptor: tool.descriptor, batch: tool.contract.batch },
    policy: state.plan.policy,
    outputs,
    stored,
    texts,
    merged: state.plan.policy.mergeDependencyOutputs ? node.dependencies.map(({ step: { id } }) => id) : [],
    scope: value === undefined || unit.item === undefined ? undefined : itemScope(node, value, unit.item),
  };
}

/** True for a step whose calls insert large outputs. An operator approves arguments that the engine resolved. */
export function insertsLarge({ largeBytes }: EngineState, node: StepNode): boolean {
  return insertedBytes(node) > largeBytes && !node.approvable && !node.unit.approved;
}

function insertedBytes({ inserts }: StepNode): number {
  return inserts.reduce((sum, { unit }) => sum + (unit.outputBytes ?? 0), 0);
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

/** Resolves and validates the arguments of a call. They may share lists and objects, also with each other. */
export function resolveUnresolved(unresolved: UnresolvedArguments): ResolvedCall {
  const { step, policy, scope } = unresolved;
  const { name, descriptor, batch } = unresolved.tool;
  const outputs = new HeldOutputs();
  for (const [key, output] of unresolved.outputs) outputs.hold(key, output);
  const state = { outputs, texts: new Map(unresolved.texts), plan: { policy } };
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

/** The same data for another thread, which gets large outputs as their texts. */
export type SentArguments = Omit<UnresolvedArguments, "outputs"> & {
  outputs: [name: string, output: { value: JsonValue } | { text: string; sizeBytes: number }][];
};

/** Unresolved arguments in a form that can be sent to another thread. */
export function toSent(unresolved: UnresolvedArguments): SentArguments {
  const outputs = unresolved.outputs.map(([name, output]): SentArguments["outputs"][number] => {
    if (!(output instanceof JsonText)) return [name, { value: output }];
    return [name, { text: output.text, sizeBytes: output.sizeBytes }];
  });
  return { ...unresolved, outputs };
}

/** Unresolved arguments that were sent to this thread. */
export function fromSent(sent: SentArguments): UnresolvedArguments {
  const outputs = sent.outputs.map(([name, output]): UnresolvedArguments["outputs"][number] => {
    return [name, "text" in output ? new JsonText(output.text, output.sizeBytes) : output.value];
  });
  return { ...sent, outputs };
}
