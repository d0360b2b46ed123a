import { alignColumns } from "../../report/align-columns.ts";
import type { BaselineEntry } from "../figures/baseline.ts";
import type { UndeclaredOutcome } from "./play-undeclared.ts";

/** The figures of all requests after this number of recorded runs of each tool, in points of 100. */
export interface UndeclaredSummary {
  runs: number;
  cases: number;
  figures: {
    /** Plans with the wanted effects. */
    rightEnds: number;
    /** Plans in which no step failed because a reference found no value. */
    foundReferences: number;
    /**
     * Of the plans with other effects, or failures: those that were stored with a warning about the
     * reference.
     */
    warnedOf: number;
  };
  repairs: number;
  inputTokens: number;
}

/** One summary for each number of runs, in their order. */
export function summariseUndeclared(
  outcomes: ReadonlyMap<number, readonly UndeclaredOutcome[]>,
): UndeclaredSummary[] {
  return [...outcomes].map(([runs, all]) => {
    const wrong = all.filter(({ isRight }) => !isRight);
    const sum = (of: "repairs" | "inputTokens") => all.reduce((total, { played }) => total + played[of], 0);
    return {
      runs,
      cases: all.length,
      figures: {
        rightEnds: share(all, ({ isRight }) => isRight),
        foundReferences: share(all, ({ hasFailedReference }) => !hasFailedReference),
        warnedOf: share(wrong, ({ played }) => played.doubts > 0),
      },
      repairs: sum("repairs"),
      inputTokens: sum("inputTokens"),
    };
  });
}

const afterRuns = (runs: number) => `after ${runs} ${runs === 1 ? "run" : "runs"}`;

const share = (all: readonly UndeclaredOutcome[], isCounted: (each: UndeclaredOutcome) => boolean) =>
  all.length === 0 ? 100 : Math.round((all.filter(isCounted).length / all.length) * 10_000) / 100;

/**
 * The part of the summaries in the baseline, without `warnedOf`, which says little when few plans are wrong.
 */
export function undeclaredBaseline(summaries: readonly UndeclaredSummary[]): Record<string, BaselineEntry> {
  return Object.fromEntries(
    summaries.map(({ runs, cases, figures: { rightEnds, foundReferences } }) => [
      `undeclared outputs ${afterRuns(runs)}`,
      { cases, figures: { rightEnds, foundReferences } },
    ]),
  );
}

/** The summaries as lines of one table. */
export function undeclaredTable(summaries: readonly UndeclaredSummary[]): string[] {
  return alignColumns([
    [
      "undeclared outputs",
      "cases",
      "right end",
      "references found",
      "wrong, but with warning",
      "repairs",
      "tokens in",
    ],
    ...summaries.map(({ runs, cases, figures, repairs, inputTokens }) => [
      afterRuns(runs),
      String(cases),
      figures.rightEnds.toFixed(1),
      figures.foundReferences.toFixed(1),
      figures.warnedOf.toFixed(1),
      String(repairs),
      String(inputTokens),
    ]),
  ]);
}
