import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { RequestHandler, Response } from "express";
import { MAX_BODY_BYTES, ParserErrorSchema } from "../errors/http-errors.ts";
import { readExactJson } from "../http/exact-numbers.ts";
import { explained } from "./explained.ts";

/**
 * Deepest nesting of a message, far more than plans and facts need. The SDK processes messages by recursion.
 */
const MAX_DEPTH = 500;

const MESSAGES: Readonly<Record<number, string>> = {
  413: "The body is larger than 1 MiB",
  415: "The body has a character set or an encoding that is not accepted",
};

/** Answers with a JSON-RPC error without a message id. */
export function sendRpcError(response: Response, status: number, code: number, message: string): void {
  const error = explained({ code, message }, status);
  response.status(status).json({ jsonrpc: "2.0", id: null, error });
}

/**
 * Reads one message into the body of the request. A batch is refused: it would count as one operation for the
 * rate limit, and the protocol has no batches since 2025-06-18.
 */
export function readMessage(): RequestHandler {
  const parse = readExactJson({ limit: MAX_BODY_BYTES, strict: false });
  return (request, response, next) =>
    parse(request, response, (error?: unknown) => {
      if (error === undefined) {
        const refusal = refusalOf(request.body);
        if (refusal === undefined) return next();
        return sendRpcError(response, 400, ProtocolErrorCode.InvalidRequest, refusal);
      }
      const parsed = ParserErrorSchema.safeParse(error);
      if (!parsed.success) return next(error);
      const { status } = parsed.data;
      // The rest of the body stays unread.
      if (status === 413) response.set("connection", "close");
      const code = status === 400 ? ProtocolErrorCode.ParseError : ProtocolErrorCode.InvalidRequest;
      sendRpcError(response, status, code, MESSAGES[status] ?? "The body is not JSON");
    });
}

function refusalOf(message: unknown): string | undefined {
  if (Array.isArray(message)) return "Batches are not supported";
  return isDeeper(message, MAX_DEPTH)
    ? `The message is nested more than ${MAX_DEPTH} levels deep`
    : undefined;
}

/** Works level by level, so that deep nesting cannot exhaust the stack. */
function isDeeper(value: unknown, maxDepth: number): boolean {
  let level = [value];
  for (let depth = 0; depth <= maxDepth; depth += 1) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}
