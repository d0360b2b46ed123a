import type { IncomingMessage, ServerResponse } from "node:http";
import { markNumbers, unmarkNumbers } from "@planwright/plan";
import express, { type RequestHandler } from "express";

/**
 * Like `express.json`, but numbers that a double would change keep their digits: `request.body` holds them as
 * exact numbers.
 */
export function readExactJson(options: { limit: number; strict?: boolean }): RequestHandler {
  const marked = new WeakMap<IncomingMessage, string>();
  const parse = express.json({
    ...options,
    verify(request, _response, bytes) {
      const text = bytes.toString("utf8");
      const withMarks = markNumbers(text);
      if (withMarks !== text) marked.set(request, withMarks);
    },
  });
  return (request, response, next) =>
    parse(request, response, (error?: unknown) => {
      const text = marked.get(request);
      if (error === undefined && text !== undefined) request.body = JSON.parse(text);
      next(error);
    });
}

/** The same for the variables of GraphQL in an address. */
export const readExactVariables: RequestHandler = (request, _response, next) => {
  const { variables } = request.query;
  if (typeof variables === "string") {
    const withMarks = markNumbers(variables);
    if (withMarks !== variables) {
      const [path = "", search] = request.url.split("?", 2);
      const params = new URLSearchParams(search);
      params.set("variables", withMarks);
      request.url = `${path}?${params.toString()}`;
    }
  }
  next();
};

/**
 * Exact numbers leave in this response as their digits. Each written part must hold whole JSON texts.
 * @param fill - the last change of each part
 */
export function writeExactNumbers(response: ServerResponse, fill: (part: string) => string): void {
  const write = response.write.bind(response) as (part: unknown, ...rest: unknown[]) => boolean;
  response.write = (part: unknown, ...rest: unknown[]) =>
    write(typeof part === "string" ? fill(unmarkNumbers(part)) : part, ...rest);
}

/** The body of a response with exact numbers as their digits; events are written one by one. */
export function withExactNumbers({ body, status, statusText, headers }: Response): Response {
  const exact = body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (part, controller) => controller.enqueue(exactBytes(part)),
    }),
  );
  return new Response(exact ?? null, { status, statusText, headers });
}

const MARK_BYTES = Buffer.from("\uFDD0");

function exactBytes(part: Uint8Array): Uint8Array {
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
  return bytes.includes(MARK_BYTES) ? Buffer.from(unmarkNumbers(bytes.toString("utf8"))) : part;
}
