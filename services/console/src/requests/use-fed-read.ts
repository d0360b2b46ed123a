import type { Operation } from "@planwright/client";
import { useEffect, useRef, useState } from "react";
import { useClient } from "../data/client-context.ts";
import { FOLLOW_REQUESTS } from "../data/needs-operations.ts";
import { useStream } from "../data/use-stream.ts";

/** Shortest time between two reads, in milliseconds: many requests may change at once. */
const READ_EVERY_MS = 1_000;

/**
 * The answer to a query about all requests; null before the first. It is read when the list of all requests
 * tells of a change: its feed is shared, so this takes no connection of its own.
 */
export function useFedRead<Result>(operation: Operation<Result, Record<string, never>>): Result | null {
  const client = useClient();
  const [result, setResult] = useState<Result | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isAskedAgain = useRef(false);
  useEffect(() => () => clearTimeout(timer.current), []);

  function read(): void {
    if (timer.current !== undefined) {
      isAskedAgain.current = true;
      return;
    }
    isAskedAgain.current = false;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      if (isAskedAgain.current) read();
    }, READ_EVERY_MS);
    client.execute(operation, {}).then(setResult, () => {
      // The list of requests tells what is wrong; what was read last stays, and the next change reads again.
    });
  }
  useStream(FOLLOW_REQUESTS, { filter: {} }, { onResult: read, onProblem: read });
  return result;
}
