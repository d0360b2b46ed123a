import { median, rounded } from "../../measuring/statistics.ts";
import type { CallTokens } from "./latency-model.ts";
import type { Contender } from "./scripted-model.ts";
import type { Task } from "./tasks.ts";

/** One run of a task. */
export interface Measured {
  task: Task;
  contender: Contender;
  wallMs: number;
  calls: readonly CallTokens[];
}

/** The cost of a task or a group of tasks for a contender: medians of the repeats, summed over tasks. */
export interface Figures {
  wallMs: number;
  modelCalls: number;
  promptTokens: number;
  completionTokens: number;
}

/** Ratio between two contenders. */
export interface Ratio {
  /** Above 1: how many times faster. */
  faster: number;
  /** Above 1: how many times fewer tokens. */
  fewerTokens: number;
}

/**
 * The median of the repeats' times. The tokens of all repeats are equal, because the model is scripted. Pure.
 */
export function figuresOf(repeats: readonly Measured[]): Figures {
  const calls = repeats.at(-1)?.calls ?? [];
  return {
    wallMs: Math.round(median(repeats.map(({ wallMs }) => wallMs))),
    modelCalls: calls.length,
    promptTokens: sum(calls.map(({ prompt }) => prompt)),
    completionTokens: sum(calls.map(({ completion }) => completion)),
  };
}

/** Figures of several tasks together. Pure. */
export function sumFigures(all: readonly Figures[]): Figures {
  return {
    wallMs: sum(all.map(({ wallMs }) => wallMs)),
    modelCalls: sum(all.map(({ modelCalls }) => modelCalls)),
    promptTokens: sum(all.map(({ promptTokens }) => promptTokens)),
    completionTokens: sum(all.map(({ completionTokens }) => completionTokens)),
  };
}

/** Savings of `ours` compared with `theirs`. Pure. */
export function ratioOf(theirs: Figures, ours: Figures): Ratio {
  const tokens = (each: Figures) => each.promptTokens + each.completionTokens;
  return {
    faster: rounded(theirs.wallMs / ours.wallMs, 2),
    fewerTokens: rounded(tokens(theirs) / tokens(ours), 2),
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
