import { ApiError } from "./api-error.ts";

/** The service is at its limit. Nothing of the operation was done. */
export class OverloadedError extends ApiError<{ retryAfterMs: number }> {
  constructor(reason: string, retryAfterMs: number) {
    super(
      "OVERLOADED",
      { retryAfterMs },
      {
        message: `The service is overloaded: ${reason}`,
        remedy: "Send it again after retryAfterMs milliseconds; nothing of it was done.",
      },
    );
  }
}

/** MongoDB, or another service that is needed, does not answer. Whether a write took effect is not known. */
export class UnavailableError extends ApiError {
  constructor(cause?: unknown, service = "The database") {
    const remedy = "Try again in a few seconds; check with requests whether a mutation was accepted.";
    super("UNAVAILABLE", {}, { message: `${service} does not answer right now`, remedy }, cause);
  }
}

/** An unexpected error. Its own text is only in the log, under the correlation id. */
export class InternalError extends ApiError<{ correlationId: string }> {
  constructor(correlationId: string, cause: unknown) {
    super("INTERNAL", { correlationId }, INTERNAL_TEXT, cause);
  }
}

/** What a client reads of every unexpected error. */
export const INTERNAL_TEXT = {
  message: "Something went wrong inside the service",
  remedy: "Report the correlationId to the operator: the log names the cause under it.",
} as const;
