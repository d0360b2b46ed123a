import type { PlanDocument } from "@planwright/store";
import { PlanningTimeoutError, RequestNotFoundError } from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";
import { invalid, throwIfNeverPlanned } from "../plans/execute-plan.ts";
import { createPlan, type SentenceInput } from "../requests/create-plan.ts";
import { poll } from "./poll.ts";

/** Longest that a client waits for its plan, in milliseconds. */
export const PLANNING_WAIT_MS = 60_000;

/** Arguments of older clients with a sentence. */
export type OlderSentenceInput = Pick<
  SentenceInput,
  "query" | "context" | "profile" | "policy" | "idempotencyKey"
>;

/**
 * Plans a sentence and returns the plan when it is stored; starts nothing.
 * @throws {BadInputError | BadPolicyError | PlanningFailedError | PlanInvalidError | NeedsInputError |
 * PlanningTimeoutError}
 */
export async function createPlanWithRequestId(
  context: OperationContext,
  input: OlderSentenceInput,
  timeoutMs = PLANNING_WAIT_MS,
): Promise<PlanDocument> {
  const { store, tenant, signal } = context;
  const accepted = await createPlan(context, { ...input, execute: false });
  context.releaseSlot?.();
  const ids = { requestId: accepted._id, planId: accepted.planId };
  const request = await poll(
    () => store.getRequest(tenant, accepted._id),
    (found) => found?.status !== "PLANNING",
    { timeoutMs, signal },
  );
  if (!request) throw new RequestNotFoundError(accepted._id);
  if (request.status === "PLANNING") throw new PlanningTimeoutError(ids, timeoutMs);
  const plan = await store.getPlan(tenant, request.planId);
  if (plan && plan.status !== "INVALID") return plan;
  if (plan) throw invalid(request, plan);
  throwIfNeverPlanned(request);
  throw new PlanningTimeoutError(ids, timeoutMs);
}
