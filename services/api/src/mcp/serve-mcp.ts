import {
  hostHeaderValidation,
  type NodeIncomingMessageLike,
  originValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { RequestHandler } from "express";
import { createFacadeServer, type FacadeParts } from "./facade-server.ts";

/** What serving the facade needs. */
export interface McpParts extends FacadeParts {
  /** Names by which this service is reached beside loopback. */
  hosts: readonly string[];
  onError: (error: Error) => void;
}

/** Largest body of a call, in bytes. */
const MAX_BODY_BYTES = 1_048_576;
const LOCAL_NAMES = ["127.0.0.1", "localhost", "[::1]"];

/** Answers MCP over streamable HTTP, for clients of both protocol eras. Pages from elsewhere are refused. */
export function serveMcp({ hosts, onError, ...facade }: McpParts): RequestHandler {
  const names = [...LOCAL_NAMES, ...hosts];
  const isHostAllowed = hostHeaderValidation(names);
  const isOriginAllowed = originValidation(names);
  const handler = createMcpHandler(() => createFacadeServer(facade), {
    maxRequestBodySize: MAX_BODY_BYTES,
    onerror: onError,
  });
  const serve = toNodeHandler(handler, { maxRequestBodySize: MAX_BODY_BYTES, onerror: onError });
  return async (request, response) => {
    if (!isHostAllowed(request, response) || !isOriginAllowed(request, response)) return;
    // Differs from the adapter's own type only in how optional fields are declared.
    await serve(request as NodeIncomingMessageLike, response);
  };
}
