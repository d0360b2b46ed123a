/**
 * Which outputs are in memory.
 *
 * 1. An output may be dropped once the shell has reported its size: then the store can return it. Other
 *    outputs are not durable yet, or are not stored anywhere.
 * 2. A reader of outputs requests them in the same turn (`hasOutputs`) and continues when they are loaded, so
 *    a dropped output is never taken for a missing one.
 * 3. An output without an unfinished reader is dropped at once.
 */
import { doesStepContinue, type OutputTexts, outputSteps } from "@planwright/plan";
import type { EngineState, StepNode, Unit } from "./engine-state.ts";
import {
  type Answer,
  type EngineEvent,
  MAX_END_BYTES,
  MAX_LIST_BYTES,
  type Question,
  type StepError,
} from "./protocol.ts";
import type { Turn } from "./turn.ts";
import { positionsInResults } from "./units.ts";

type Published = Pick<EngineState, "outputs" | "texts" | "stepsById" | "itemRecords">;

/**
 * Makes the output of a completed step readable under its id, and under its tool's name when no other step
 * has that name or uses that tool.
 */
export function publishOutput(state: Published, node: StepNode, loaded?: OutputTexts): void {
  const { unit } = node;
  if (unit.status !== "COMPLETED" || unit.output === undefined) return;
  const texts = loaded ?? unit.outputText ?? textsOfItems(state, node);
  for (const name of namesOf(state, node)) {
    state.outputs.hold(name, unit.output);
    if (texts !== undefined) state.texts.set(name, texts);
  }
}

/** The names under which references find the output of a step. */
export function namesOf({ stepsById }: Pick<EngineState, "stepsById">, { unit, tool }: StepNode): string[] {
  const hasToolName = tool.users === 1 && !stepsById.has(tool.name);
  return hasToolName ? [unit.key, tool.name] : [unit.key];
}

/**
 * The texts of a forEach's item outputs as the tool wrote them, from the items or their records; undefined
 * when no item returned JSON text.
 */
function textsOfItems(
  { itemRecords }: Pick<EngineState, "itemRecords">,
  { step, forEach }: StepNode,
): OutputTexts | undefined {
  const items = forEach?.units ?? [...(itemRecords.get(step.id)?.values() ?? [])];
  if (!items.some(({ outputText }) => outputText !== undefined)) return undefined;
  const positions = positionsInResults(items);
  const texts: OutputTexts = [];
  for (const { item = -1, outputText } of items) {
    const position = positions.get(item);
    if (position !== undefined && outputText !== undefined) texts[position] = outputText;
  }
  return texts;
}

/** Registers the output of a unit as droppable, and drops it when nothing needs it. */
export function holdOutput(state: EngineState, unit: Unit): void {
  registerDroppable(state, unit);
  dropUnneeded(state, [unit]);
}

function registerDroppable(state: EngineState, unit: Unit): void {
  const { status, output, outputBytes, isEarly } = unit;
  if (status !== "COMPLETED" || output === undefined || outputBytes === undefined || isEarly) return;
  if (state.inMemory.has(unit)) return;
  state.inMemory.set(unit, outputBytes);
  state.inMemoryBytes += outputBytes;
}

/**
 * Adds a stored output that the plan returns to the total. When the total is too large for the plan's end,
 * outputs are not kept in memory for it.
 */
export function countRequested(state: EngineState, { isRequested, unit }: StepNode): void {
  if (!isRequested || unit.status !== "COMPLETED" || unit.outputBytes === undefined) return;
  const wasSmall = state.requestedBytes <= MAX_END_BYTES;
  state.requestedBytes += unit.outputBytes;
  if (wasSmall && state.requestedBytes > MAX_END_BYTES) dropUnneeded(state, [...state.inMemory.keys()]);
}

function isNeeded(state: EngineState, { item, step }: Unit): boolean {
  if (item !== undefined) return !step.final;
  return step.readers > 0 || (step.isRequested && state.requestedBytes <= MAX_END_BYTES);
}

function dropUnneeded(state: EngineState, units: readonly Unit[]): void {
  for (const unit of units) if (state.inMemory.has(unit) && !isNeeded(state, unit)) drop(state, unit);
}

function drop(state: EngineState, unit: Unit): void {
  const bytes = state.inMemory.get(unit);
  if (bytes === undefined) return;
  state.inMemory.delete(unit);
  state.inMemoryBytes -= bytes;
  unit.output = undefined;
  unit.outputText = undefined;
  if (unit.item !== undefined) return;
  for (const name of namesOf(state, unit.step)) {
    state.outputs.delete(name);
    state.texts.delete(name);
  }
  for (const { forEach } of unit.step.dependents) if (forEach) forEach.values = undefined;
}

/** Frees what a final step kept in memory, and the outputs that were kept only for it. */
export function forgetInputs(state: EngineState, node: StepNode): void {
  node.approvable = undefined;
  for (const { unit } of node.reads) {
    unit.step.readers--;
    dropUnneeded(state, [unit]);
  }
  if (!node.forEach) return;
  node.forEach.values = undefined;
  dropUnneeded(state, node.forEach.units);
}

/**
 * Drops outputs, least recently used first. Item results stay while the envelope that contains them is being
 * stored. Outputs that a waiter needs stay too.
 */
