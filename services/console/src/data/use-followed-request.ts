import { useState } from "react";
import type { ApiProblem } from "./api-problem.ts";
import type { RequestPage } from "./request-operations.ts";
import { FOLLOW_REQUEST } from "./request-operations.ts";
import { useStream } from "./use-stream.ts";

/** The newest state of a followed request. */
export interface FollowedRequest {
  request: RequestPage | null;
  problem: ApiProblem | null;
  /** When the newest state arrived, in milliseconds; null before the first. */
  readAt: number | null;
}

/** Follows a request while the page is visible. While the API cannot be reached, the last state stays. */
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
