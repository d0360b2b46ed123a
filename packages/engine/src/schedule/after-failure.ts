import { type BackoffStrategy, isKeyed, isLookedUp, isUnrepeatable } from "@planwright/plan";
import type { Caller } from "../state/engine-state.ts";
import { mayHaveActed, resendsAllItems } from "../state/may-have-acted.ts";
import type { Call, Outcome, StepError, Unreachable } from "../state/protocol.ts";
import { sentBy } from "../state/units.ts";

/** What a failed attempt leads to. */
type AfterFailure =
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
      if (resendsAllItems(tool) && shouldRetry && hasAttempts) return retry();
      return isAnswerToKey(caller, error) ? { type: "fail" } : end();
    }
    case "unknown":
      if (isLookedUp(tool)) return { type: "look up" };
      if (isUnrepeatable(tool)) return { type: "doubt" };
      return error.retryable && hasAttempts ? retry() : end();
  }
}

/**
 * True for a terminal error of a class K tool: it answers every call under the same key. A retryable error
 * does not, because a later answer may differ.
 */
export function isAnswerToKey({ step: { tool } }: Caller, { retryable }: StepError): boolean {
  return isKeyed(tool) && !retryable;
}

/**
 * Delay before the next attempt, in milliseconds: uniform in [0, bound), and never shorter than the wait that
 * the server asked for. The bound is `initialMs` times 2^(attempt - 1) (`exponential`), times `attempt`
 * (`linear`) or times 1 (`fixed`), and at most `maxMs`. Random, so that attempts that failed together are not
 * repeated together.
 * @param backoff - first and longest bound, in milliseconds, and how it grows
 * @param attempt - attempts already made, from 1
 * @param random - uniform in [0, 1)
 * @param retryAfterMs - wait that the server asked for, in milliseconds
 * @see M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015 ("full jitter")
 */
export function retryDelay(
  backoff: { initialMs: number; maxMs: number; strategy: BackoffStrategy },
  attempt: number,
  random: number,
  retryAfterMs = 0,
): number {
  const bound = Math.min(backoff.maxMs, backoff.initialMs * GROWTH[backoff.strategy](attempt));
  return Math.max(Math.floor(random * bound), retryAfterMs);
}

const GROWTH: Readonly<Record<BackoffStrategy, (attempt: number) => number>> = {
  exponential: (attempt) => 2 ** (attempt - 1),
  linear: (attempt) => attempt,
  fixed: () => 1,
};

/**
 * Lower limits for the backoff between two tries, in milliseconds: an unreachable server is not tried in a
 * tight loop.
 */
const MIN_INITIAL_MS = 100;
const MIN_MAX_MS = 5_000;

/**
 * True when nothing was sent because the server could not be reached. Such a call may be repeated in every
 * effect class.
 */
export function isUnreachable(outcome: Outcome): boolean {
  return outcome.type === "failed" && outcome.effect === "none" && outcome.error.code === "TOOL_UNREACHABLE";
}

/** True for a look-up that gave no answer. It only reads, so it is repeated. */
export function isUnansweredLookup({ verify }: Pick<Call, "verify">, outcome: Outcome): boolean {
  return (
    verify === true && outcome.type === "failed" && outcome.effect === "unknown" && outcome.error.retryable
  );
}

/**
 * What follows after a try that could not reach the server: the next try, or none once `unreachableMs` have
 * passed.
 */
interface AfterUnreachable {
  seen: Unreachable;
  /** Unix milliseconds; undefined: no further try. */
  nextAttemptAt: number | undefined;
}

/**
 * When to try an unreachable server next: after the backoff of the step, which always doubles regardless of
 * the contract, and a last time when `unreachableMs` have passed. The number of tries has no limit:
 * `maxAttempts` counts only calls that were sent.
 * @param at - Unix milliseconds
 * @param random - uniform in [0, 1)
 */
export function afterUnreachable(
  caller: Caller,
  { at, random, unreachableMs }: { at: number; random: number; unreachableMs: number },
): AfterUnreachable {
  const { since, tries } = caller.unreachable ?? { since: at, tries: 0 };
  const seen = { since, tries: tries + 1 };
  const lastAt = since + unreachableMs;
  // Negated, so that a plan stored before `unreachableMs` existed (NaN) stops at once.
  if (!(at < lastAt)) return { seen, nextAttemptAt: undefined };
  const backoff = { ...caller.step.tool.contract.backoff, ...caller.step.step.retry };
  const bounds = {
    initialMs: Math.max(backoff.initialMs, MIN_INITIAL_MS),
    maxMs: Math.max(backoff.maxMs, MIN_MAX_MS),
    strategy: "exponential",
  } as const;
  return { seen, nextAttemptAt: Math.min(at + retryDelay(bounds, seen.tries, random), lastAt) };
}
