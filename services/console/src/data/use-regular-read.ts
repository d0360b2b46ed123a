import type { Operation } from "@planwright/client";
import { useEffect, useState } from "react";
import { useIsVisible } from "../browser/use-is-visible.ts";
import { type ApiProblem, problemOf } from "./api-problem.ts";
import { useClient } from "./client-context.ts";

/** The newest answer to a query that is asked again and again. */
export interface RegularRead<Result> {
  /** Null before the first answer; what was read last stays while the API cannot be reached. */
  data: Result | null;
  problem: ApiProblem | null;
  /** When the newest answer came, in milliseconds; null before the first. */
  readAt: number | null;
}

/**
 * The answer to a query that has no feed, asked again while the page is visible. What the API refuses for
 * good is not asked again.
 * @param everyMs - from an answer to the next question
 */
export function useRegularRead<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  everyMs: number,
): RegularRead<Result> {
  const client = useClient();
  const isVisible = useIsVisible();
  const [read, setRead] = useState<RegularRead<Result>>({ data: null, problem: null, readAt: null });
  const key = JSON.stringify(variables);
  useEffect(() => {
    if (!isVisible) return;
    const left = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => {
      if (!left.signal.aborted) timer = setTimeout(() => void ask(), everyMs);
    };
    async function ask(): Promise<void> {
      try {
        const data = await client.execute(operation, JSON.parse(key) as Variables, { signal: left.signal });
        setRead({ data, problem: null, readAt: Date.now() });
        again();
      } catch (error) {
        if (left.signal.aborted) return;
        const problem = problemOf(error);
        setRead((before) => ({ ...before, problem }));
        if (problem.isPassing) again();
      }
    }
    void ask();
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [client, operation, key, everyMs, isVisible]);
  return read;
}
