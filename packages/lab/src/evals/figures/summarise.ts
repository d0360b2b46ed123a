import type { Ending } from "../cases/eval-case.ts";
import { f1Of, sumCounts } from "../grading/counts.ts";
import type { GradedCase } from "../play/graded-case.ts";

/** Figures in points of 100 with two decimals; 100 when there is nothing to count. */
export interface Figures {
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
export interface Summary {
  cases: number;
  wanted: { plans: number; refusals: number; questions: number };
  figures: Figures;
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
