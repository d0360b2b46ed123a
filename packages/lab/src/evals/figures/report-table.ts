import { alignColumns } from "../../report/align-columns.ts";
import type { Summary } from "./summarise.ts";

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
