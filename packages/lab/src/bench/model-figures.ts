import { median, rounded } from "./figures.ts";
import type { Task } from "./model-tasks.ts";
import type { CallTokens, ModelContender } from "./scripted-model.ts";

/** One run of a task. */
export interface Measured {
  task: Task;
  contender: ModelContender;
  wallMs: number;
  calls: readonly CallTokens[];
}

/** The cost of a task or a group of tasks for a contender: medians of the repeats, summed over tasks. */
interface Figures {
  wallMs: number;
  modelCalls: number;
  promptTokens: number;
  completionTokens: number;
}

/** Ratio between two contenders. */
interface Ratio {
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

/** Figures of one task or group by contender, with the savings of this system against each ReAct loop. */
interface Comparison {
  name: string;
  figures: Partial<Record<ModelContender, Figures>>;
  /** By "contender over contender". */
  ratios: Record<string, Ratio>;
}

const LOOPS: readonly ModelContender[] = ["react", "react-parallel"];
const OURS: readonly ModelContender[] = ["planwright", "planwright-answer"];

/** Compares measurements, task by task and then group by group. Pure. */
export function compare(measured: readonly Measured[]): { tasks: Comparison[]; groups: Comparison[] } {
  const tasks = new Map<string, Map<ModelContender, Figures>>();
  const groups = new Map<string, Map<ModelContender, Figures[]>>();
  for (const { task, contender } of measured) {
    const of = tasks.get(task.name) ?? new Map<ModelContender, Figures>();
    tasks.set(task.name, of);
    if (of.has(contender)) continue;
    const figures = figuresOf(measured.filter((each) => each.task === task && each.contender === contender));
    of.set(contender, figures);
    const group = groups.get(task.group) ?? new Map<ModelContender, Figures[]>();
    groups.set(task.group, group.set(contender, [...(group.get(contender) ?? []), figures]));
  }
  return {
    tasks: [...tasks].map(([name, of]) => comparisonOf(name, of)),
    groups: [...groups].map(([name, of]) =>
      comparisonOf(name, new Map([...of].map(([contender, all]) => [contender, sumFigures(all)]))),
    ),
  };
}

function comparisonOf(name: string, figures: ReadonlyMap<ModelContender, Figures>): Comparison {
  const ratios: Record<string, Ratio> = {};
  for (const ours of OURS) {
    for (const theirs of LOOPS) {
      const [mine, other] = [figures.get(ours), figures.get(theirs)];
      if (mine && other) ratios[`${ours} over ${theirs}`] = ratioOf(other, mine);
    }
  }
  return { name, figures: Object.fromEntries(figures), ratios };
}

/** Lines of a Markdown table: a line for each task and contender, then the savings by group. Pure. */
export function tableOf({ tasks, groups }: ReturnType<typeof compare>): string[] {
  const rows = tasks.flatMap(({ name, figures }) =>
    Object.entries(figures).map(
      ([contender, { wallMs, modelCalls, promptTokens, completionTokens }]) =>
        `| ${name} | ${contender} | ${wallMs} | ${modelCalls} | ${promptTokens} | ${completionTokens} |`,
    ),
  );
  const saved = groups.flatMap(({ name, ratios }) =>
    Object.entries(ratios).map(
      ([pair, { faster, fewerTokens }]) => `| ${name} | ${pair} | ${faster} | ${fewerTokens} |`,
    ),
  );
  return [
    "| task | contender | wall ms | model calls | prompt tokens | completion tokens |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
    "| group | contender over contender | times faster | times fewer tokens |",
    "|---|---|---|---|",
    ...saved,
  ];
}
