import { ApiError } from "./api-error.ts";

/** The service is at its limit. The operation was not started. */
export class OverloadedError extends ApiError<{ retryAfterMs: number }> {
  constructor(reason: string, retryAfterMs: number) {
    super(
      "OVERLOADED",
      { retryAfterMs },
      {
        message: `The service is overloaded: ${reason}`,
        remedy: "Send it again after retryAfterMs milliseconds; the operation was not started.",
      },
    );
  }
}

/** MongoDB, or another required service, does not answer. It is unknown whether a write took effect. */
export class UnavailableError extends ApiError {
  constructor(cause?: unknown, service = "The database") {
    const remedy = "Try again in a few seconds; check with requests whether a mutation was accepted.";
    super("UNAVAILABLE", {}, { message: `${service} does not answer right now`, remedy }, cause);
  }
}

/** An unexpected error. Its text is only in the log, with the correlation id. */
export class InternalError extends ApiError<{ correlationId: string }> {
  constructor(correlationId: string, cause: unknown) {
    super("INTERNAL", { correlationId }, INTERNAL_TEXT, cause);
  }
}

/** The text of every unexpected error for clients. */
export const INTERNAL_TEXT = {
  message: "Something went wrong inside the service",
  remedy: "Report the correlationId to the operator: the log has the cause under this id.",
} as const;

/** No executor lives that could reload a tool server. */
export class NoExecutorError extends ApiError<{ name: string }> {
  constructor(name: string) {
    super(
      "STATE_CONFLICT",
      { name },
      {
        message: `No executor lives that could reload ${name}; nothing was changed`,
        remedy: "Start an executor: it connects to all its servers anew. fleet shows the live executors.",
      },
    );
  }
}
