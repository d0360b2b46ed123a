import type { Operation } from "@planwright/client";
import { useState } from "react";
import { ACTED, acted } from "./acted.ts";
import { type ApiProblem, problemOf } from "./api-problem.ts";
import { useClient } from "./client-context.ts";

/** A command of the API, and its result. */
export interface Action<Result, Variables> {
  /** The answer; null when the command was refused. */
  run: (variables: Variables) => Promise<Result | null>;
  isPending: boolean;
  problem: ApiProblem | null;
}

/** A mutation for a button: the button is disabled while it is pending, and a refusal is shown. */
export function useAction<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
): Action<Result, Variables> {
  const client = useClient();
  const [isPending, setIsPending] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  return {
    isPending,
    problem,
    run: async (variables) => {
      setIsPending(true);
      try {
        const result = await client.execute(operation, variables);
        setProblem(null);
        acted.dispatchEvent(new Event(ACTED));
        return result;
      } catch (error) {
        setProblem(problemOf(error));
        return null;
      } finally {
        setIsPending(false);
      }
    },
  };
}
