import { randomUUID } from "node:crypto";
import type { ErrorRequestHandler, Response } from "express";
import { z } from "zod";
import type { ApiLogger } from "../telemetry/operation.ts";
import { ApiError, INTERNAL_TEXT } from "./api-error.ts";
import { type ApiErrorCode, isApiErrorCode, isRetryable, statusOf } from "./error-codes.ts";
import type { FormatError } from "./format-error.ts";

/** An error outside GraphQL. */
export interface ErrorFacts {
  code: ApiErrorCode;
  message: string;
  remedy: string;
  retryAfterMs?: number;
  correlationId?: string;
}

/** The error in the form of GraphQL errors, so that clients need only one form. */
export function errorBody({ message, ...extensions }: ErrorFacts): object {
  return { errors: [{ message, extensions: { retryable: isRetryable(extensions.code), ...extensions } }] };
}

/** Answers with an {@link errorBody}. */
export function sendError(response: Response, status: number, error: ErrorFacts): void {
  response.status(status).json(errorBody(error));
}

/** Headers of a refusal: when to retry, and how to authenticate. */
export function headersOf({ code, facts }: { code: ApiErrorCode; facts: object }): Record<string, string> {
  const headers: Record<string, string> = {};
  if (code === "UNAUTHENTICATED") headers["www-authenticate"] = 'Bearer realm="planwright"';
  if ("retryAfterMs" in facts && typeof facts.retryAfterMs === "number") {
    headers["retry-after"] = String(Math.ceil(facts.retryAfterMs / 1_000));
  }
  return headers;
}

/** Answers a request that is refused before it reaches GraphQL or MCP. */
export type SendRefusal = (response: Response, error: unknown) => void;

/** Masks and logs unexpected errors, as `formatError` does for GraphQL. */
export function createSendRefusal(formatError: FormatError): SendRefusal {
  return (response, error) => {
    const { message, extensions } = formatError({ message: "" }, error);
    const code = isApiErrorCode(extensions?.["code"]) ? extensions["code"] : "INTERNAL";
    if (error instanceof ApiError) response.set(headersOf(error));
    response.status(statusOf(code)).json({ errors: [{ message, extensions }] });
  };
}

/** Largest body that is read, in bytes. */
export const MAX_BODY_BYTES = 1_048_576;

/** The parts of a body parser's error that are used; its text is not sent. */
export const ParserErrorSchema = z.object({
  status: z.number().int().min(400).max(499),
  type: z.string().optional(),
});

/** The last handler, for bodies that cannot be read and unexpected errors. */
export function createErrorHandler(logger: ApiLogger): ErrorRequestHandler {
  return (error, _request, response, next) => {
    if (response.headersSent) return next(error);
    const parsed = ParserErrorSchema.safeParse(error);
    if (parsed.success) return sendParserError(response, parsed.data);
    const correlationId = randomUUID();
    logger.error({ err: error, correlationId }, "a request failed unexpectedly");
    sendError(response, 500, {
      code: "INTERNAL",
      ...INTERNAL_TEXT,
      correlationId,
    });
  };
}

function sendParserError(response: Response, { status, type }: z.infer<typeof ParserErrorSchema>): void {
  switch (status) {
    case 413:
      // The rest of the body stays unread.
      response.set("connection", "close");
      return sendError(response, 413, {
        code: "PAYLOAD_TOO_LARGE",
        message: "The body is larger than 1 MiB",
        remedy: "Send a smaller document or plan.",
      });
    case 415:
      return sendError(response, 415, {
        code: "UNSUPPORTED_MEDIA_TYPE",
        message: "The body has a character set or an encoding that is not accepted",
        remedy: "Send UTF-8, plain or with content-encoding gzip, deflate or br.",
      });
    default:
      return sendError(response, status, {
        code: "BAD_REQUEST",
        message:
          type === "entity.parse.failed" ? "The body is not a JSON object" : "The request cannot be read",
        remedy: 'Send a JSON object such as {"query": "{ getAvailableTools { name } }"}.',
      });
  }
}
