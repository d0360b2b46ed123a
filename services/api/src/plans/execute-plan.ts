import { canonicalDigest, isTerminalPlanStatus } from "@planwright/plan";
import type {
  AmendAnswer,
  PlanDocument,
  PlanGraph,
  ReplanAnswer,
  RequestDocument,
  RerunAnswer,
} from "@planwright/store";
import { quoted } from "../arguments/text.ts";
import {
  BadInputError,
  MAX_NAMED,
  NeedsInputError,
  NotReadyError,
  PlanInvalidError,
  PlanningFailedError,
  PlanStaleError,
  RepeatNotAcceptedError,
  RequestNotFoundError,
  StateConflictError,
} from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";
import { findPlan, findRequest } from "./find-request.ts";

/**
 * Queues a READY plan; a plan that was started is not changed. A request in PLANNING starts as soon as it has
 * a plan; the result is null until then.
 * @throws {NeedsInputError | PlanningFailedError | PlanInvalidError} when there is no plan that can run
 */
export async function startPlan(
  { store, offers, tenant, by }: OperationContext,
  request: RequestDocument,
  planId = request.planId,
): Promise<PlanDocument | null> {
  const plan = await store.queuePlan(tenant, planId, request._id, by);
  if (!plan) throwIfNeverPlanned(request);
  if (plan?.status === "INVALID") throw invalid(request, plan);
  if (plan?.status === "QUEUED") offers.offerExecution(plan);
  return plan;
}

/** Arguments of the mutation executePlan. */
export interface ExecuteInput {
  planId?: string | null;
  requestId?: string | null;
  /** Hash of the plan that the client has seen: no other plan is started. */
  planHash?: string | null;
}

/**
 * Starts a plan by its id or the id of its request, without waiting. A repeated call for a running plan
 * succeeds, for example after a lost answer.
 * @throws {BadInputError | RequestNotFoundError | PlanNotFoundError}
 * @throws {PlanStaleError | NotReadyError} when the plan is not the one that the client has seen
 * @throws {StateConflictError} for a plan that has ended, is paused, or is being cancelled
 * @throws {NeedsInputError | PlanningFailedError | PlanInvalidError} when there is no plan that can run
 */
export async function executePlan(
  context: OperationContext,
  { planHash, ...ids }: ExecuteInput,
): Promise<RequestDocument> {
  const hash = planHash === undefined || planHash === null ? null : parsePlanHash(planHash);
  const plan = ids.planId ? await findPlan(context, ids.planId) : null;
  const requestId = plan?.requestId ?? ids.requestId;
  if (!requestId || (ids.planId && ids.requestId)) {
    throw new BadInputError(
      "planId",
      "executePlan needs exactly one of planId and requestId",
      "Give planId to start that plan, or requestId to start the request's current plan.",
    );
  }
  const request = await findRequest(context, requestId);
  if (hash !== null) await requireHash(context, request, { plan, hash });
  const started = await startPlan(context, request, plan?._id ?? (hash ? request.planId : undefined));
  if (started) throwIfNotStarted(request, started);
  return findRequest(context, requestId);
}

/**
 * @throws {PlanStaleError} for a plan with another hash
 * @throws {NotReadyError} while there is no plan
 */
async function requireHash(
  { store, tenant }: OperationContext,
  request: RequestDocument,
  seen: { plan: PlanDocument | null; hash: string },
): Promise<void> {
  const { _id: requestId, planId } = request;
  const plan = seen.plan ?? (await store.getPlan(tenant, planId));
  if (!plan) {
    throwIfNeverPlanned(request);
    throw new NotReadyError({ requestId, planId });
  }
  const planHash = planHashOf(plan);
  if (planHash === null) throw invalid(request, plan);
  if (planHash === seen.hash) return;
  throw new PlanStaleError({ requestId, planId: plan._id, version: plan.version, planHash });
}

/** @throws {StateConflictError} for a plan that does not run, or is being paused or cancelled */
function throwIfNotStarted(request: RequestDocument, plan: PlanDocument): void {
  const facts = { requestId: request._id, status: plan.status };
  if (isTerminalPlanStatus(plan.status)) {
    const isOld = plan._id !== request.planId;
    throw new StateConflictError(
      facts,
      `Version ${plan.version} of the plan has ended, it is ${plan.status}: a plan is executed at most once, and nothing was executed now`,
      isOld
        ? `Version ${request.version} is current, ${request.planId}: executePlan(requestId) starts it if it is READY, and rerun(requestId) runs the steps that did not complete if it has ended.`
        : "rerun(requestId) makes a new version and runs the steps that did not complete; with from, that step and its dependent steps again.",
    );
  }
  if (plan.cancelRequestedAt) {
    throw new StateConflictError(
      facts,
      "The plan is being cancelled: nothing was started",
      "Wait until it is CANCELLED; rerun then runs the steps that did not complete.",
    );
  }
  if (plan.pauseRequestedAt) {
    throw new StateConflictError(
      facts,
      `The plan is ${plan.status === "PAUSED" ? "paused" : "being paused"}: nothing was started`,
      "Continue it with resume.",
    );
  }
}

