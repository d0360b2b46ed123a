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

/**
 * A mutation for a button: the button is disabled while it is pending, and a refusal is shown. When effects would
 * be repeated, the note lists them, and the mutation is sent again once the operator has accepted them.
 */
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
      const accepted = new Set<string>();
      for (;;) {
        setIsPending(true);
        try {
          const more = accepted.size > 0 ? { acceptRepeat: [...accepted] } : {};
          const result = await client.execute(operation, { ...variables, ...more });
          setProblem(null);
          acted.dispatchEvent(new Event(ACTED));
          return result;
        } catch (error) {
          const found = problemOf(error);
          const repeats = found.repeats?.filter((id) => !accepted.has(id)) ?? [];
          if (repeats.length === 0) {
            setProblem(found);
            return null;
          }
          setIsPending(false);
          await new Promise<void>((accept) => setProblem({ ...found, repeats, accept }));
          const named = "acceptRepeat" in variables ? variables.acceptRepeat : [];
          for (const id of [...(Array.isArray(named) ? named : []), ...repeats]) accepted.add(String(id));
        } finally {
          setIsPending(false);
        }
      }
    },
  };
}
