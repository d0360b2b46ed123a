import type { IncomingMessage } from "node:http";
import {
  hostHeaderValidation,
  type NodeIncomingMessageLike,
  originValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { type AuthInfo, createMcpHandler } from "@modelcontextprotocol/server";
import type { RequestHandler } from "express";
import type { Caller } from "../access/caller.ts";
import type { GraphqlContext } from "../graphql/context.ts";
import { createFacadeServer, type FacadeParts } from "./facade-server.ts";

/** What serving the facade needs. */
export interface McpParts extends Omit<FacadeParts, "context"> {
  context: (caller: Caller, signal: AbortSignal) => GraphqlContext;
  /** The caller of a request. */
  callerOf: (request: IncomingMessage) => Caller;
  /** Names by which this service is reached beside loopback. */
  hosts: readonly string[];
  onError: (error: Error) => void;
}

/** Largest body of a call, in bytes. */
const MAX_BODY_BYTES = 1_048_576;
const LOCAL_NAMES = ["127.0.0.1", "localhost", "[::1]"];

/** Answers MCP over streamable HTTP, for clients of both protocol eras. Pages from elsewhere are refused. */
export function serveMcp({ hosts, onError, context, callerOf, ...facade }: McpParts): RequestHandler {
  const names = [...LOCAL_NAMES, ...hosts];
  const isHostAllowed = hostHeaderValidation(names);
  const isOriginAllowed = originValidation(names);
  const callers = new WeakMap<AuthInfo, Caller>();
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const caller = authInfo && callers.get(authInfo);
      if (!caller) throw new TypeError("a call of a tool came past the gate");
      return createFacadeServer({ ...facade, context: (signal) => context(caller, signal) });
    },
    { maxRequestBodySize: MAX_BODY_BYTES, onerror: onError },
  );
  const serve = toNodeHandler(handler, { maxRequestBodySize: MAX_BODY_BYTES, onerror: onError });
  return async (request, response) => {
    if (!isHostAllowed(request, response) || !isOriginAllowed(request, response)) return;
    const caller = callerOf(request);
    const auth: AuthInfo = { token: "", clientId: caller.name, scopes: [...caller.scopes] };
    callers.set(auth, caller);
    // Differs from the adapter's own type only in how optional fields are declared.
    await serve(Object.assign(request as NodeIncomingMessageLike, { auth }), response);
  };
}
