import type { Request } from "express";
import { z } from "zod";
import type { ApiErrorCode } from "../errors/error-codes.ts";

/** Parameters of the protocol graphql-sse, in a body or in a query string. */
const ParamsSchema = z.object({
  query: z.string().min(1),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
  extensions: z.record(z.string(), z.unknown()).nullish(),
});

/** Why a request for a stream is refused, in the form for `sendError`. */
export interface StreamRefusal {
  status: number;
  error: { code: ApiErrorCode; message: string; remedy: string };
}

/**
 * Checks a request for a stream of events; undefined for a valid one. The library of the protocol would
 * answer these errors without a code, and does not accept an `accept` header with several types.
 */
export function checkStreamRequest(request: Request): StreamRefusal | undefined {
  if (request.accepts("text/event-stream") === false) {
    return {
      status: 406,
      error: {
        code: "BAD_REQUEST",
        message: "The answer is a stream of events, which the header accept does not allow",
        remedy: "Set accept: text/event-stream, or send queries and mutations to /graphql.",
      },
    };
  }
  const params: unknown = request.method === "GET" ? paramsOfAddress(request.query) : request.body;
  const parsed = ParamsSchema.safeParse(params);
  if (parsed.success) return undefined;
  const [issue] = parsed.error.issues;
  return {
    status: 400,
    error: {
      code: "BAD_REQUEST",
      message: `The request cannot be read at ${issue?.path.join(".") || "its body"}`,
      remedy: 'Send a JSON object such as {"query": "subscription { ... }", "variables": {}}.',
    },
  };
}

/** In a query string, variables and extensions are JSON text. */
function paramsOfAddress(query: Request["query"]): object {
  return { ...query, variables: valueOf(query["variables"]), extensions: valueOf(query["extensions"]) };
}

function valueOf(text: unknown): unknown {
  if (typeof text !== "string" || text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text; // Refused by the schema, which requires an object.
  }
}
