import { canonicalJson, type Plan, type ToolDescriptor } from "@planwright/plan";
import { answersIn, type Ending, effectsOf, type PlanEffects, type ToolAnswers } from "./cases/eval-case.ts";
import { type Counts, comparePlans, countMatches, type PlanComparison, sumCounts } from "./compare-plans.ts";

/** The grade of an ending. */
export interface Grade {
  /**
   * Compares the wanted plan with the found one. All parts of an unwanted plan are wrong. Null when neither
   * ending is a plan.
   */
  comparison: PlanComparison | null;
  /** True for the right kind of ending, with the right code, questions or plan. */
  isRight: boolean;
}

/** Code of a refusal in which the model asks for missing information in its own words. */
const ASKED_IN_WORDS = "NOT_PLANNABLE";

/**
 * Grades an ending by the wanted one. Pure.
 * @param exactly - false for live models, which ask and refuse in their own words: any question or refusal
 * then counts as the wanted one
 */
export function grade(wanted: Ending, ending: Ending, exactly: boolean): Grade {
  if (wanted.type === "plan" || ending.type === "plan") {
    const wantedPlan = wanted.type === "plan" ? wanted.plan : { steps: [] };
    const comparison = comparePlans(wantedPlan, ending.type === "plan" ? ending.plan : null);
    return { comparison, isRight: comparison.isExact };
  }
  return { comparison: null, isRight: exactly ? isSame(wanted, ending) : isDeclined(ending) };
}

type Declined = Exclude<Ending, { type: "plan" }>;

function isSame(wanted: Declined, ending: Declined): boolean {
  if (wanted.type === "refusal") return ending.type === "refusal" && ending.code === wanted.code;
  if (ending.type !== "questions") return false;
  // When a model asks in its own words, the missing value is not known.
  return ending.missing.length === 0 || wanted.missing.join() === ending.missing.join();
}

/** An error of the provider or an invalid plan is not an answer to a request that cannot be planned. */
const isDeclined = (ending: Declined) =>
  ending.type === "questions" || ending.code === ASKED_IN_WORDS || ending.code === "MODEL_REFUSED";

const NOTHING: PlanEffects = { status: "no plan", errors: [], tools: [], calls: [], outputs: null };

/**
 * Grades a plan by comparing its effects with those of the wanted plan in each world: the tools that it
 * calls, the calls with all arguments, and the values of its outputs if the request asks for particular ones
 * (counted as edges). How the plan is written does not matter.
 */
export async function gradeEffects(
  wanted: Pick<Plan, "steps" | "outputs">,
  ending: Ending,
  { tools, worlds }: { tools: readonly ToolDescriptor[]; worlds: readonly ToolAnswers[] },
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
