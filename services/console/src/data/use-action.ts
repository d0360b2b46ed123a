import type { Operation } from "@planwright/client";
import { useState } from "react";
import { ACTED, acted } from "./acted.ts";
import { type ApiProblem, problemOf } from "./api-problem.ts";
import { useClient } from "./client-context.ts";

/** A command of the API that a person gives, and how it went. */
export interface Action<Result, Variables> {
  /** The answer; null when the command was refused. */
  run: (variables: Variables) => Promise<Result | null>;
  isUnderWay: boolean;
  problem: ApiProblem | null;
}

/** A mutation behind a button: one at a time, and its refusal is shown. */
export function useAction<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
): Action<Result, Variables> {
  const client = useClient();
  const [isUnderWay, setIsUnderWay] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  return {
    isUnderWay,
    problem,
    run: async (variables) => {
      setIsUnderWay(true);
      try {
        const result = await client.execute(operation, variables);
        setProblem(null);
        acted.dispatchEvent(new Event(ACTED));
        return result;
      } catch (error) {
        setProblem(problemOf(error));
        return null;
      } finally {
        setIsUnderWay(false);
      }
    },
  };
}
