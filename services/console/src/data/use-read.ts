import type { Operation } from "@planwright/client";
import { useEffect, useState } from "react";
import { type ApiProblem, problemOf } from "./api-problem.ts";
import { useClient } from "./client-context.ts";

/** What a query gave. */
export interface Read<Result> {
  /** Null before the first answer, and after an error. */
  data: Result | null;
  problem: ApiProblem | null;
}

/**
 * The answer to a query, asked anew when its variables change.
 * @param variables - null: nothing is asked
 */
export function useRead<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
  variables: Variables | null,
): Read<Result> {
  const client = useClient();
  const [read, setRead] = useState<Read<Result>>({ data: null, problem: null });
  const key = JSON.stringify(variables);
  useEffect(() => {
    const wanted = JSON.parse(key) as Variables | null;
    if (wanted === null) return;
    const left = new AbortController();
    client.execute(operation, wanted, { signal: left.signal }).then(
      (data) => setRead({ data, problem: null }),
      (error: unknown) => left.signal.aborted || setRead({ data: null, problem: problemOf(error) }),
    );
    return () => left.abort();
  }, [client, operation, key]);
  return read;
}
