import { ApiRefusedError, ApiUnreachableError } from "../errors.ts";
import type { CallOptions } from "../http/transport.ts";
import { hasEnded, isAtRest } from "../request/need.ts";
import type { RequestRun } from "../request/run.ts";

/** Options of following a request. */
export interface FollowOptions {
  /**
   * `rest`: until the request has ended or waits for a client or operator. `end`: until it has ended. Default
   * `rest`.
   */
  until?: "rest" | "end" | undefined;
  /**
   * True when the API has just accepted the request: an API that cannot be reached is then tried again from
   * the beginning. Default: before its first answer it is an error, such as a wrong address.
   */
  wasAccepted?: boolean | undefined;
  /** Ends the following; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Called when the API does not answer and is tried again. */
  onTrouble?: ((error: Error) => void) | undefined;
}

/** Yields the state of a request now and after each observed change, and returns when `until` is reached. */
export type FollowRequest = (requestId: string, options?: FollowOptions) => AsyncIterable<RequestRun>;

/** The two ways to observe changes. */
export interface ProgressReads {
  /** The state now. */
  progress(requestId: string, options: CallOptions): Promise<RequestRun>;
  /** The state now, and after each change. */
  changes(requestId: string, options: CallOptions): AsyncIterable<RequestRun>;
}

/** True when `until` is reached. */
export function hasReached(request: RequestRun, until: FollowOptions["until"]): boolean {
  return until === "end" ? hasEnded(request) : isAtRest(request);
}

/** True for a temporary error: the API is being restarted, or is overloaded. */
export function isTemporary(error: unknown): error is Error {
  return error instanceof ApiRefusedError ? error.retryable : error instanceof ApiUnreachableError;
}
