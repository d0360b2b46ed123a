import { toolOfStep } from "@planwright/plan";
import type { StepDocument } from "@planwright/store";
import type { PastPlan } from "./past-plan.ts";

/** Tools whose calls may repeat an effect that cannot be seen from the plan alone. */
export interface ToolsToAskAbout {
  /** A call of the tool ended with an unknown outcome, and is not safe to repeat. */
  always: ReadonlySet<string>;
  /**
   * Some items of a list of its calls completed and others did not; or a call got no answer and is safe to
   * repeat only with its key, which only the same call has.
   */
  whenChanged: ReadonlySet<string>;
}

/** The tools that need an operator's approval, whatever the policy says. Pure. */
export function toolsToAskAbout({ plan, unitsOf, statusOf, unfinished }: PastPlan): ToolsToAskAbout {
  const always = new Set<string>();
  const whenChanged = new Set<string>();
  for (const step of plan.steps) {
    const units = unitsOf.get(step.id) ?? [];
    const isOpen = statusOf.get(step.id) !== "COMPLETED" || unfinished.has(step.id);
    const unanswered = units.filter(isUnanswered);
    const hasKeyedCalls = units.some(({ unansweredCalls }) => (unansweredCalls ?? []).length > 0);
    if (unanswered.some(({ effectClass }) => effectClass !== "K")) always.add(toolOfStep(step));
    const hasDoneItems = units.some(({ item, status }) => item !== null && status === "COMPLETED");
    if (unanswered.length > 0 || (isOpen && (hasKeyedCalls || hasDoneItems)))
      whenChanged.add(toolOfStep(step));
  }
  return { always, whenChanged };
}

/** True when the result of at least one attempt is unknown, and no operator has settled it since. */
function isUnanswered({ status, effectClass, attempts, resolvedBy }: StepDocument): boolean {
  if (status === "COMPLETED" || effectClass === "R" || resolvedBy) return false;
  return attempts.some(({ outcome }) => outcome !== "completed" && outcome !== "failed");
}
