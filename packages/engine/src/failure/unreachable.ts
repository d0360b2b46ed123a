import type { Caller } from "../state/engine-state.ts";
import type { Call, Outcome, Unreachable } from "../state/protocol.ts";
import { retryDelay } from "./retry-delay.ts";

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
export interface AfterUnreachable {
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