/** @throws the error of a request whose planning ended without a plan that can run */
export function throwIfNeverPlanned(request: RequestDocument): void {
  const ids = { requestId: request._id, planId: request.planId };
  if (request.status === "NEEDS_INPUT") {
    throw new NeedsInputError(
      ids,
      request.questions.map(({ question }) => question),
    );
  }
  if (request.status === "CANCELLED") {
    throw new StateConflictError(
      { requestId: request._id, status: request.status },
      "The request was cancelled before it had a plan: nothing was executed",
      "Send it again with createPlan.",
    );
  }
  if (request.status !== "FAILED" || !request.error) return;
  throw new PlanningFailedError(ids, request.error);
}

/** The error of an invalid plan: that of the planner if planning failed, otherwise its diagnostics. */
export function invalid(
  request: RequestDocument,
  plan: PlanDocument,
): PlanInvalidError | PlanningFailedError {
  const ids = { requestId: request._id, planId: plan._id };
  return request.error && request.error.code !== "PLAN_INVALID" && request.planId === plan._id
    ? new PlanningFailedError(ids, request.error)
    : new PlanInvalidError(ids, plan.diagnostics);
}

/**
 * SHA-256 of the executed content: the version, the plan, and the tools at the time when it was made. Null
 * without a plan that can be executed. Pure.
 */
export function planHashOf({ _id, plan, toolPins }: PlanGraph): string | null {
  return plan && canonicalDigest({ planId: _id, plan, toolPins: toolPins ?? [] });
}

/** @throws {BadInputError} for text that cannot be a hash */
function parsePlanHash(given: string): string {
  if (/^[0-9a-f]{64}$/.test(given)) return given;
  throw new BadInputError(
    "planHash",
    `Not the hash of a plan: ${quoted(given)}`,
    "Give planHash of the plan: request(requestId) { plan { planHash } }.",
  );
}

/** Why a plan gets no new version, for each of the three mutations. */
type VersionRefusal = Extract<
  RerunAnswer | ReplanAnswer | AmendAnswer,
  {
    type:
      | "other version"
      | "not ended"
      | "in doubt"
      | "repeat not accepted"
      | "invalid"
      | "no plan"
      | "unknown";
  }
>;

/**
 * Throws the error that explains why there is no new version.
 * @param words - parts of the messages: the operation that needs an ended plan, and the noun for the
 * requested version
 * @throws {StateConflictError | RepeatNotAcceptedError | PlanInvalidError | PlanningFailedError | NeedsInputError | NotReadyError |
 * RequestNotFoundError}
 */
export function refuseVersion(
  requestId: string,
  answer: VersionRefusal,
  words: {
    can: string;
    version: string;
    /** Default: "a plan that has ended". */
    plans?: string;
  },
): never {
  switch (answer.type) {
    case "other version": {
      const { status, version: currentVersion, planId } = answer.request;
      throw new StateConflictError(
        { requestId, status, currentVersion, planId },
        `Version ${currentVersion} of the plan is current, and the call names another one as fromVersion: no ${words.version} was made`,
        `Read the results of version ${currentVersion}; if it should ${words.can}, call again with fromVersion: ${currentVersion}.`,
      );
    }
    case "not ended":
      throw new StateConflictError(
        { requestId, status: answer.plan.status },
        `The plan is ${answer.plan.status}: only ${words.plans ?? "a plan that has ended"} can ${words.can}`,
        answer.plan.status === "READY"
          ? "Start it with executePlan."
          : `Wait for its end, or cancel it; it may be the ${words.version} that another client requested.`,
      );
    case "in doubt":
      throw new StateConflictError(
        { requestId, status: "IN_DOUBT", steps: answer.keys.slice(0, MAX_NAMED) },
        `It is not known whether the calls of these steps happened: ${answer.keys.slice(0, MAX_NAMED).join(", ")}`,
        "Settle each of them with resolveInDoubt, then call again.",
      );
    case "repeat not accepted":
      throw new RepeatNotAcceptedError({ requestId, keys: answer.keys });
    case "invalid":
      throw invalid(answer.request, answer.plan);
    case "no plan":
      throwIfNeverPlanned(answer.request);
      throw new NotReadyError({ requestId, planId: answer.request.planId });
    case "unknown":
      throw new RequestNotFoundError(requestId);
  }
}
