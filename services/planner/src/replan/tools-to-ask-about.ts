import { needsAcceptance } from "@planwright/engine";
import { toolOfStep } from "@planwright/plan";
import type { StepDocument } from "@planwright/store";
import type { PastPlan } from "./past-plan.ts";

/** Tools whose calls may repeat an effect that cannot be seen from the plan alone. */
export interface ToolsToAskAbout {
  /** A call of the tool acted or may have acted without completing, and is not safe to repeat. */
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

/**
 * True when a call of the unit acted or may have acted although it did not complete, or when the result of an
 * attempt is unknown; and no operator has settled it since.
 */
function isUnanswered(unit: StepDocument): boolean {
  const { status, effectClass, attempts, resolvedBy } = unit;
  if (status === "COMPLETED" || effectClass === "R" || resolvedBy) return false;
  if (needsAcceptance(unit)) return true;
  return attempts.some(({ outcome }) => outcome !== "completed" && outcome !== "failed");
}
