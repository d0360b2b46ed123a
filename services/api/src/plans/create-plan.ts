import { ACTIVE_REQUEST_STATUSES } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";
import {
  type ContextInput,
  type PolicyArguments,
  parseContext,
  parsePolicy,
  parseRequestOptions,
  type RequestOptionsInput,
} from "../arguments/parse-options.ts";
import { parseQuery, toIdempotency } from "../arguments/text.ts";
import { BadInputError, OverloadedError } from "../errors/api-error.ts";
import type { WaitOptions } from "../feeds/rest-waits.ts";
import type { GraphqlContext, OperationContext } from "../operation/context.ts";

/** Arguments of the mutation createPlan. */
export interface SentenceInput extends RequestOptionsInput, PolicyArguments {
  query: string;
  execute: boolean;
  /** Time and place of the caller. Default: the time of acceptance, in UTC. */
  context?: ContextInput | null;
  idempotencyKey?: string | null;
}

/**
 * Accepts a sentence. The request is durable when this returns, and is planned in the background. A repeated
 * key returns the first request.
 * @throws {BadInputError | BadPolicyError | IdempotencyKeyReusedError}
 */
export async function createPlan(
  { store, offers, tenant, modelLimits: service, operation }: OperationContext,
  input: SentenceInput,
): Promise<RequestDocument> {
  const query = parseQuery(input.query);
  const { execute } = input;
  const { options, payload } = parseRequestOptions(input, service);
  const context = parseContext(input.context);
  const policy = parsePolicy(input);
  const idempotency = toIdempotency(input.idempotencyKey, [
    "createPlan",
    query,
    execute,
    ...payload,
    ...(context ? [{ context }] : []),
    ...(policy ? [{ policy }] : []),
  ]);
  const request = await store.createRequest({
    tenant,
    query,
    autoExecute: execute,
    ...options,
    context,
    policy,
    trace: operation?.origin,
    idempotency,
  });
  operation?.about(request._id, request.trace);
  if (request.status === "PLANNING") offers.offerPlanning(request);
  return request;
}

/** Longest wait for the end of a new request, in milliseconds. */
const MAX_WAIT_MS = 30_000;

/** The argument for waiting. */
export interface WaitInput {
  /** Longest wait in milliseconds, 0 to 30,000. Default 0: no wait. */
  waitMs?: number | null;
}

/** @throws {BadInputError} for a number outside 0 to 30,000 */
export function parseWait({ waitMs }: WaitInput): number {
  const wait = waitMs ?? 0;
  if (Number.isInteger(wait) && wait >= 0 && wait <= MAX_WAIT_MS) return wait;
  throw new BadInputError(
    "waitMs",
    `waitMs is ${wait}; 0 to ${MAX_WAIT_MS} are accepted`,
    "Give less, and read request(requestId) or follow requestUpdated for longer waits.",
  );
}

/**
 * Accepts a request and returns it when it has ended or waits for a person, or its state after waitMs. When
 * too many clients wait, the accepted request is returned at once.
 * @param accept - stores the request
 */
export async function acceptAndWait(
  context: GraphqlContext,
  { idempotencyKey, ...input }: WaitInput & { idempotencyKey?: string | null },
  accept: () => Promise<RequestDocument>,
): Promise<RequestDocument> {
  const waitMs = parseWait(input);
  if (waitMs === 0) return accept();
  const isWatchOpen = context.feeds.listen();
  const request = await accept();
  // The request of a repeated key may have ended long ago. A new one was stored after the change stream was
  // open.
  const isNew = isWatchOpen && (idempotencyKey ?? null) === null;
  const isActive = ACTIVE_REQUEST_STATUSES.includes(request.status);
  return waitForEnd(context, request, {
    waitMs,
    acceptedPlanId: isNew && isActive ? request.planId : undefined,
  });
}

async function waitForEnd(
  context: GraphqlContext,
  request: RequestDocument,
  options: Pick<WaitOptions, "waitMs" | "acceptedPlanId">,
): Promise<RequestDocument> {
  context.releaseSlot?.();
  try {
    const { feeds, tenant, reads, signal } = context;
    const last = await feeds.untilAtRest(tenant, request._id, { ...options, signal });
    if (!last) return request;
    reads.primeState(last);
    return last.request;
  } catch (error) {
    if (error instanceof OverloadedError) return request;
    throw error;
  }
}
