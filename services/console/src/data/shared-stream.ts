import type { Client, Operation } from "@planwright/client";
import { ACTED, acted } from "./acted.ts";
import { type ApiProblem, problemOf } from "./api-problem.ts";

/** Wait before a stream that broke off is opened again, in milliseconds. */
const AGAIN_MS = 2_000;

/**
 * Wait before a stream that ended is opened again, in milliseconds: its request has ended, but may be run
 * again.
 */
const ENDED_MS = 10_000;

/** What is done with the results of a stream, and with its problems. */
export interface StreamListener<Result> {
  onResult: (result: Result) => void;
  onProblem: (problem: ApiProblem) => void;
}

/** One open stream with all that listen to it. */
interface SharedStream {
  join(listener: StreamListener<unknown>): void;
  /** Closes the stream behind the last listener. @returns true when it was the last */
  leave(listener: StreamListener<unknown>): boolean;
}

/** The open streams of each client, by operation and variables. */
const openStreams = new WeakMap<Client, Map<unknown, Map<string, SharedStream>>>();

/**
 * Follows a subscription together with all that follow the same one: over HTTP/1.1 a browser has six
 * connections to a service, for all windows. A stream that breaks off is opened again. Its first result is
 * the state of then, so nothing is missed; a listener that joins later has the stream opened again for the
 * same reason. What the API refuses for good is told and not asked again.
 * @param key - the variables as JSON
 * @returns ends the listening
 */
export function joinStream<Result, Variables extends object>(
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
  // The stream is kept under its operation, so its results are those of the listener.
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
  let isTold = false;
  let opened = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function follow({ signal }: AbortController): Promise<void> {
    timer = undefined;
    try {
      const variables = JSON.parse(key) as Variables;
      for await (const result of client.subscribe(operation, variables, { signal })) {
        isTold = true;
        for (const listener of listeners) listener.onResult(result);
      }
      if (!signal.aborted) timer = setTimeout(open, ENDED_MS);
    } catch (error) {
      if (signal.aborted) return;
      const problem = problemOf(error);
      for (const listener of listeners) listener.onProblem(problem);
      if (problem.isPassing) timer = setTimeout(open, AGAIN_MS);
    }
  }
  function open(): void {
    clearTimeout(timer);
    opened.abort();
    opened = new AbortController();
    isTold = false;
    void follow(opened);
  }
  function openIfWaiting(): void {
    if (timer !== undefined) open();
  }

  return {
    join(listener) {
      listeners.add(listener);
      if (listeners.size === 1) acted.addEventListener(ACTED, openIfWaiting);
      if (listeners.size === 1 || isTold) open();
    },
    leave(listener) {
      listeners.delete(listener);
      if (listeners.size > 0) return false;
      acted.removeEventListener(ACTED, openIfWaiting);
      clearTimeout(timer);
      opened.abort();
      return true;
    },
  };
}
