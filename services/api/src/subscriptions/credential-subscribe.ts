import type { ExecutionResult } from "graphql";
import type { CredentialWatch } from "../access/credential-watch.ts";
import { UnauthenticatedError } from "../errors/access-errors.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { Subscribe } from "./observed-subscribe.ts";
import { failedResult, resultsIterator } from "./results-iterator.ts";

/**
 * Ends each subscription when the credential of its caller ends. The last result is an error with the reason,
 * because the protocols have no common way to end with one. The context value is a {@link GraphqlContext}.
 */
export function endWithCredential(
  subscribe: Subscribe,
  credentials: Pick<CredentialWatch, "follow">,
): Subscribe {
  return async (args) => {
    const results = await subscribe(args);
    if (!(Symbol.asyncIterator in results)) return results;
    const { caller } = args.contextValue as GraphqlContext;
    let hasEnded = false;
    let isErrorSent = false;
    let wake: (() => void) | undefined;
    const leave = credentials.follow(caller, () => {
      hasEnded = true;
      wake?.();
    });

    const nextUnlessEnded = async (): Promise<IteratorResult<ExecutionResult> | "ended"> => {
      if (hasEnded) return "ended";
      // A new promise for each result: a shared one would keep the handlers of every wait.
      const ended = new Promise<"ended">((resolve) => {
        wake = () => resolve("ended");
      });
      const found = await Promise.race([ended, results.next()]);
      return hasEnded ? "ended" : found;
    };

    return resultsIterator(
      async () => {
        if (isErrorSent) return { done: true, value: undefined };
        try {
          const found = await nextUnlessEnded();
          if (found === "ended") {
            isErrorSent = true;
            await results.return?.();
            return { done: false, value: failedResult(new UnauthenticatedError("ended")) };
          }
          if (found.done) leave();
          return found;
        } catch (error) {
          leave();
          throw error;
        }
      },
      async () => {
        leave();
        await results.return?.();
      },
    );
  };
}
