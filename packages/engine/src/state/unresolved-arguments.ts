/**
 * Arguments that refer to large outputs, or are those of many items. The size of the outputs is known before
 * they are built, so the shell waits for memory first, and resolves them beside the event loop.
 */
import {
  argumentsOfStep,
  type HeldJson,
  isForEachStep,
  JsonText,
  type JsonValue,
  type Step,
} from "@planwright/plan";
import type { ArgumentsState } from "./arguments.ts";
import type { EngineState, StepNode } from "./engine-state.ts";
import { HeldOutputs } from "./held-outputs.ts";
import { isOnlyStored, namesOf } from "./outputs.ts";
import type {
  CallTemplate,
  CallUnit,
  CallUnits,
  Sources,
  StoredOutput,
  UnresolvedArguments,
} from "./protocol.ts";
import { requiredFields } from "./required-fields.ts";

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

type SentJson = { value: JsonValue } | { text: string; sizeBytes: number };
type MaybeCall = Sources & Partial<Pick<UnresolvedArguments, "units">>;

/** The data in a form that can be sent to another thread. */
export function toSent<Data extends MaybeCall>(data: Data): Sent<Data> {
  const toJson = (held: HeldJson): SentJson =>
    held instanceof JsonText ? { text: held.text, sizeBytes: held.sizeBytes } : { value: held };
  const outputs = data.outputs.map(([name, output]): [string, SentJson] => [name, toJson(output)]);
  const units = data.units?.map((unit) => ({
    ...unit,
    value: unit.value === undefined ? undefined : toJson(unit.value),
  }));
  return { ...data, outputs, units };
}

/** The data that was sent to this thread. */
export function fromSent<Data extends MaybeCall>(sent: Sent<Data>): Data {
  const toHeld = (json: SentJson): HeldJson =>
    "text" in json ? new JsonText(json.text, json.sizeBytes) : json.value;
  const outputs = sent.outputs.map(([name, output]): [string, HeldJson] => [name, toHeld(output)]);
  const units = sent.units?.map((unit) => ({
    ...unit,
    value: unit.value === undefined ? undefined : toHeld(unit.value),
  }));
  // The rest of the data was not changed.
  return { ...sent, outputs, units } as unknown as Data;
}
