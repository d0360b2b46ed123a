import { hasRequestEnded, isTerminalPlanStatus, isTerminalStepStatus } from "@planwright/plan";
import type {
  AcceptedIds,
  Evidence,
  FinalPlan,
  FinalRequest,
  FinalStep,
  Violation,
} from "../evidence/evidence.ts";
import { CHAOS_TOOLS, LIMITED_TOOL } from "../plans/chaos-plan.ts";
import { versionsByRequest } from "./plan-versions.ts";

/** A plan ends at most this long after its deadline, in milliseconds. */
const AFTER_DEADLINE_MS = 30_000;

/** Checks that every accepted request still exists and has ended. Pure. */
export function checkEndings(evidence: Evidence): Violation[] {
  const { accepted, requests } = evidence;
  const requestOf = new Map(requests.map((request) => [request._id, request]));
  const versionsOf = versionsByRequest(evidence);
  const known = new Set(accepted.map(({ requestId }) => requestId));
  // Every client received its ids in the end, so any other request is a duplicate.
  const extra = requests
    .filter(({ _id }) => !known.has(_id))
    .map(
      ({ _id, planId }): Violation => ({
        kind: "duplicated",
        id: _id,
        expected: "one request for one key",
        found: planId,
      }),
    );
  const wrong = accepted.flatMap((ids) => {
    const request = requestOf.get(ids.requestId);
    if (request === undefined) return [lost(ids.requestId, "the accepted request in MongoDB", "nothing")];
    const versions = versionsOf.get(ids.requestId) ?? [];
    const strange = [request, ...versions.map(({ plan }) => plan)].filter(
      ({ tenant }) => tenant !== ids.tenant,
    );
    if (strange.length > 0)
      return strange.map(({ _id, tenant }) =>
        lost(_id, `a record of tenant ${ids.tenant}`, `one of ${tenant}`),
      );
    if (versions[0]?.plan._id !== ids.planId) return checkUnplanned(ids, request);
    const last = versions.at(-1)?.plan._id;
    const current =
      last === request.planId ? [] : [lost(request._id, `${last}, its last plan`, request.planId)];
    // Each version ends before the next is made. The request shows only the newest version.
    const requestAt = (planId: string): FinalRequest =>
      planId === last ? request : { ...request, status: "COMPLETED" };
    return [
      ...current,
      ...versions.flatMap(({ plan, units }) => checkPlan(requestAt(plan._id), plan, units)),
    ];
  });
  return [...extra, ...wrong];
}

/** Only a request whose planning has ended may have no plan. */
function checkUnplanned({ planId }: AcceptedIds, request: FinalRequest): Violation[] {
  if (request.status === "FAILED" && request.error !== null) return [];
  if (request.status === "PLANNING") return [unfinished(request._id, "a planned request", "PLANNING")];
  return [lost(planId, "the accepted plan in MongoDB", `nothing, with the request ${request.status}`)];
}

function checkPlan(request: FinalRequest, plan: FinalPlan, steps: readonly FinalStep[]): Violation[] {
  const found: Violation[] = steps
    .filter((step) => step.status === "IN_DOUBT" && !mayBeInDoubt(step))
    .map(({ _id, tool }) => unfinished(_id, `a step of ${tool} is never in doubt`, "IN_DOUBT"));
  if (plan.status === "WAITING" && plan.waitReason === "in doubt") {
    if (steps.some(({ status }) => status === "IN_DOUBT")) return found;
    return [...found, unfinished(plan._id, "a step in doubt, since the plan waits for one", "none")];
  }
  if (!isTerminalPlanStatus(plan.status)) {
    const reason = plan.waitReason === null ? "" : ` (${plan.waitReason})`;
    return [...found, unfinished(plan._id, "a plan that has ended", `${plan.status}${reason}`)];
  }
  if (plan.status === "EXPIRED" && !steps.some(mayOutlastPlan)) {
    found.push(unfinished(plan._id, "an end of its work", "EXPIRED, with nothing in doubt or limited"));
  }
  if (!hasRequestEnded(request.status)) {
    found.push(
      unfinished(request._id, `a request that has ended, as its plan is ${plan.status}`, request.status),
    );
  }
  for (const { _id, status, item } of steps) {
    // A failed item, or one in doubt, is an entry in the output of its step; the step counts.
    const mayBeOpen = status === "IN_DOUBT" && (plan.status !== "COMPLETED" || item !== null);
    if (!isTerminalStepStatus(status) && !mayBeOpen) {
      found.push(unfinished(_id, `a step that has ended, as its plan is ${plan.status}`, status));
    } else if (
      plan.status === "COMPLETED" &&
      item === null &&
      status !== "COMPLETED" &&
      status !== "SKIPPED"
    ) {
      found.push(unfinished(_id, "COMPLETED, as its plan is", status));
    }
  }
  const missing = missingSteps(plan, steps);
  if (missing.length > 0)
    found.push(lost(plan._id, "a document for each step", `none for ${missing.join(", ")}`));
  const { deadlineAt, finishedAt } = plan;
  if (deadlineAt && finishedAt && finishedAt.getTime() > deadlineAt.getTime() + AFTER_DEADLINE_MS) {
    const lateMs = finishedAt.getTime() - deadlineAt.getTime();
    found.push(unfinished(plan._id, "its end within 30 s of the deadline", `${lateMs} ms after it`));
  }
  return found;
}

/**
 * No plan of a run has work for as long as its deadline, so a plan that expired was lost. Exceptions: it
 * waited for an operator, or for a slot of a limited tool. After each loss of Redis's memory no caller gets a
 * slot for a while, and faults may come faster than that.
 */
function mayOutlastPlan({ status, tool }: FinalStep): boolean {
  return status === "IN_DOUBT" || (tool === LIMITED_TOOL && status !== "COMPLETED");
}

/**
 * A call that may be repeated is in doubt only when one of its attempts got no answer. A read is never in
 * doubt.
 */
function mayBeInDoubt({ tool, attempts }: FinalStep): boolean {
  const { toolClass, isCounted } = CHAOS_TOOLS[tool] ?? {};
  if (toolClass === "U" || toolClass === "V") return true;
  return (
    isCounted === true && attempts.some(({ outcome }) => outcome !== "completed" && outcome !== "failed")
  );
}

function missingSteps(plan: FinalPlan, steps: readonly FinalStep[]): string[] {
  const keys = new Set(steps.map(({ key }) => key));
  return (plan.plan?.steps ?? []).map((step): string => step.id).filter((id) => !keys.has(id));
}

const lost = (id: string, expected: string, found: string): Violation => ({
  kind: "lost",
  id,
  expected,
  found,
});
const unfinished = (id: string, expected: string, found: string): Violation => ({
  kind: "unfinished",
  id,
  expected,
  found,
});
