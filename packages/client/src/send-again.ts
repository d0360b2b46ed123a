import { delay } from "./delay.ts";
import { ApiRefusedError, ApiUnreachableError } from "./errors.ts";

/** Options of sending an operation again. */
export interface SendAgainOptions {
  /**
   * True for an operation with an idempotency key: it is also sent again when its answer was lost. Default
   * false.
   */
  isKeyed?: boolean | undefined;
  /** Ends the wait; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/** Most times that an operation is sent. */
const MAX_TIMES = 5;
/** Default wait when the API names none, in milliseconds. */
const WAIT_MS = 1_000;
/**
 * With these codes nothing was sent: the API is down or at another address, so the operation is not sent
 * again.
 */
const NOT_SENT: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/**
 * Sends an operation, and sends it again while the API is overloaded, after the time that the API names.
 * @throws the last error
 */
export async function sendAgain<Result>(
  send: () => Promise<Result>,
  { isKeyed = false, signal }: SendAgainOptions = {},
): Promise<Result> {
  for (let times = 1; ; times += 1) {
    try {
      return await send();
    } catch (error) {
      const isTemporary = isOverloaded(error) || (isKeyed && isAnswerLost(error));
      if (!isTemporary || times === MAX_TIMES) throw error;
      const retryAfterMs = error instanceof ApiRefusedError ? error.fact("retryAfterMs") : undefined;
      const waitMs = typeof retryAfterMs === "number" ? Math.min(retryAfterMs, 30_000) : WAIT_MS;
      await delay(waitMs, signal).catch(() => signal?.throwIfAborted());
    }
  }
}

function isOverloaded(error: unknown): boolean {
  return error instanceof ApiRefusedError && error.facts.code === "OVERLOADED";
}

/** True when the API may have done the operation although its answer is missing. */
function isAnswerLost(error: unknown): boolean {
  if (error instanceof ApiRefusedError) return error.facts.code === "UNAVAILABLE";
  if (!(error instanceof ApiUnreachableError)) return false;
  const origin = error.cause instanceof Error ? error.cause.cause : undefined;
  return !(origin instanceof Error && "code" in origin && NOT_SENT.has(origin.code));
}
