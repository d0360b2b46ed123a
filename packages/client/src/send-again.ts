import { delay } from "./delay.ts";
import { ApiRefusedError, ApiUnreachableError } from "./errors.ts";

/** Options of sending an operation again. */
export interface SendAgainOptions {
  /**
   * True for an operation with an idempotency key, and for a query: it is also sent again when its answer was
   * lost. Default false: only while the connection is refused, because then nothing was sent.
   */
  isKeyed?: boolean | undefined;
  /** Ends the wait; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/** Most times that an operation is sent; with {@link WAIT_MS} for 5 s, in which a killed API is started again. */
const MAX_TIMES = 6;
/** Default wait when the API names none, in milliseconds. */
const WAIT_MS = 1_000;
/** Codes of a wrong address: the operation was not sent, and another try cannot help. */
const WRONG_ADDRESS: ReadonlySet<unknown> = new Set(["ENOTFOUND", "EAI_AGAIN"]);

/**
 * Sends an operation, and sends it again while the API is overloaded, after the time that the API names, and
 * for 5 s while it cannot be reached, as far as a repeat is safe.
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
      const isTemporary = isOverloaded(error) || isRefused(error) || (isKeyed && isAnswerLost(error));
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

/** True when no process listens at the address: nothing was sent. */
function isRefused(error: unknown): boolean {
  return error instanceof ApiUnreachableError && connectionCode(error) === "ECONNREFUSED";
}

/** True when the API may have done the operation although its answer is missing. */
function isAnswerLost(error: unknown): boolean {
  if (error instanceof ApiRefusedError) return error.facts.code === "UNAVAILABLE";
  return error instanceof ApiUnreachableError && !WRONG_ADDRESS.has(connectionCode(error));
}

/** The system's code for a connection that failed, below the error of `fetch`. */
function connectionCode({ cause }: ApiUnreachableError): unknown {
  const origin = cause instanceof Error ? cause.cause : undefined;
  return origin instanceof Error && "code" in origin ? origin.code : undefined;
}
