import { ApiRefusedError, ApiUnreachableError } from "../errors.ts";
import type { CallOptions } from "../http/transport.ts";
import { hasEnded, isAtRest } from "../request/need.ts";
import type { RequestProgress } from "../request/request-progress.ts";

/** How a request is followed. */
export interface FollowOptions {
  /**
   * `rest`: until nothing more happens without a client or operator. `end`: until the request has ended.
   * Default `rest`.
   */
  until?: "rest" | "end" | undefined;
  /** Ends the following; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Called when the API gives no answer and is asked again. */
  onTrouble?: ((error: Error) => void) | undefined;
}

/**
 * Yields the state of a request now and after each change that was seen, and returns when `until` is reached.
 */
export type FollowRequest = (requestId: string, options?: FollowOptions) => AsyncIterable<RequestProgress>;

/** The two ways to learn of changes. */
export interface ProgressReads {
  /** The state now. */
  progress(requestId: string, options: CallOptions): Promise<RequestProgress>;
  /** The state now, and after each change. */
  changes(requestId: string, options: CallOptions): AsyncIterable<RequestProgress>;
}

/** True when nothing more has to be waited for. */
export function isFollowed(request: RequestProgress, until: FollowOptions["until"]): boolean {
  return until === "end" ? hasEnded(request) : isAtRest(request);
}

/** True for an error that may pass: the API is being restarted, or has too much to do. */
export function isPassing(error: unknown): error is Error {
  return error instanceof ApiRefusedError ? error.retryable : error instanceof ApiUnreachableError;
}
