import type { EngineEvent, FoldedPlan } from "@planwright/engine";
import type { PlanClaim } from "@planwright/store";

/**
 * Turns the controls of clients and operators in the journal into events of the engine. Each claim makes an
 * event of each control once. An approval applies only to the hash that the operator saw, and a resolution
 * only to one attempt, so that an old resolution never settles a new doubt.
 */
export function createControlEvents(
  claim: Pick<PlanClaim, "journal">,
): (plan: FoldedPlan | undefined, at: number) => EngineEvent[] {
  let isCancelled = false;
  let isPaused = false;
  let approvals = 0;
  let resolutions = 0;

  return (plan, at) => {
    if (!plan) return [];
    const events: EngineEvent[] = [];
    if (plan.cancelAskedAt && !isCancelled)
      events.push({ type: "cancel", at, reason: "Cancelled by the client" });
    isCancelled = plan.cancelAskedAt !== null;
    const wantsPause = plan.pauseAskedAt !== null;
    if (wantsPause !== isPaused) events.push({ type: wantsPause ? "pause" : "resume", at });
    isPaused = wantsPause;
    for (const { stepId, approved, approvalHash, reason } of plan.approvals.slice(approvals)) {
      if (claim.journal.unit(stepId)?.approvalHash !== approvalHash) continue;
      events.push({ type: "approval", stepId, approved, at, reason: reason ?? undefined });
    }
    approvals = plan.approvals.length;
    for (const { key, attempt, resolution } of plan.resolutions.slice(resolutions)) {
      if (claim.journal.unit(key)?.attempts.length === attempt)
        events.push({ type: "resolve", key, resolution, at });
    }
    resolutions = plan.resolutions.length;
    return events;
  };
}
