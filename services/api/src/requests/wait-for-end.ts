import { ACTIVE_REQUEST_STATUSES } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";
import { BadInputError } from "../errors/input-errors.ts";
import { OverloadedError } from "../errors/service-errors.ts";
import type { WaitOptions } from "../feeds/rest-waits.ts";
import type { GraphqlContext } from "../operation/context.ts";

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
