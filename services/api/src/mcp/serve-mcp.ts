import type { IncomingMessage, ServerResponse } from "node:http";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import {
  type AuthInfo,
  createMcpHandler,
  type McpHttpHandler,
  ProtocolErrorCode,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import { type RequestHandler, Router } from "express";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import { withExactNumbers } from "../http/exact-numbers.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { ApiLogger } from "../telemetry/api-logger.ts";
import { explained } from "./explained.ts";
import { createFacadeServer, type FacadeDependencies } from "./facade-server.ts";
import { readMessage, sendRpcError } from "./read-message.ts";

/** Dependencies of {@link serveMcp}. */
export interface McpDependencies extends Omit<FacadeDependencies, "context"> {
  /** Context of a call; its result may be at most half of an answer, because it is sent twice. */
  context: (caller: Caller, signal: AbortSignal) => GraphqlContext;
  /** The caller of a request. */
  callerOf: (request: IncomingMessage) => Caller;
  /** Host names of this service besides loopback. */
  hosts: readonly string[];
  logger: ApiLogger;
}

const LOCAL_NAMES = ["127.0.0.1", "localhost", "[::1]"];

const RefusalSchema = z.looseObject({ error: z.looseObject({ code: z.number(), message: z.string() }) });

/**
 * Answers MCP over streamable HTTP, for clients of old and new protocol versions. Pages of other origins are
 * refused.
 */
export function serveMcp({ hosts, logger, context, callerOf, ...facade }: McpDependencies): RequestHandler {
  const names = [...LOCAL_NAMES, ...hosts];
  const requests = new WeakMap<AuthInfo, { caller: Caller; response: ServerResponse }>();
  // Also called for errors of clients, so it logs as info. Our own errors are answered with 500 and logged
  // below.
  const onerror = (error: Error): void => logger.info({ err: error }, "MCP: a message was refused");
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const request = authInfo && requests.get(authInfo);
      if (!request) throw new TypeError("a tool call bypassed the gate");
      const { caller, response } = request;
      return createFacadeServer({
        ...facade,
        context(signal) {
          const made = context(caller, signal);
          if (response.closed) made.bytes.release();
          else response.once("close", () => made.bytes.release());
          return made;
        },
      });
    },
    { onerror },
  );
  const answer = explaining(handler, logger);
  const fetch: typeof answer = async (request, options) => withExactNumbers(await answer(request, options));
  const serve = toNodeHandler({ fetch }, { onerror });
  const router = Router();
  router.use((request, response, next) => {
    const { host, origin } = request.headers;
    const refusal = [validateHostHeader(host, names), validateOriginHeader(origin, names)].find(
      ({ ok }) => !ok,
    );
    if (!refusal || refusal.ok) return next();
    sendRpcError(response, 403, ProtocolErrorCode.InvalidRequest, refusal.message);
  });
  router.use(readMessage());
  router.use(async (request, response) => {
    const caller = callerOf(request);
    const auth: AuthInfo = { token: "", clientId: caller.name, scopes: [...caller.scopes] };
    requests.set(auth, { caller, response });
    // The adapter's type differs only in its optional fields.
    await serve(Object.assign(request as NodeIncomingMessageLike, { auth }), response, request.body);
  });
  return router;
}

/** Adds code and remedy to refusals that the protocol makes before a server is called. */
function explaining({ fetch }: McpHttpHandler, logger: ApiLogger): McpHttpHandler["fetch"] {
  return async (request, options) => {
    const response = await fetch(request, options);
    if (response.status >= 500) logger.error({ status: response.status }, "MCP: a message was not answered");
    if (response.ok || !response.headers.get("content-type")?.startsWith("application/json")) return response;
    const body = RefusalSchema.safeParse(await response.json());
    const error = body.success
      ? explained(body.data.error, response.status)
      : explained(
          { code: ProtocolErrorCode.InvalidRequest, message: "The message is refused" },
          response.status,
        );
    const { status, headers } = response;
    headers.delete("content-length");
    return Response.json({ jsonrpc: "2.0", id: null, ...body.data, error }, { status, headers });
  };
}
