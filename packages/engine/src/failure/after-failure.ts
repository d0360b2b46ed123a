import type { Caller } from "../state/engine-state.ts";
import { mayHaveActed } from "../state/may-have-acted.ts";
import type { Outcome, StepError } from "../state/protocol.ts";
import { retryDelay } from "./retry-delay.ts";

/** What a failed attempt leads to. */
export type AfterFailure =
  | { type: "fail" }
  | { type: "retry"; delayMs: number }
  /** The lookup tool is asked for the result of the call. */
  | { type: "look up" }
  | { type: "doubt" };

/**
 * What to do after a failed attempt. When nothing was sent, {@link afterUnreachable} decides instead. A call
 * is sent again only when that is safe for its effect class. With effect `none` it is safe for all classes.
 * After a lost answer (`unknown`) K and R are sent again, V is looked up, and U is in doubt. After an error
 * that the tool reported, only K and R are sent again, and only when the error is retryable or the plan
 * itself has a `retry`. When no further call is made, a caller that may have acted is in doubt, except after
 * a terminal error of class K: it also answers the earlier calls under that key.
 * @param random - uniform in [0, 1)
 */
export function afterFailure(
  caller: Caller,
  { effect, error, retryAfterMs }: Extract<Outcome, { type: "failed" }>,
  random: number,
): AfterFailure {
  const { step, tool } = { step: caller.step.step, tool: caller.step.tool };
  // The plan sets the number of attempts and the bounds of the wait; the tool's contract sets how the wait
  // grows.
  const backoff = { ...tool.contract.backoff, ...step.retry };
  const isRepeatSafe = tool.effectClass === "K" || tool.effectClass === "R";
  const retry = (): AfterFailure => ({
    type: "retry",
    delayMs: retryDelay(backoff, sent, random, retryAfterMs),
  });
  const sent = sentBy(caller);
  const hasAttempts = sent < backoff.maxAttempts;
  const end = (): AfterFailure => ({ type: mayHaveActed(caller) ? "doubt" : "fail" });
  switch (effect) {
    case "none":
      return error.retryable && hasAttempts ? retry() : end();
    case "reported": {
      const shouldRetry = error.retryable || step.retry !== undefined;
      if (isRepeatSafe && shouldRetry && hasAttempts) return retry();
      return isAnswerToKey(caller, error) ? { type: "fail" } : end();
    }
    case "unknown":
      if (tool.effectClass === "V") return { type: "look up" };
      if (tool.effectClass === "U") return { type: "doubt" };
      return error.retryable && hasAttempts ? retry() : end();
  }
}

/** Number of times that the call of a caller, or of one of its units, was sent, without look-ups. */
export function sentBy({ attempts, unsent }: Pick<Caller, "attempts" | "unsent">): number {
  return attempts - unsent;
}

/**
 * True for a terminal error of a class K tool: it answers every call under the same key. A retryable error
 * does not, because a later answer may differ.
 */
export function isAnswerToKey({ step: { tool } }: Caller, { retryable }: StepError): boolean {
  return tool.effectClass === "K" && !retryable;
}
