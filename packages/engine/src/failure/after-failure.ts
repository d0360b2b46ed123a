import type { Outcome } from "../protocol.ts";
import type { Caller } from "../state/engine-state.ts";
import { retryDelay } from "./retry-delay.ts";

/** What a failed attempt leads to. */
export type AfterFailure =
  | { type: "fail" }
  | { type: "retry"; delayMs: number }
  | { type: "verify" }
  | { type: "doubt" };

/**
 * What to do after a failed attempt; {@link afterUnreachable} decides where nothing was sent. Nothing is sent twice unless a repeat is safe for its effect class:
 * an effect that cannot have happened (`none`) is safe for all; a lost answer (`unknown`) is sent again for K and R, asked
 * about for V, and in doubt for U; an error that the tool reported is sent again for K and R only, when it is retryable or
 * the plan itself asks for retries.
 * @param random - uniform in [0, 1)
 */
export function afterFailure(
  caller: Caller,
  outcome: Extract<Outcome, { type: "failed" }>,
  random: number,
): AfterFailure {
  const { step, tool } = { step: caller.step.step, tool: caller.step.tool };
  // A plan says how often and how long; how the wait grows is the tool's own.
  const backoff = { ...tool.contract.backoff, ...step.retry };
  const isRepeatSafe = tool.effectClass === "K" || tool.effectClass === "R";
  const retry = (): AfterFailure => ({
    type: "retry",
    delayMs: retryDelay(backoff, sent, random, outcome.retryAfterMs),
  });
  // A verification and the call it is about are two attempts.
  const attemptsAllowed = tool.effectClass === "V" ? backoff.maxAttempts * 2 : backoff.maxAttempts;
  const sent = caller.attempts - caller.unsent;
  const hasAttempts = sent < attemptsAllowed;
  switch (outcome.effect) {
    case "none":
      return outcome.error.retryable && hasAttempts ? retry() : { type: "fail" };
    case "reported": {
      const asked = outcome.error.retryable || step.retry !== undefined;
      return isRepeatSafe && asked && hasAttempts ? retry() : { type: "fail" };
    }
    case "unknown":
      if (tool.effectClass === "V") return { type: "verify" };
      if (tool.effectClass === "U") return { type: "doubt" };
      return outcome.error.retryable && hasAttempts ? retry() : { type: "fail" };
  }
}
