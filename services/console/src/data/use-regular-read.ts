import type { Operation } from "@planwright/client";
import { useEffect, useState } from "react";
import { useIsVisible } from "../browser/use-is-visible.ts";
import { type ApiProblem, problemOf } from "./api-problem.ts";
import { useClient } from "./client-context.ts";

/** The newest answer to a polled query. */
export interface RegularRead<Result> {
  /** Null before the first answer; the last answer stays while the API cannot be reached. */
  data: Result | null;
  problem: ApiProblem | null;
  /** When the newest answer arrived, in milliseconds; null before the first. */
  readAt: number | null;
}

/**
 * Polls a query that has no feed while the page is visible. After a refusal that is not retryable it stops.
 * @param everyMs - wait from an answer to the next query
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
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = () => {
      if (!controller.signal.aborted) timer = setTimeout(() => void poll(), everyMs);
    };
    async function poll(): Promise<void> {
      try {
        const data = await client.execute(operation, JSON.parse(key) as Variables, {
          signal: controller.signal,
        });
        setRead({ data, problem: null, readAt: Date.now() });
        schedule();
      } catch (error) {
        if (controller.signal.aborted) return;
        const problem = problemOf(error);
        setRead((before) => ({ ...before, problem }));
        if (problem.isTemporary) schedule();
      }
    }
    void poll();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [client, operation, key, everyMs, isVisible]);
  return read;
}