export function dropTo(state: EngineState, toBytes: number): void {
  const awaited = new Set([...state.loading.values()].flatMap(({ units }) => units));
  for (const unit of state.inMemory.keys()) {
    if (state.inMemoryBytes <= toBytes) return;
    const isInEnvelope = unit.item !== undefined && unit.step.unit.unacknowledged;
    if (!isInEnvelope && !awaited.has(unit)) drop(state, unit);
  }
}

/** Stores loaded outputs in memory. */
export function applyLoaded(state: EngineState, { outputs }: Extract<EngineEvent, { type: "loaded" }>): void {
  for (const { key, output, texts } of outputs) {
    const unit = state.units.get(key);
    if (!unit || !isOnlyStored(unit)) continue;
    unit.output = output;
    if (unit.item === undefined) publishOutput(state, unit.step, texts);
    else if (texts !== undefined && !Array.isArray(texts)) unit.outputText = texts;
    registerDroppable(state, unit);
  }
}

/** True for an output that is in the store and not in memory. */
export function isOnlyStored({ status, unacknowledged, output, outputBytes }: Unit): boolean {
  return status === "COMPLETED" && !unacknowledged && output === undefined && outputBytes !== undefined;
}

/**
 * True when all of these outputs are in memory. Otherwise requests the missing ones, once.
 * @param waiter - continues when they are loaded: a step, or undefined for the plan's end
 */
export function hasOutputs(turn: Turn, waiter: StepNode | undefined, units: readonly Unit[]): boolean {
  const { loading, inMemory } = turn.state;
  const missing = units.filter(isOnlyStored);
  if (missing.length === 0) {
    for (const unit of units) {
      const bytes = inMemory.get(unit);
      if (bytes === undefined) continue;
      inMemory.delete(unit);
      inMemory.set(unit, bytes); // most recently used
    }
    return true;
  }
  const id = waiter?.step.id ?? "";
  if (loading.has(id)) return false;
  loading.set(id, { node: waiter, units });
  const bytes = missing.reduce((sum, { outputBytes = 0 }) => sum + outputBytes, 0);
  turn.commands.push({ type: "load", id, keys: missing.map(({ key }) => key), bytes });
  return false;
}

/**
 * The shell's answer to a question about outputs that are in memory. Otherwise asks it, once.
 * @param waiter - as of {@link hasOutputs}
 */
export function answerTo<Type extends Answer["type"]>(
  { state, commands }: Turn,
  waiter: StepNode | undefined,
  units: readonly Unit[],
  { type, ...question }: Question & { type: Type },
): Extract<Answer, { type: Type }> | undefined {
  const id = waiter?.step.id ?? "";
  const answer = state.answers.get(id);
  state.answers.delete(id);
  if (answer && isOf(type, answer)) return answer;
  if (state.loading.has(id)) return undefined;
  state.loading.set(id, { node: waiter, units });
  commands.push({ type: "ask", id, question });
  return undefined;
}

function isOf<Type extends Answer["type"]>(
  type: Type,
  answer: Answer,
): answer is Extract<Answer, { type: Type }> {
  return answer.type === type;
}

/** {@link hasOutputs} for all outputs that a step refers to. */
export function hasInputs(turn: Turn, node: StepNode): boolean {
  return (
    node.reads.length === 0 ||
    hasOutputs(
      turn,
      node,
      node.reads.map(({ unit }) => unit),
    )
  );
}

/**
 * The error when the outputs that a step refers to are too large to be in memory together; undefined when
 * they fit.
 */
export function inputsTooLarge(
  { maxReadBytes }: EngineState,
  { step, reads }: StepNode,
): StepError | undefined {
  const bytes = reads.reduce((sum, { unit }) => sum + (unit.outputBytes ?? 0), 0);
  if (bytes <= maxReadBytes) return undefined;
  return {
    code: "REFERENCES_TOO_LARGE",
    message: `Step '${step.id}' refers to outputs of ${bytes} bytes together; an executor holds at most ${maxReadBytes} (OUTPUT_MEMORY_BYTES). Refer to fewer or smaller outputs`,
    retryable: false,
  };
}

/** The error when the results of a list are too large for one output; undefined when they fit. */
export function resultsTooLarge(node: StepNode, units: readonly Unit[]): StepError | undefined {
  const bytes = units.reduce(
    (sum, { status, outputBytes = 0 }) => (status === "COMPLETED" ? sum + outputBytes : sum),
    0,
  );
  if (bytes <= MAX_LIST_BYTES) return undefined;
  return {
    code: "ITEMS_TOO_LARGE",
    message: `The results of step '${node.step.id}' are ${bytes} bytes together, more than one output may have (${MAX_LIST_BYTES}). All items were called, and each keeps its own output; refer to less, or let the tool return less`,
    retryable: false,
    data: { bytes, maxBytes: MAX_LIST_BYTES },
  };
}

/** True while an unfinished step, or the plan's end, waits for outputs. */
export function isLoading({ loading }: EngineState): boolean {
  for (const { node } of loading.values()) if (!node || isOpen(node)) return true;
  return false;
}

function isOpen({ final, unit }: StepNode): boolean {
  return !final && !unit.unacknowledged && doesStepContinue(unit.status);
}

/** The steps whose complete outputs a plan returns. */
export function requestedSteps({ plan, steps, stepsById }: EngineState): readonly StepNode[] {
  return outputSteps(plan.outputs)?.flatMap((id) => stepsById.get(id) ?? []) ?? steps;
}
