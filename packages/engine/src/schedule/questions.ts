/**
 * What the engine asks the shell when outputs are large: reading such an output as a value would block the
 * process, so another thread reads it and answers only what is needed.
 */
import {
  addPart,
  type Condition,
  emptyOutputs,
  evaluateCondition,
  type ForEachStep,
  isForEachStep,
  type JsonValue,
  type StepStatus,
  stepsInValue,
  stringifyExactJson,
  valueOfHeld,
} from "@planwright/plan";
import {
  type ArgumentsState,
  isLargeList,
  namedSources,
  sizeOfAll,
  sourcesOf,
  toStepError,
} from "../state/arguments.ts";
import type { EngineState, StepNode } from "../state/engine-state.ts";
import { answerTo } from "../state/outputs.ts";
import {
  ANSWER,
  type Answer,
  type Approvable,
  type BatchCall,
  type BatchResult,
  MAX_END_BYTES,
  type Question,
} from "../state/protocol.ts";
import type { Turn } from "../state/turn.ts";
import { resolveApprovable, toApprove } from "./approval.ts";
import { endedListOf, readBatch, readsLarge, shortfallIn, shortfallOf } from "./envelope.ts";
import { type List, listOf, listOfAnswer } from "./expand.ts";

/** Answers a question. Pure; takes as long as reading the outputs. */
export function answerQuestion(question: Question): Answer {
  const state = namedSources(question);
  const { asks } = question;
  switch (asks.type) {
    case "when":
      return { type: "when", result: holds(state, asks.when, new Map(asks.statuses)) };
    case "items": {
      const list = listOf({ ...state, statuses: new Map(asks.statuses) }, asks.step, asks.maxItems);
      if (!list.ok) return { type: "items", result: list };
      const { values, keys, notCalled, warnings } = list;
      const texts = values.map(stringifyExactJson);
      return {
        type: "items",
        result: { ok: true, texts, keys: [...keys], notCalled: [...notCalled], warnings },
      };
    }
    case "part": {
      const { name, part, room } = asks;
      const { policy } = question;
      const resolved = { ...emptyOutputs(), room };
      addPart(resolved, { name, part, policy }, state);
      const isLarge = room - resolved.room > MAX_END_BYTES;
      const { leftOut, outputs } = resolved;
      return { type: "part", outputs: isLarge ? null : outputs, leftOut, room: resolved.room };
    }
    case "approval":
      return { type: "approval", result: resolveApprovable(state, asks) };
    case "batch":
      return { type: "batch", read: readAnswer(asks, state.outputs.get(ANSWER) ?? null) };
    case "shortfall":
      return { type: "shortfall", error: shortfallIn(asks, state.outputs.get(asks.stepId) ?? null) };
  }
}

function readAnswer(call: BatchCall, output: JsonValue): Extract<Answer, { type: "batch" }>["read"] {
  const batch = readBatch(call, output);
  if (!batch) return null;
  const { results, ...read } = batch;
  return {
    ...read,
    texts: results.map((result) =>
      result.status === "COMPLETED" ? stringifyExactJson(valueOfHeld(result.output)) : null,
    ),
    others: results.flatMap((result, position): [number, BatchResult][] =>
      result.status === "COMPLETED" ? [] : [[position, result]],
    ),
  };
}

/** The error of a list that completed with failed items; undefined while the shell reads a large output. */
export function shortfallNow(
  turn: Turn,
  node: StepNode,
): Pick<Extract<Answer, { type: "shortfall" }>, "error"> | undefined {
  const { output } = node.unit;
  if (!readsLarge(node, output)) return { error: shortfallOf(node, output) };
  return ask(turn, undefined, [node], { type: "shortfall", ...endedListOf(node) });
}

type Holds = Extract<Answer, { type: "when" }>["result"];

