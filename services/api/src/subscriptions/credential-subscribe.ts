import type { ExecutionResult } from "graphql";
import type { CredentialWatch } from "../access/credential-watch.ts";
import { UnauthenticatedError } from "../errors/api-errors.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { Subscribe } from "./observed-subscribe.ts";
import { failedResult, resultsIterator } from "./results-iterator.ts";

/**
 * Ends each subscription when the credential of its caller is over. The last result says so, for whatever carries it: a protocol has no
 * other end with a reason that all of them share. What it subscribes with has a {@link GraphqlContext}.
 */
export function endWithCredential(
  subscribe: Subscribe,
  credentials: Pick<CredentialWatch, "follow">,
): Subscribe {
  return async (args) => {
    const results = await subscribe(args);
    if (!(Symbol.asyncIterator in results)) return results;
    const { caller } = args.contextValue as GraphqlContext;
    let isOver = false;
    let isTold = false;
    let wake: (() => void) | undefined;
    const leave = credentials.follow(caller, () => {
      isOver = true;
      wake?.();
    });

    const nextUnlessOver = async (): Promise<IteratorResult<ExecutionResult> | "over"> => {
      if (isOver) return "over";
      // Made anew for each result: one promise for all of them would remember every wait.
      const over = new Promise<"over">((resolve) => {
        wake = () => resolve("over");
      });
      const found = await Promise.race([over, results.next()]);
      return isOver ? "over" : found;
    };

    return resultsIterator(
      async () => {
        if (isTold) return { done: true, value: undefined };
        try {
          const found = await nextUnlessOver();
          if (found === "over") {
            isTold = true;
            await results.return?.();
            return { done: false, value: failedResult(new UnauthenticatedError("over")) };
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
