import type { Caller } from "../state/engine-state.ts";
import type { Call, Outcome, Unreachable } from "../state/protocol.ts";
import { retryDelay } from "./retry-delay.ts";

/**
 * Least bounds of the waits between two tries, in milliseconds: nothing that is away is asked in a tight
 * loop.
 */
const LEAST_INITIAL_MS = 100;
const LEAST_MAX_MS = 5_000;

/**
 * True for a call of which nothing was sent, since its server could not be reached: it may be made again,
 * whatever its effect class.
 */
export function isUnreachable(outcome: Outcome): boolean {
  return outcome.type === "failed" && outcome.effect === "none" && outcome.error.code === "TOOL_UNREACHABLE";
}

/** True for a look-up that gave no answer: it reads, so it is made again. */
export function isUnansweredLookup({ verify }: Pick<Call, "verify">, outcome: Outcome): boolean {
  return (
    verify === true && outcome.type === "failed" && outcome.effect === "unknown" && outcome.error.retryable
  );
}

/**
 * What a try that found the server away leads to: the next one, or, once `unreachableMs` have passed, the end
 * of it.
 */
export interface AfterUnreachable {
  seen: Unreachable;
  /** Unix milliseconds. */
  nextAttemptAt: number | undefined;
}

/**
 * When a server that cannot be reached is tried next: after the backoff of the step, that doubles whatever
 * its contract says, and a last time when the plan's `unreachableMs` have passed. How often is not bounded:
 * `maxAttempts` counts what was sent.
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
  // Written so that a plan which was stored before there was such a time gives up at once.
  if (!(at < lastAt)) return { seen, nextAttemptAt: undefined };
  const backoff = { ...caller.step.tool.contract.backoff, ...caller.step.step.retry };
  const bounds = {
    initialMs: Math.max(backoff.initialMs, LEAST_INITIAL_MS),
    maxMs: Math.max(backoff.maxMs, LEAST_MAX_MS),
    strategy: "exponential",
  } as const;
  return { seen, nextAttemptAt: Math.min(at + retryDelay(bounds, seen.tries, random), lastAt) };
}
