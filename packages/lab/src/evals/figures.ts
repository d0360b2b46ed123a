import { z } from "zod";
import { alignColumns } from "../command/developer-command.ts";
import type { Ending } from "./cases/eval-case.ts";
import { f1Of, sumCounts } from "./compare-plans.ts";
import type { GradedCase } from "./play-cases.ts";

/** Figures in points of 100 with two decimals; 100 when there is nothing to count. */
export interface EvalFigures {
  /** F1 of the plans' tools; all steps have the same weight. */
  nodeF1: number;
  edgeF1: number;
  argumentF1: number;
  /** Wanted plans that were found exactly. */
  exactPlans: number;
  /** Wanted plans for which the first answer was a valid plan, right or not. */
  firstTimeValid: number;
  /** Wanted refusals with the right code. */
  refusals: number;
  /** Wanted questions that were asked, without others. */
  questions: number;
}

/** The summary of a group of cases. */
interface Summary {
  cases: number;
  wanted: { plans: number; refusals: number; questions: number };
  figures: EvalFigures;
  calls: number;
  repairs: number;
  inputTokens: number;
  outputTokens: number;
}

/** Summarises cases. Pure. */
export function summarise(cases: readonly GradedCase[]): Summary {
  const comparisons = cases.flatMap(({ grade }) => grade.comparison ?? []);
  const of = (type: Ending["type"]) => cases.filter(({ wanted }) => wanted.type === type);
  const [plans, refusals, questions] = [of("plan"), of("refusal"), of("questions")];
  const sum = (count: "calls" | "repairs" | "inputTokens" | "outputTokens") =>
    cases.reduce((total, { played }) => total + played[count], 0);
  return {
    cases: cases.length,
    wanted: { plans: plans.length, refusals: refusals.length, questions: questions.length },
    figures: {
      nodeF1: points(f1Of(sumCounts(comparisons.map(({ nodes }) => nodes)))),
      edgeF1: points(f1Of(sumCounts(comparisons.map(({ edges }) => edges)))),
      argumentF1: points(f1Of(sumCounts(comparisons.map((each) => each.arguments)))),
      exactPlans: share(plans, ({ grade }) => grade.isRight),
      firstTimeValid: share(plans, ({ played }) => played.ending.type === "plan" && played.repairs === 0),
      refusals: share(refusals, ({ grade }) => grade.isRight),
      questions: share(questions, ({ grade }) => grade.isRight),
    },
    calls: sum("calls"),
    repairs: sum("repairs"),
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
  };
}

const share = (cases: readonly GradedCase[], isCounted: (each: GradedCase) => boolean) =>
  cases.length === 0 ? 100 : points(cases.filter(isCounted).length / cases.length);

const points = (fraction: number) => Math.round(fraction * 10_000) / 100;

/** Summaries of all cases, of each source, and of each domain within a source. */
export function summariseAll(cases: readonly GradedCase[]): Map<string, Summary> {
  const groups = new Map<string, GradedCase[]>([["all", [...cases]]]);
  for (const name of ["source", "domain"] as const) {
    for (const each of cases) {
      const group = name === "source" ? each.source : `${each.source}/${each.domain}`;
      groups.set(group, [...(groups.get(group) ?? []), each]);
    }
  }
  return new Map([...groups].map(([group, members]) => [group, summarise(members)]));
}

/** Figures by name, from 0 to 100; higher is better. */
const EntrySchema = z.strictObject({
  cases: z.number().int().min(0),
  figures: z.record(z.string(), z.number().min(0).max(100)),
});
export type BaselineEntry = z.infer<typeof EntrySchema>;

/** The figures of an earlier run: all cases, each source, and some groups. */
export const BaselineSchema = z.record(z.string(), EntrySchema);
export type Baseline = z.infer<typeof BaselineSchema>;

/** A figure that is lower by this many points is a loss. */
const LOSS = 2;

/** The domain with an entry in the baseline, because no other domain measures the caller's time and place. */
const HELD_DOMAIN = "now-and-here";

/** The baseline of a run. Other domains are too small: there one case is many points. */
export function toBaseline(summaries: ReadonlyMap<string, Summary>): Baseline {
  const kept = [...summaries].filter(([group]) => !group.includes("/") || group.endsWith(`/${HELD_DOMAIN}`));
  return Object.fromEntries(
    kept.map(([group, { cases, figures }]) => [group, { cases, figures: { ...figures } }]),
  );
}

/**
 * Losses since the baseline, one line each: figures that are lower by {@link LOSS} points or more, and
 * missing cases. Pure.
 */
export function lossesSince(before: Baseline, now: Baseline): string[] {
  return Object.entries(before).flatMap(([group, was]) => {
    const is = now[group];
    if (!is) return [`${group}: has no cases any more`];
    const fewer = is.cases < was.cases ? [`${group}: ${is.cases} cases, before ${was.cases}`] : [];
    const figures = Object.entries(was.figures).flatMap(([name, before]) => {
      const found = is.figures[name];
      if (found === undefined) return [`${group}: ${name} is not measured any more`];
      // Compared in integer hundredths, so that rounding of floats does not matter.
      const isLost = Math.round((before - found) * 100) >= LOSS * 100;
      return isLost ? [`${group}: ${name} is ${found}, before ${before}`] : [];
    });
    return [...fewer, ...figures];
  });
}

type Column = readonly [title: string, of: (summary: Summary) => string];

const figure = (value: number, counted: number) => (counted === 0 ? "-" : value.toFixed(1));
const plans = (name: "exactPlans" | "firstTimeValid") => (summary: Summary) =>
  figure(summary.figures[name], summary.wanted.plans);

const COLUMNS: readonly Column[] = [
  ["cases", ({ cases }) => String(cases)],
  ["node F1", ({ figures }) => figures.nodeF1.toFixed(1)],
  ["edge F1", ({ figures }) => figures.edgeF1.toFixed(1)],
  ["arg F1", ({ figures }) => figures.argumentF1.toFixed(1)],
  ["exact", plans("exactPlans")],
  ["1st valid", plans("firstTimeValid")],
  ["refusals", ({ figures, wanted }) => figure(figures.refusals, wanted.refusals)],
  ["questions", ({ figures, wanted }) => figure(figures.questions, wanted.questions)],
  ["calls", ({ calls }) => String(calls)],
  ["repairs", ({ repairs }) => String(repairs)],
  ["tokens in", ({ inputTokens }) => String(inputTokens)],
  ["tokens out", ({ outputTokens }) => String(outputTokens)],
];

/**
 * The summaries as lines of a table, in points of 100; a dash when there is nothing to count. The summary of
 * all cases is last.
 */
export function reportTable(summaries: ReadonlyMap<string, Summary>): string[] {
  const groups = [...summaries].toSorted(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b));
  const rows = [
    ["", ...COLUMNS.map(([title]) => title)],
    ...groups.map(([group, summary]) => [group, ...COLUMNS.map(([, of]) => of(summary))]),
  ];
  return alignColumns(rows);
}

/** Order of the groups: domains, then sources, then all cases. */
function rank(group: string): number {
  if (group === "all") return 2;
  return group.includes("/") ? 0 : 1;
}
