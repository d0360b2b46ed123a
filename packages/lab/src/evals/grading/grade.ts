import type { Ending } from "../cases/eval-case.ts";
import { comparePlans, type PlanComparison } from "./compare-plans.ts";

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
