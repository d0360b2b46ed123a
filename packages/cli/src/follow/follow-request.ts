import type { RequestSnapshot } from "../api/request-snapshot.ts";
import { ApiRefusedError, ApiUnreachableError } from "../errors.ts";
import { isAtRest, isOver } from "../report/need.ts";

/** How a request is followed. */
export interface FollowOptions {
  /** True goes on while a client or operator is needed, until the request is over. */
  isPatient: boolean;
  /** Ends the following; its reason is thrown. */
  signal: AbortSignal;
  /** Told when the API gives no answer, and is asked again. */
  onTrouble: (error: Error) => void;
}

/**
 * Tells how a request goes: first how it stands, then again after each change that was seen, and ends once nothing more will
 * change by itself. The one place that knows how changes come.
 * @throws {ApiUnreachableError} when the API stays away, {ApiRefusedError} when it does not know the request
 */
export type FollowRequest = (requestId: string, options: FollowOptions) => AsyncIterable<RequestSnapshot>;

/** True when a request was followed as far as it goes by itself, or to its very end. */
export function isFollowed(request: RequestSnapshot, isPatient: boolean): boolean {
  return isPatient ? isOver(request) : isAtRest(request);
}

/** What may be over in a moment: the API is being restarted, or has too much to do. */
export function isPassing(error: unknown): error is Error {
  return error instanceof ApiRefusedError ? error.retryable : error instanceof ApiUnreachableError;
}
