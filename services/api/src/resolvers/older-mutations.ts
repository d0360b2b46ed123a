import { setTimeout as sleep } from "node:timers/promises";
import { isTerminalPlanStatus, UNEXECUTED_REQUEST_STATUSES } from "@planwright/plan";
import type { PlanDocument, RequestDocument } from "@planwright/store";
import { shortened } from "../arguments/text.ts";
import {
  BadInputError,
  PlanNotFoundError,
  PlanningTimeoutError,
  RequestNotFoundError,
} from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";
import { createPlan, type SentenceInput } from "../plans/create-plan.ts";
import { invalid, startPlan, throwIfNeverPlanned } from "../plans/execute-plan.ts";
import { findRequest } from "../plans/find-request.ts";

/** Longest that a client waits for the end of its plan, in milliseconds. */
const EXECUTION_WAIT_MS = 30_000;

/**
 * Starts a request's plan unless it was started already, and returns it at its end, or its state after the
 * timeout. A request in PLANNING starts as soon as it has a plan.
 * @throws {BadInputError | RequestNotFoundError | PlanInvalidError | NeedsInputError | PlanningFailedError}
 * @throws {PlanningTimeoutError} when there is no plan by then
 * @throws {PlanNotFoundError} when the request ended without a plan
 */
export async function executeByRequestId(
  context: OperationContext,
  requestId: string,
  timeoutMs = EXECUTION_WAIT_MS,
): Promise<PlanDocument> {
  const { request, plan } = await poll(
    async () => {
      const found = await startedPlan(context, requestId);
      context.releaseSlot?.();
      return found;
    },
    (found) => (found.plan ? isTerminalPlanStatus(found.plan.status) : found.request.status !== "PLANNING"),
    { timeoutMs, signal: context.signal },
  );
  if (plan) return plan;
  const ids = { requestId: request._id, planId: request.planId };
  throw request.status === "PLANNING"
    ? new PlanningTimeoutError(ids, timeoutMs)
    : new PlanNotFoundError(ids.planId);
}

/** The request with its plan, which is started if necessary; null during planning. */
async function startedPlan(
  context: OperationContext,
  requestId: string,
): Promise<{ request: RequestDocument; plan: PlanDocument | null }> {
  const request = await findRequest(context, requestId);
  const isStarted = !UNEXECUTED_REQUEST_STATUSES.includes(request.status);
  const plan = isStarted ? await context.store.getPlan(context.tenant, request.planId) : null;
  // Not planned, INVALID, or READY although the request has another status: treated like a first call.
  const isRunning = plan !== null && plan.status !== "INVALID" && plan.status !== "READY";
  return { request, plan: isRunning ? plan : await startPlan(context, request) };
}

/** Longest that a client waits for its plan, in milliseconds. */
const PLANNING_WAIT_MS = 60_000;

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

/** Options of {@link poll}. */
interface PollOptions {
  /** Longest wait, in milliseconds. */
  timeoutMs: number;
  /** Ends the wait early: the client has disconnected, or the service stops. */
  signal?: AbortSignal | undefined;
}

const FIRST_DELAY_MS = 20;
const MAX_DELAY_MS = 200;
const GROWTH = 1.5;

/**
 * Reads until the value is final, with pauses that grow from 20 ms to 200 ms.
 * Returns the last value, final or not, after the timeout or when the signal is aborted.
 */
export async function poll<T>(
  read: () => Promise<T>,
  isFinal: (value: T) => boolean,
  { timeoutMs, signal }: PollOptions,
): Promise<T> {
  const endsAt = performance.now() + timeoutMs;
  let delayMs = FIRST_DELAY_MS;
  for (;;) {
    const value = await read();
    const leftMs = endsAt - performance.now();
    if (isFinal(value) || leftMs <= 0 || signal?.aborted) return value;
    await pause(Math.min(delayMs, leftMs), signal);
    delayMs = Math.min(delayMs * GROWTH, MAX_DELAY_MS);
  }
}

/** Resolves after the time, or as soon as the signal is aborted. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/**
 * Runs an operation of older clients. For them a malformed id is an unknown id, because they compare the text
 * of that error.
 * @throws {RequestNotFoundError} for a malformed id, and every error of the operation
 */
export async function malformedIsUnknown<T>(id: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const isMalformed = error instanceof BadInputError && /^(request|plan)Id$/.test(error.facts.argument);
    if (!isMalformed) throw error;
    throw new RequestNotFoundError(shortened(id));
  }
}
