import type { RequestDocument } from "@planwright/store";
import { BadInputError, OverloadedError } from "../errors.ts";
import type { GraphqlContext } from "../graphql/context.ts";

/** Longest that a client waits for the end of what it has just sent, in milliseconds. */
const MAX_WAIT_MS = 30_000;

/** What a client says of waiting. */
export interface WaitInput {
  /** Longest wait in milliseconds, 0 to 30,000. Default 0: none. */
  waitMs?: number | null;
}

/** @throws {BadInputError} for a number outside 0 to 30,000 */
export function parseWait({ waitMs }: WaitInput): number {
  const wait = waitMs ?? 0;
  if (Number.isInteger(wait) && wait >= 0 && wait <= MAX_WAIT_MS) return wait;
  throw new BadInputError(
    "waitMs",
    `waitMs is ${wait}; 0 to ${MAX_WAIT_MS} are accepted`,
    "Give less, and read request(requestId) or follow requestUpdated for what takes longer.",
  );
}

/**
 * The request once nothing more happens to it by itself, or as it is when the time is over. It was accepted: where no more can wait, it is
 * given as it is now.
 */
export async function waitForEnd(
  context: GraphqlContext,
  request: RequestDocument,
  waitMs: number,
): Promise<RequestDocument> {
  if (waitMs === 0) return request;
  context.releasePlace?.();
  try {
    const { feeds, tenant, reads, signal } = context;
    const last = await feeds.untilAtRest(tenant, request._id, { waitMs, signal });
    if (!last) return request;
    reads.primeState(last);
    return last.request;
  } catch (error) {
    if (error instanceof OverloadedError) return request;
    throw error;
  }
}
