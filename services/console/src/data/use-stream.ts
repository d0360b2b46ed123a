import type { Operation } from "@planwright/client";
import { useEffect, useRef } from "react";
import { useIsVisible } from "../browser/use-is-visible.ts";
import { useClient } from "./client-context.ts";
import { joinStream, type StreamListener } from "./shared-stream.ts";

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
