import { canonicalJson, type Plan, type ToolDescriptor } from "@planwright/plan";
import type { Ending } from "../cases/eval-case.ts";
import { answersIn, type Deeds, deedsOf, type World } from "../cases/world.ts";
import type { PlanComparison } from "./compare-plans.ts";
import { type Counts, countMatches, sumCounts } from "./counts.ts";
import type { Grade } from "./grade.ts";

const NOTHING: Deeds = { status: "no plan", errors: [], tools: [], calls: [], outputs: null };

/**
 * Grades a plan by what it does in each world beside what the wanted plan does there: the tools that it
 * calls, the calls with all their arguments, and the values of its outputs where the request asks for
 * particular ones (counted as edges). How the plan is written does not matter.
 */
export async function gradeDeeds(
  wanted: Pick<Plan, "steps" | "outputs">,
  ending: Ending,
  { tools, worlds }: { tools: readonly ToolDescriptor[]; worlds: readonly World[] },
): Promise<Grade> {
  const compared: PlanComparison[] = [];
  for (const world of worlds) {
    const answers = answersIn(world, tools);
    const right = await deedsOf(wanted, tools, answers);
    const found = ending.type === "plan" ? await deedsOf(ending.plan, tools, answers) : NOTHING;
    compared.push(compareDeeds(right, found));
  }
  const sum = (of: (each: PlanComparison) => Counts) => sumCounts(compared.map(of));
  const comparison: PlanComparison = {
    nodes: sum(({ nodes }) => nodes),
    edges: sum(({ edges }) => edges),
    arguments: sum((each) => each.arguments),
    isExact: compared.every(({ isExact }) => isExact),
  };
  return { comparison, isRight: comparison.isExact };
}

/** Pure. */
export function compareDeeds(wanted: Deeds, found: Deeds): PlanComparison {
  const nodes = countMatches(wanted.tools, found.tools);
  const told = countMatches(wanted.calls, found.calls);
  const edges = wanted.outputs
    ? countMatches(wanted.outputs, found.outputs ?? [canonicalJson("all of them")])
    : { right: 0, wrong: 0, missed: 0 };
  const isSame = [nodes, told, edges].every(({ wrong, missed }) => wrong + missed === 0);
  return { nodes, edges, arguments: told, isExact: isSame && wanted.status === found.status };
}
