import { ApiRefusedError } from "@planwright/client";
import pRetry from "p-retry";

/** Codes of temporary refusals. */
const PASSING = new Set(["UNAVAILABLE", "OVERLOADED"]);
const TRIES = 120;
const BETWEEN_TRIES_MS = 500;

/**
 * Sends an operation, and sends it again for about a minute while the API cannot be reached or refuses
 * temporarily, for example while it is being restarted. For operations that may be sent twice: queries, and
 * mutations with an idempotency key.
 */
export function persistently<Result>(send: () => Promise<Result>): Promise<Result> {
  return pRetry(send, {
    retries: TRIES - 1,
    factor: 1,
    minTimeout: BETWEEN_TRIES_MS,
    shouldRetry: ({ error }) => !(error instanceof ApiRefusedError) || PASSING.has(error.facts.code),
  });
}
