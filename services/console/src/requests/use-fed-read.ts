import type { Operation } from "@planwright/client";
import { useEffect, useRef, useState } from "react";
import { useClient } from "../data/client-context.ts";
import { FOLLOW_REQUESTS } from "../data/needs-operations.ts";
import { useStream } from "../data/use-stream.ts";

/** Shortest time between two reads, in milliseconds: many requests may change at once. */
const READ_EVERY_MS = 1_000;

/**
 * The answer to a query about all requests; null before the first. The query is sent again after each event
 * of the feed of all requests. That feed is shared, so this needs no additional connection.
 */
export function useFedRead<Result>(operation: Operation<Result, Record<string, never>>): Result | null {
  const client = useClient();
  const [result, setResult] = useState<Result | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isReadPending = useRef(false);
  useEffect(() => () => clearTimeout(timer.current), []);

  function read(): void {
    if (timer.current !== undefined) {
      isReadPending.current = true;
      return;
    }
    isReadPending.current = false;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      if (isReadPending.current) read();
    }, READ_EVERY_MS);
    client.execute(operation, {}).then(setResult, () => {
      // The list of requests shows the problem; the last answer stays, and the next event reads again.
    });
  }
  useStream(FOLLOW_REQUESTS, { filter: {} }, { onResult: read, onProblem: read });
  return result;
}
