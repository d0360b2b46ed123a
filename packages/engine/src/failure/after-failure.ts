import type { Caller } from "../state/engine-state.ts";
import { mayHaveActed } from "../state/may-have-acted.ts";
import type { Outcome, StepError } from "../state/protocol.ts";
import { retryDelay } from "./retry-delay.ts";

/** What a failed attempt leads to. */
export type AfterFailure =
  | { type: "fail" }
  | { type: "retry"; delayMs: number }
  /** The lookup tool is asked for its result. */
  | { type: "look up" }
  | { type: "doubt" };

/**
 * What to do after a failed attempt; {@link afterUnreachable} decides where nothing was sent. Nothing is sent
 * twice unless a repeat is safe for its effect class: an effect that cannot have happened (`none`) is safe
 * for all; a lost answer (`unknown`) is sent again for K and R, asked about for V, and in doubt for U; an
 * error that the tool reported is sent again for K and R only, when it is retryable or the plan itself asks
 * for retries. Where no further call is made, a caller that may have acted is in doubt; only what a tool that
 * honours keys reports, and would report again, is an answer to the calls before.
 * @param random - uniform in [0, 1)
 */
export function afterFailure(
  caller: Caller,
  { effect, error, retryAfterMs }: Extract<Outcome, { type: "failed" }>,
  random: number,
): AfterFailure {
  const { step, tool } = { step: caller.step.step, tool: caller.step.tool };
  // A plan says how often and how long; how the wait grows is the tool's own.
  const backoff = { ...tool.contract.backoff, ...step.retry };
  const isRepeatSafe = tool.effectClass === "K" || tool.effectClass === "R";
  const retry = (): AfterFailure => ({
    type: "retry",
    delayMs: retryDelay(backoff, sent, random, retryAfterMs),
  });
  // A verification and the call it is about are two attempts.
  const attemptsAllowed = tool.effectClass === "V" ? backoff.maxAttempts * 2 : backoff.maxAttempts;
  const sent = caller.attempts - caller.unsent;
  const hasAttempts = sent < attemptsAllowed;
  const end = (): AfterFailure => ({ type: mayHaveActed(caller) ? "doubt" : "fail" });
  switch (effect) {
    case "none":
      return error.retryable && hasAttempts ? retry() : end();
    case "reported": {
      const asked = error.retryable || step.retry !== undefined;
      if (isRepeatSafe && asked && hasAttempts) return retry();
      return isAnswerToKey(caller, error) ? { type: "fail" } : end();
    }
    case "unknown":
      if (tool.effectClass === "V") return { type: "look up" };
      if (tool.effectClass === "U") return { type: "doubt" };
      return error.retryable && hasAttempts ? retry() : end();
  }
}

/**
 * An error that a tool reports under a key is what it says of every call under that key, unless it may say
 * something else later.
 */
export function isAnswerToKey({ step: { tool } }: Caller, { retryable }: StepError): boolean {
  return tool.effectClass === "K" && !retryable;
}
