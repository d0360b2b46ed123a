/**
 * The decisions about calls that a running plan waits for: approvals, and doubts to settle. A decision counts as
 * soon as it is recorded, before an executor has read it. Pure.
 */

/** The part of a step or item that says which decision it waits for. */
interface UndecidedStep {
  key: string;
  status: string;
  approvalHash: string | null;
  attempts: readonly unknown[];
}

/** An approval that was given or refused. */
interface GivenApproval {
  stepId: string;
  approvalHash: string;
}

/** A doubt that was settled; the API says `stepKey`. */
type GivenResolution = { attempt: number } & ({ key: string } | { stepKey: string });

/** True for a step that waits for an approval which was neither given nor refused. */
export function isToApprove(
  stepId: string,
  { status, approvalHash }: Pick<UndecidedStep, "status" | "approvalHash">,
  approvals: readonly GivenApproval[],
): boolean {
  if (status !== "WAITING_APPROVAL" || approvalHash === null) return false;
  return !approvals.some((given) => given.stepId === stepId && given.approvalHash === approvalHash);
}

/** True for a step or item in doubt whose last attempt no operator has settled. */
export function isToSettle(
  { key, status, attempts }: Pick<UndecidedStep, "key" | "status" | "attempts">,
  resolutions: readonly GivenResolution[],
): boolean {
  if (status !== "IN_DOUBT") return false;
  return !resolutions.some(
    (given) => ("key" in given ? given.key : given.stepKey) === key && given.attempt === attempts.length,
  );
}

/** Steps that wait for an approval and have no decision yet. */
export function stepsToApprove<Step extends UndecidedStep & { id: string }>({
  steps,
  approvals,
}: {
  steps: readonly Step[];
  approvals: readonly GivenApproval[];
}): Step[] {
  return steps.filter((step) => isToApprove(step.id, step, approvals));
}

/**
 * Steps and items in doubt that no operator has settled yet. A forEach step is left out if one of its items
 * is in the list.
 */
export function stepsInDoubt<Step extends UndecidedStep & { id: string; item: number | null }>({
  steps,
  resolutions,
}: {
  steps: readonly Step[];
  resolutions: readonly GivenResolution[];
}): Step[] {
  const open = steps.filter((step) => isToSettle(step, resolutions));
  const withItems = new Set(open.filter(({ item }) => item !== null).map(({ id }) => id));
  return open.filter(({ item, id }) => item !== null || !withItems.has(id));
}
