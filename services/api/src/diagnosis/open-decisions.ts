import type { PlanFact, StepFact } from "./facts.ts";

/** Steps that wait for an approval that was neither given nor refused. */
export function stepsToApprove({ steps, approvals }: PlanFact): StepFact[] {
  return steps.filter(
    (step) =>
      step.status === "WAITING_APPROVAL" &&
      step.approvalHash !== null &&
      !approvals.some(({ stepId, approvalHash }) => stepId === step.id && approvalHash === step.approvalHash),
  );
}

/**
 * Steps and items in doubt that no operator has settled, without forEach steps whose items can be settled.
 */
export function stepsInDoubt({ steps, resolutions }: PlanFact): StepFact[] {
  const open = steps.filter(
    (step) =>
      step.status === "IN_DOUBT" &&
      !resolutions.some(({ key, attempt }) => key === step.key && attempt === step.attempts.length),
  );
  const withItems = new Set(open.filter(({ item }) => item !== null).map(({ id }) => id));
  return open.filter(({ item, id }) => item !== null || !withItems.has(id));
}

/** Calls that run now. For a forEach step its items count, not the step itself. */
export function runningCalls({ steps }: PlanFact): number {
  const lists = new Set(steps.filter(({ item }) => item !== null).map(({ id }) => id));
  return steps.filter(({ id, item, status }) => status === "RUNNING" && (item !== null || !lists.has(id)))
    .length;
}
