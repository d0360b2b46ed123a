import type { Operation } from "@planwright/client";
import { useEffect, useState } from "react";
import { type ApiProblem, problemOf } from "./api-problem.ts";
import { useClient } from "./client-context.ts";

/** The result of a query. */
export interface Read<Result> {
  /** Null before the first answer, and after an error. */
  data: Result | null;
  problem: ApiProblem | null;
}

/**
 * The answer to a query, which is sent again when its variables change. It is never the answer to earlier
 * variables.
 * @param variables - null: nothing is sent
 * @param revision - the query is also sent again when this changes; the last answer stays until the new one
 * arrives
 */
export function useRead<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
  variables: Variables | null,
  revision: string | number = 0,
): Read<Result> {
  const client = useClient();
  const [read, setRead] = useState<Read<Result> & { key: string }>({ key: "", data: null, problem: null });
  const key = JSON.stringify(variables);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision sends it again.
  useEffect(() => {
    const wanted = JSON.parse(key) as Variables | null;
    if (wanted === null) return;
    const controller = new AbortController();
    client.execute(operation, wanted, { signal: controller.signal }).then(
      (data) => setRead({ key, data, problem: null }),
      (error: unknown) =>
        controller.signal.aborted || setRead({ key, data: null, problem: problemOf(error) }),
    );
    return () => controller.abort();
  }, [client, operation, key, revision]);
  return read.key === key ? read : { data: null, problem: null };
}
