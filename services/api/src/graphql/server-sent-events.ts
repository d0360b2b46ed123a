import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Request, RequestHandler } from "express";
import type { ExecutionArgs } from "graphql";
import { createHandler } from "graphql-sse/lib/use/express";
import { z } from "zod";
import type { Caller } from "../access/gate.ts";
import type { ApiErrorCode } from "../errors/api-error.ts";
import { sendError } from "../errors/format-error.ts";
import { writeExactNumbers } from "../http/exact-numbers.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { resultsIterator, type Subscribe, type Subscriptions } from "./subscriptions.ts";

/** Dependencies of {@link serveServerSentEvents}. */
interface ServerSentEventsDependencies {
  subscriptions: Subscriptions;
  /** The caller of a request. */
  callerOf: (request: IncomingMessage) => Caller;
  /** How long a client may read nothing of a result, in milliseconds; then its connection is closed. */
  sendTimeoutMs: number;
}

/** Without it the library answers every refusal with 400. */
const FORBIDDEN = {
  status: 403,
  statusText: "Forbidden",
  headers: { "content-type": "application/json; charset=utf-8" },
};

/**
 * Answers one subscription for each response, in the mode "distinct connections" of the protocol graphql-sse.
 */
export function serveServerSentEvents({
  subscriptions,
  callerOf,
  sendTimeoutMs,
}: ServerSentEventsDependencies): RequestHandler {
  const responses = new WeakMap<object, ServerResponse>();
  const handle = createHandler({
    // Only one stream for each response: no tokens, and no state between requests.
    authenticate: () => "",
    subscribe: paceSubscribe(subscriptions.subscribe, {
      responseOf: ({ contextValue }) => responses.get(contextValue as GraphqlContext),
      sendTimeoutMs,
    }),
    // Validation is done in onSubscribe, with a cache of valid documents.
    validate: () => [],
    async onSubscribe({ raw, context: { res } }, params) {
      const prepared = await subscriptions.prepare(callerOf(raw), raw.headers, params);
      if ("document" in prepared) {
        const { contextValue } = prepared;
        responses.set(contextValue, res);
        // The library's type of a context has an index signature.
        return { ...prepared, contextValue: contextValue as unknown as Record<string, unknown> };
      }
      const isForbidden = prepared.some(({ extensions }) => extensions["code"] === "FORBIDDEN");
      // Without data the library would parse it as arguments of an operation, and answer with its own error.
      return isForbidden
        ? [JSON.stringify({ errors: prepared }), FORBIDDEN]
        : { data: null, errors: prepared };
    },
  });
  return async (request, response) => {
    const refusal = checkStreamRequest(request);
    if (refusal) return sendError(response, refusal.status, refusal.error);
    // The library recognises this mode only by exactly this text.
    request.headers.accept = "text/event-stream";
    writeExactNumbers(response, subscriptions.fill);
    await handle(request, response);
  };
}

/** How often an unread response is checked, in milliseconds: no event reports that its buffer is empty. */
const CHECK_EVERY_MS = 25;

/** Options of {@link paceSubscribe}. */
interface PaceOptions {
  responseOf: (args: ExecutionArgs) => ServerResponse | undefined;
  /** How long a client may read nothing of a result, in milliseconds; then its connection is closed. */
  sendTimeoutMs: number;
}

/**
 * Takes the next result only after the previous one was written to the network: graphql-sse would buffer
 * results without a limit. So a reader that does not read its socket holds one result, and skips states like
 * any slow reader.
 */
function paceSubscribe(subscribe: Subscribe, { responseOf, sendTimeoutMs }: PaceOptions): Subscribe {
  return async (args) => {
    const results = await subscribe(args);
    const response = responseOf(args);
    if (!(Symbol.asyncIterator in results) || !response) return results;
    return resultsIterator(
      async () => {
        await written(response, sendTimeoutMs);
        return results.next();
      },
      async () => results.return?.(),
    );
  };
}

async function written(response: ServerResponse, timeoutMs: number): Promise<void> {
  // By now the result that was just returned is written.
  await setImmediate();
  if (response.writableLength === 0) return;
  const cut = (): void => void response.destroy();
  // The timeout starts again with each part that the client reads.
  response.setTimeout(timeoutMs).on("timeout", cut);
  while (response.writableLength > 0 && !response.closed) await setTimeout(CHECK_EVERY_MS);
  // No timeout while there is no result to send.
  response.setTimeout(0).off("timeout", cut);
}

/** Parameters of the protocol graphql-sse, in a body or in a query string. */
const ParamsSchema = z.object({
  query: z.string().min(1),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
  extensions: z.record(z.string(), z.unknown()).nullish(),
});

/** Why a request for a stream is refused, in the form for `sendError`. */
interface StreamRefusal {
  status: number;
  error: { code: ApiErrorCode; message: string; remedy: string };
}

/**
 * Checks a request for a stream of events; undefined for a valid one. The library of the protocol would
 * answer these errors without a code, and does not accept an `accept` header with several types.
 */
function checkStreamRequest(request: Request): StreamRefusal | undefined {
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
