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
 * Reads one message into the body of the request, with null params left out. A batch is refused: it would count as one operation for the
 * rate limit, and the protocol has no batches since 2025-06-18.
 */
export function readMessage(): RequestHandler {
  const parse = readExactJson({ limit: MAX_BODY_BYTES, strict: false });
  return (request, response, next) =>
    parse(request, response, (error?: unknown) => {
      if (error === undefined) {
        const refusal = refusalOf(request.body);
        if (refusal === undefined) {
          request.body = withoutNullParams(request.body);
          return next();
        }
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

/**
 * A message in which null params are absent: many clients write null for what they do not set. The arguments of a
 * call stay as they are, because a tool may accept null there.
 */
function withoutNullParams(message: unknown): unknown {
  if (!isObject(message) || !("params" in message)) return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (!isObject(params)) return message;
  const { arguments: given, ...others } = params;
  return {
    ...rest,
    params: { ...dropNulls(others), ...(given === undefined || given === null ? {} : { arguments: given }) },
  };
}

function dropNulls(value: { [name: string]: unknown }): { [name: string]: unknown } {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      if (inner === null) return [];
      return [[name, isObject(inner) ? dropNulls(inner) : inner]];
    }),
  );
}

function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
