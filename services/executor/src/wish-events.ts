import type { EngineEvent } from "@planwright/engine";
import type { PlanClaim, PlanWishes } from "@planwright/store";

/**
 * Turns the wishes of clients and operators, as they stand on the plan, into events. Each word is told once for a claim;
 * an approval is meant for what it was shown for; a resolution for one attempt, so that an old one never settles a new doubt.
 */
export function createWishEvents(claim: PlanClaim): (wishes: PlanWishes, at: number) => EngineEvent[] {
  let seen = -1;
  let approvals = 0;
  let resolutions = 0;
  let isPaused = false;

  return (wishes, at) => {
    if (wishes.wishes <= seen) return [];
    seen = wishes.wishes;
    // What is heard here need not wake anybody when the plan is given back.
    claim.plan.wishes = Math.max(claim.plan.wishes, seen);
    const events: EngineEvent[] = [];
    if (wishes.cancelRequestedAt) events.push({ type: "cancel", at, reason: "Cancelled by the client" });
    const wantsPause = wishes.pauseRequestedAt !== null;
    if (wantsPause !== isPaused) events.push({ type: wantsPause ? "pause" : "resume", at });
    isPaused = wantsPause;
    for (const { stepId, approved, approvalHash, reason } of wishes.approvals.slice(approvals)) {
      if (claim.journal.unit(stepId)?.approvalHash !== approvalHash) continue;
      events.push({ type: "approval", stepId, approved, at, reason: reason ?? undefined });
    }
    approvals = wishes.approvals.length;
    for (const { key, attempt, resolution } of wishes.resolutions.slice(resolutions)) {
      if (claim.journal.unit(key)?.attempts.length === attempt) {
        events.push({ type: "resolve", key, resolution, at });
      }
    }
    resolutions = wishes.resolutions.length;
    return events;
  };
}