function holds(
  { outputs, texts, plan }: ArgumentsState,
  when: Condition,
  statuses: ReadonlyMap<string, StepStatus>,
): Holds {
  try {
    return { ok: true, holds: evaluateCondition(when, { outputs, texts, statuses, policy: plan.policy }) };
  } catch (error) {
    return { ok: false, error: toStepError(error, "CONDITION_INVALID") };
  }
}

/** Whether the condition of a step holds; undefined while the shell finds out. The inputs are in memory. */
export function conditionOf(turn: Turn, node: StepNode, when: Condition): Holds | undefined {
  const { state } = turn;
  const sources = sourcesIn(state, when);
  if (!areLarge(state, sources)) return holds(state, when, state.statuses);
  const statuses = [...state.statuses];
  return ask(turn, node, sources, { type: "when", when, statuses })?.result;
}

/** The items of a list; undefined while the shell resolves them. The inputs are in memory. */
export function itemsOfList(turn: Turn, node: StepNode, step: ForEachStep): List | undefined {
  const { state } = turn;
  const { maxItems } = state.plan.limits;
  const { items, key = null, when = null } = step.forEach;
  const sources = sourcesIn(state, [items, key, when]);
  if (!areLarge(state, sources)) return listOf(state, step, maxItems);
  const statuses = [...state.statuses];
  const answer = ask(turn, node, sources, { type: "items", step, maxItems, statuses });
  return answer && listOfAnswer(answer);
}

/**
 * What an operator approves of a step; undefined while the shell resolves it. The inputs are in memory. It is
 * kept with the step until that has ended.
 */
export function approvableOf(turn: Turn, node: StepNode): Approvable | undefined {
  if (node.approvable) return node.approvable;
  const { state } = turn;
  const { step, forEach, reads, inserts } = node;
  const sources = isForEachStep(step) ? reads : [...new Set(inserts)];
  const asked = toApprove(state, node);
  const readsLarge = areLarge(state, sources);
  const list =
    readsLarge || forEach || !isForEachStep(step) ? undefined : listOf(state, step, asked.maxItems);
  const count = forEach?.units.length ?? (list?.ok ? list.values.length : 0);
  const isLarge = readsLarge || isLargeList(state, step, count);
  const approvable = isLarge
    ? ask(turn, node, sources, { type: "approval", ...asked })?.result
    : resolveApprovable(state, asked, list);
  node.approvable = approvable;
  return approvable;
}

/** Adds a part of the outputs to those that are built; false while the shell builds it. */
export function addPartOf(
  turn: Turn,
  progress: NonNullable<EngineState["parts"]>,
  named: [string, JsonValue],
) {
  const { state } = turn;
  const [name, part] = named;
  const { resolved } = progress;
  const sources = sourcesIn(state, part);
  if (!areLarge(state, sources)) {
    addPart(resolved, { name, part, policy: state.plan.policy }, state);
    return true;
  }
  const answer = ask(turn, undefined, sources, { type: "part", name, part, room: resolved.room });
  if (!answer) return false;
  resolved.room = answer.room;
  resolved.leftOut.push(...answer.leftOut);
  if (answer.outputs) Object.assign(resolved.outputs, answer.outputs);
  else progress.areLarge = true;
  return true;
}

function ask<Type extends Answer["type"]>(
  turn: Turn,
  node: StepNode | undefined,
  sources: readonly StepNode[],
  asks: Extract<Question["asks"], { type: Type }>,
): Extract<Answer, { type: Type }> | undefined {
  const question = { ...sourcesOf(turn.state, sources), asks };
  const units = sources.map(({ unit }) => unit);
  return answerTo<Type>(turn, node, units, { ...question, type: asks.type });
}

function sourcesIn({ plan, stepsById }: EngineState, value: JsonValue): StepNode[] {
  return stepsInValue(value, plan).flatMap((id) => stepsById.get(id) ?? []);
}

function areLarge({ largeBytes }: EngineState, sources: readonly StepNode[]): boolean {
  return sizeOfAll(sources) > largeBytes;
}
