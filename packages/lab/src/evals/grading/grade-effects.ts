import { canonicalJson, type Plan, type ToolDescriptor } from "@planwright/plan";
import type { Ending } from "../cases/eval-case.ts";
import { answersIn, effectsOf, type PlanEffects, type World } from "../cases/world.ts";
import type { PlanComparison } from "./compare-plans.ts";
import { type Counts, countMatches, sumCounts } from "./counts.ts";
import type { Grade } from "./grade.ts";

const NOTHING: PlanEffects = { status: "no plan", errors: [], tools: [], calls: [], outputs: null };

/**
 * Grades a plan by comparing its effects with those of the wanted plan in each world: the tools that it
 * calls, the calls with all arguments, and the values of its outputs if the request asks for particular ones
 * (counted as edges). How the plan is written does not matter.
 */
export async function gradeEffects(
  wanted: Pick<Plan, "steps" | "outputs">,
  ending: Ending,
  { tools, worlds }: { tools: readonly ToolDescriptor[]; worlds: readonly World[] },
): Promise<Grade> {
  const compared: PlanComparison[] = [];
  for (const world of worlds) {
    const answers = answersIn(world, tools);
    const right = await effectsOf(wanted, tools, answers);
    const found = ending.type === "plan" ? await effectsOf(ending.plan, tools, answers) : NOTHING;
    compared.push(compareEffects(right, found));
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

/** Compares two plans by their effects. Pure. */
export function compareEffects(wanted: PlanEffects, found: PlanEffects): PlanComparison {
  const nodes = countMatches(wanted.tools, found.tools);
  const counted = countMatches(wanted.calls, found.calls);
  const edges = wanted.outputs
    ? countMatches(wanted.outputs, found.outputs ?? [canonicalJson("all of them")])
    : { right: 0, wrong: 0, missed: 0 };
  const isSame = [nodes, counted, edges].every(({ wrong, missed }) => wrong + missed === 0);
  return { nodes, edges, arguments: counted, isExact: isSame && wanted.status === found.status };
}
