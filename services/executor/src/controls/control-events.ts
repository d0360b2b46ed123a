import type { EngineEvent } from "@planwright/engine";
import type { PlanClaim } from "@planwright/store";

/**
 * Turns the controls of clients and operators into events of the engine. Each claim makes an event of each
 * control once. A cancel, a pause and a resume apply as soon as they are known; a decision about a call only
 * when it is in the journal, behind all that its operator saw. An approval applies only to the hash that the
 * operator saw, and a resolution only to one attempt, so that an old resolution never settles a new doubt.
 */
export function createControlEvents({ journal }: Pick<PlanClaim, "journal">): (at: number) => EngineEvent[] {
  let isCancelled = false;
  let isPaused = false;
  let approvals = 0;
  let resolutions = 0;

  function wantsPause(): boolean {
    const last = journal.asked().findLast(({ type }) => type === "pause.asked" || type === "resume.asked");
    return last ? last.type === "pause.asked" : (journal.plan()?.pauseAskedAt ?? null) !== null;
  }

  return (at) => {
    const events: EngineEvent[] = [];
    const plan = journal.plan();
    const wantsCancel = plan?.cancelAskedAt || journal.asked().some(({ type }) => type === "cancel.asked");
    if (wantsCancel && !isCancelled) {
      events.push({ type: "cancel", at, reason: "Cancelled by the client" });
      isCancelled = true;
    }
    if (wantsPause() !== isPaused) {
      isPaused = !isPaused;
      events.push({ type: isPaused ? "pause" : "resume", at });
    }
    if (!plan) return events;
    for (const { stepId, approved, approvalHash, reason } of plan.approvals.slice(approvals)) {
      if (journal.unit(stepId)?.approvalHash !== approvalHash) continue;
      events.push({ type: "approval", stepId, approved, at, reason: reason ?? undefined });
    }
    approvals = plan.approvals.length;
    for (const { key, attempt, resolution } of plan.resolutions.slice(resolutions)) {
      if (journal.unit(key)?.attempts.length === attempt)
        events.push({ type: "resolve", key, resolution, at });
    }
    resolutions = plan.resolutions.length;
    return events;
  };
}
