import type { Operation } from "@planwright/client";
import { useEffect, useRef } from "react";
import { useIsVisible } from "../browser/use-is-visible.ts";
import { ACTED, acted } from "./acted.ts";
import { type ApiProblem, problemOf } from "./api-problem.ts";
import { useClient } from "./client-context.ts";

/** Wait before a stream that broke off is opened again, in milliseconds. */
const AGAIN_MS = 2_000;

/** Wait before a stream that ended is opened again, in milliseconds: its request has ended, but may be run again. */
const ENDED_MS = 10_000;

/** What is done with the results of a stream, and with its troubles. */
export interface StreamListener<Result> {
  onResult: (result: Result) => void;
  onProblem: (problem: ApiProblem) => void;
}

/**
 * Follows a subscription while the page is visible. One that breaks off is opened again: its first result is the state of then, so nothing is
 * missed. What the API refuses for good is told and not asked again.
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
    const left = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function follow(): Promise<void> {
      timer = undefined;
      try {
        const wanted = JSON.parse(key) as Variables;
        for await (const result of client.subscribe(operation, wanted, { signal: left.signal }))
          newest.current.onResult(result);
        if (!left.signal.aborted) timer = setTimeout(() => void follow(), ENDED_MS);
      } catch (error) {
        if (left.signal.aborted) return;
        const problem = problemOf(error);
        newest.current.onProblem(problem);
        if (problem.isPassing) timer = setTimeout(() => void follow(), AGAIN_MS);
      }
    }
    function followAgain(): void {
      if (timer === undefined) return;
      clearTimeout(timer);
      void follow();
    }
    void follow();
    acted.addEventListener(ACTED, followAgain);
    return () => {
      acted.removeEventListener(ACTED, followAgain);
      left.abort();
      clearTimeout(timer);
    };
  }, [client, operation, key, isVisible]);
}
