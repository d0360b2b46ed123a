import { useEffect, useState } from "react";
import type { ApiProblem } from "./api-problem.ts";
import { useClient } from "./client-context.ts";
import { FOLLOW_REQUEST, READ_REQUEST, type RequestFacts } from "./operations.ts";
import { useStream } from "./use-stream.ts";

/** A request as it is known here. */
export interface FollowedRequest {
  request: RequestFacts | null;
  problem: ApiProblem | null;
  /** When the newest state came, in milliseconds; null before the first. */
  readAt: number | null;
}

/**
 * Follows a request while the page is visible; what was shown last stays while the API cannot be reached. It is read
 * once beside the stream, whose first state comes about a second later when nobody else follows anything: the API
 * opens its change stream for the first reader.
 */
export function useFollowedRequest(requestId: string): FollowedRequest {
  const client = useClient();
  const [state, setState] = useState<FollowedRequest>({ request: null, problem: null, readAt: null });
  useEffect(() => {
    const left = new AbortController();
    client.execute(READ_REQUEST, { requestId }, { signal: left.signal }).then(
      ({ request }) =>
        // The stream may have been faster, and its state is newer.
        setState((before) =>
          before.request || !request ? before : { request, problem: null, readAt: Date.now() },
        ),
      () => {
        // The stream tells what is wrong, and tries again.
      },
    );
    return () => left.abort();
  }, [client, requestId]);
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
