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
 * The answer to a query, asked anew when its variables change. It is never the answer to earlier variables.
 * @param variables - null: nothing is asked
 * @param revision - asked anew too when this changes; the last answer stays until the new one comes
 */
export function useRead<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
  variables: Variables | null,
  revision: string | number = 0,
): Read<Result> {
  const client = useClient();
  const [read, setRead] = useState<Read<Result> & { key: string }>({ key: "", data: null, problem: null });
  const key = JSON.stringify(variables);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision asks again.
  useEffect(() => {
    const wanted = JSON.parse(key) as Variables | null;
    if (wanted === null) return;
    const left = new AbortController();
    client.execute(operation, wanted, { signal: left.signal }).then(
      (data) => setRead({ key, data, problem: null }),
      (error: unknown) => left.signal.aborted || setRead({ key, data: null, problem: problemOf(error) }),
    );
    return () => left.abort();
  }, [client, operation, key, revision]);
  return read.key === key ? read : { data: null, problem: null };
}
