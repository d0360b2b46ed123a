import { useState } from "react";
import type { ApiProblem } from "./api-problem.ts";
import { type RequestFacts } from "./request-facts.ts";
import { FOLLOW_REQUEST } from "./request-operations.ts";
import { useStream } from "./use-stream.ts";

/** A request as it is known here. */
export interface FollowedRequest {
  request: RequestFacts | null;
  problem: ApiProblem | null;
  /** When the newest state came, in milliseconds; null before the first. */
  readAt: number | null;
}

/** Follows a request while the page is visible; what was shown last stays while the API cannot be reached. */
export function useFollowedRequest(requestId: string): FollowedRequest {
  const [state, setState] = useState<FollowedRequest>({ request: null, problem: null, readAt: null });
  useStream(
    FOLLOW_REQUEST,
    { requestId },
    {
      onResult: ({ requestUpdated }) =>
        setState({ request: requestUpdated, problem: null, readAt: Date.now() }),
      onProblem: (problem) => setState((before) => ({ ...before, problem })),
    },
  );
  return state;
}
