import { setTimeout as delay } from "node:timers/promises";
import { ApiRefusedError, ApiUnreachableError } from "../errors.ts";
import type { CommandContext } from "./command-context.ts";

/** Times that an operation is sent at most. */
const MAX_TIMES = 5;
/** Wait where the API does not say how long, in milliseconds. */
const WAIT_MS = 1_000;
/** By these a connection says that nothing was sent: the API does not run, or is elsewhere, and waiting helps no one. */
const NOT_SENT: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/**
 * Sends an operation again while the API says that it has too much to do, after the time that it names.
 * @param isKeyed - true for one that bears an idempotency key, which is also sent again when its answer was lost. Default false
 */
export async function askAgain<T>(
  { signal }: CommandContext,
  ask: () => Promise<T>,
  { isKeyed = false } = {},
): Promise<T> {
  for (let times = 1; ; times += 1) {
    try {
      return await ask();
    } catch (error) {
      const isPassing = hasTooMuchToDo(error) || (isKeyed && isAnswerLost(error));
      if (!isPassing || times === MAX_TIMES) throw error;
      const retryAfterMs = error instanceof ApiRefusedError ? error.fact("retryAfterMs") : undefined;
      const waitMs = typeof retryAfterMs === "number" ? Math.min(retryAfterMs, 30_000) : WAIT_MS;
      await delay(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

function hasTooMuchToDo(error: unknown): boolean {
  return error instanceof ApiRefusedError && error.facts.code === "OVERLOADED";
}

/** The operation may have been done all the same. */
function isAnswerLost(error: unknown): boolean {
  if (error instanceof ApiRefusedError) return error.facts.code === "UNAVAILABLE";
  if (!(error instanceof ApiUnreachableError)) return false;
  const origin = error.cause instanceof Error ? error.cause.cause : undefined;
  return !(origin instanceof Error && "code" in origin && NOT_SENT.has(origin.code));
}
