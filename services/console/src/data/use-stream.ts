import type { Client, Operation } from "@planwright/client";
import { useEffect, useRef, useState } from "react";
import { useIsVisible } from "./browser.ts";
import { FOLLOW_REQUEST, type RequestPage } from "./request-operations.ts";
import { ACTED, type ApiProblem, acted, problemOf, useClient } from "./use-api.ts";
import { RETURNED, returned } from "./use-connection.ts";

/**
 * Follows a subscription while the page is visible. Parts of the page with the same subscription share one
 * connection.
 */
export function useStream<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  listener: StreamListener<Result>,
): void {
  const client = useClient();
  const isVisible = useIsVisible();
  const key = JSON.stringify(variables);
  const newest = useRef(listener);
  newest.current = listener;
  useEffect(() => {
    if (!isVisible) return;
    return joinStream(client, operation, key, {
      onResult: (result) => newest.current.onResult(result),
      onProblem: (problem) => newest.current.onProblem(problem),
    });
  }, [client, operation, key, isVisible]);
}

/** Wait before a broken stream is opened again, in milliseconds. */
const REOPEN_MS = 2_000;

/**
 * Wait before a stream that ended is opened again, in milliseconds. Its request has ended, but may run again.
 */
const ENDED_MS = 10_000;

/** Receives the results and problems of a stream. */
interface StreamListener<Result> {
  onResult: (result: Result) => void;
  onProblem: (problem: ApiProblem) => void;
}

/** One open stream with its listeners. */
interface SharedStream {
  join(listener: StreamListener<unknown>): void;
  /** Closes the stream after the last listener. @returns true when it was the last */
  leave(listener: StreamListener<unknown>): boolean;
}

/** The open streams of each client, by operation and variables. */
const openStreams = new WeakMap<Client, Map<unknown, Map<string, SharedStream>>>();

/**
 * Follows a subscription. All listeners of the same subscription share one stream, because over HTTP/1.1 a
 * browser has six connections to a service for all windows. A broken stream is opened again. The first result
 * of a stream is the current state, so nothing is missed; for the same reason the stream is opened again when
 * a listener joins later. After a refusal that is not retryable, the listener gets the problem and the stream
 * is not opened again.
 * @param key - the variables as JSON
 * @returns removes the listener
 */
function joinStream<Result, Variables extends object>(
  client: Client,
  operation: Operation<Result, Variables>,
  key: string,
  listener: StreamListener<Result>,
): () => void {
  const ofClient = openStreams.get(client) ?? new Map<unknown, Map<string, SharedStream>>();
  openStreams.set(client, ofClient);
  const ofOperation = ofClient.get(operation) ?? new Map<string, SharedStream>();
  ofClient.set(operation, ofOperation);
  const stream = ofOperation.get(key) ?? openStream(client, operation, key);
  ofOperation.set(key, stream);
  // The map has the stream of each operation, so the result type fits.
  const joined = listener as StreamListener<unknown>;
  stream.join(joined);
  return () => {
    if (stream.leave(joined)) ofOperation.delete(key);
  };
}

function openStream<Result, Variables extends object>(
  client: Client,
  operation: Operation<Result, Variables>,
  key: string,
): SharedStream {
  const listeners = new Set<StreamListener<unknown>>();
  let hasResult = false;
  let opened = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function follow({ signal }: AbortController): Promise<void> {
    timer = undefined;
    try {
      const variables = JSON.parse(key) as Variables;
      for await (const result of client.subscribe(operation, variables, { signal })) {
        hasResult = true;
        for (const listener of listeners) listener.onResult(result);
      }
      if (!signal.aborted) timer = setTimeout(open, ENDED_MS);
    } catch (error) {
      if (signal.aborted) return;
      const problem = problemOf(error);
      for (const listener of listeners) listener.onProblem(problem);
      if (problem.isTemporary) timer = setTimeout(open, REOPEN_MS);
    }
  }
  function open(): void {
    clearTimeout(timer);
    opened.abort();
    opened = new AbortController();
    hasResult = false;
    void follow(opened);
  }
  /** What was open before is not trusted after a time without answers. */
  const reopen = () => open();
  function openIfWaiting(): void {
    if (timer !== undefined) open();
  }

  return {
    join(listener) {
      listeners.add(listener);
      if (listeners.size === 1) {
        acted.addEventListener(ACTED, openIfWaiting);
        returned.addEventListener(RETURNED, reopen);
      }
      if (listeners.size === 1 || hasResult) open();
    },
    leave(listener) {
      listeners.delete(listener);
      if (listeners.size > 0) return false;
      acted.removeEventListener(ACTED, openIfWaiting);
      returned.removeEventListener(RETURNED, reopen);
      clearTimeout(timer);
      opened.abort();
      return true;
    },
  };
}

/** The newest state of a followed request. */
interface FollowedRequest {
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
