import { distance } from "fastest-levenshtein";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { cut } from "../diagnostics/diagnostic-collector.ts";
import { wordsOf } from "../diagnostics/nearest-name.ts";
import type { Plan } from "../document/plan.ts";
import { toolOfStep } from "../document/step.ts";
import { findLeftOut } from "../tools/name-tools.ts";
import type { LeftOutTool, ToolDescriptor } from "../tools/tool-descriptor.ts";

const MAX_NAMES = 50;
const MAX_TOOLS = 2_000;
const MAX_LENGTH = 128;
const SHOWN = 5;
/** Minimum similarity of a suggested name. */
const MIN_SIMILARITY = 0.5;
/** Maximum difference in similarity between a suggested name and the nearest one. */
const MAX_DIFFERENCE = 0.3;

/**
 * The diagnostics, with up to 5 most similar names added for each unknown tool, so that a repair can choose.
 * The diagnostic of a left-out tool stays: it says why no plan can use the tool.
 */
export function withNearestTools(
  diagnostics: readonly Diagnostic[],
  plan: Plan,
  tools: readonly ToolDescriptor[],
  leftOut: readonly LeftOutTool[] = [],
): Diagnostic[] {
  const names = [...new Set(tools.slice(0, MAX_TOOLS).map(({ name }) => name))];
  const toolOf = new Map(plan.steps.map((step) => [step.id, toolOfStep(step)]));
  const known = new Map<string, string[]>();
  return diagnostics.map((diagnostic) => {
    const wanted = toolOf.get(diagnostic.stepId ?? "");
    if (diagnostic.code !== "TOOL_UNKNOWN" || wanted === undefined) return diagnostic;
    if (findLeftOut(leftOut, wanted)) return diagnostic;
    if (!known.has(wanted) && known.size < MAX_NAMES) known.set(wanted, nearestTools(wanted, names));
    const near = withFirst(diagnostic.suggestion, known.get(wanted) ?? []);
    const [first] = near;
    if (first === undefined) return diagnostic;
    const others =
      near.length > 1 ? `; the nearest tools are ${near.join(", ")}` : `; did you mean ${first}?`;
    const message = `step ${diagnostic.stepId} calls ${cut(wanted)}: no such tool${others}`;
    return { ...diagnostic, message, suggestion: first };
  });
}

function withFirst(first: string | undefined, names: readonly string[]): string[] {
  const all = first === undefined ? names : [first, ...names.filter((name) => name !== first)];
  return all.slice(0, SHOWN);
}

function nearestTools(wanted: string, names: readonly string[]): string[] {
  if (wanted.length > MAX_LENGTH) return [];
  const all = names.map((name) => ({ name, value: similarity(wanted, name) }));
  const least = Math.max(MIN_SIMILARITY, ...all.map(({ value }) => value - MAX_DIFFERENCE));
  return all
    .filter(({ value }) => value >= least)
    .toSorted((one, other) => other.value - one.value)
    .slice(0, SHOWN)
    .map(({ name }) => name);
}

/**
 * Similarity from 0 to 1: by letters, or by words in any order (`author_create`, `functions.createAuthor`).
 */
function similarity(one: string, other: string): number {
  if (other.length > MAX_LENGTH) return 0;
  const letters =
    1 - distance(one.toLowerCase(), other.toLowerCase()) / Math.max(one.length, other.length, 1);
  const [left, right] = [new Set(wordsOf(one)), new Set(wordsOf(other))];
  const shared = [...left].filter((word) => right.has(word)).length;
  return Math.max(letters, (2 * shared) / Math.max(left.size + right.size, 1));
}
