import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import type { GraphQLSchema } from "graphql";
import { createHandler } from "graphql-sse/lib/use/express";
import type { Caller } from "../access/caller.ts";
import type { CredentialWatch } from "../access/credential-watch.ts";
import { sendError } from "../errors/http-errors.ts";
import { type FormatError, maskError } from "../errors/masked-errors.ts";
import { writeExactNumbers } from "../http/exact-numbers.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import { boundSubscribe, createMadeTexts } from "./bounded-subscribe.ts";
import { checkStreamRequest } from "./check-stream-request.ts";
import { endWithCredential } from "./credential-subscribe.ts";
import { beginSubscription, observeSubscribe } from "./observed-subscribe.ts";
import { paceSubscribe } from "./paced-subscribe.ts";
import { createSubscriptionCheck } from "./prepare-subscription.ts";
import { createSharedSubscribe } from "./shared-subscribe.ts";

/** Dependencies of {@link serveServerSentEvents}. */
export interface ServerSentEventsDependencies {
  schema: GraphQLSchema;
  introspection: boolean;
  context: (caller: Caller, signal: AbortSignal) => GraphqlContext;
  /** The caller of a request. */
  callerOf: (request: IncomingMessage) => Caller;
  formatError: FormatError;
  /** Ends subscriptions when their credential ends. */
  credentials: Pick<CredentialWatch, "follow">;
  /** How long a client may read nothing of a result, in milliseconds; then its connection is closed. */
  sendTimeoutMs: number;
  /** Counts subscriptions that ended or were refused. */
  metrics: Pick<ApiMetrics, "subscriptionEnded">;
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
export function serveServerSentEvents(dependencies: ServerSentEventsDependencies): RequestHandler {
  const { formatError, callerOf } = dependencies;
  const check = createSubscriptionCheck(dependencies);
  const texts = createMadeTexts();
  const responses = new WeakMap<GraphqlContext, ServerResponse>();
  const handle = createHandler({
    // Only one stream for each response: no tokens, and no state between requests.
    authenticate: () => "",
    subscribe: paceSubscribe(
      observeSubscribe(
        boundSubscribe(endWithCredential(createSharedSubscribe(), dependencies.credentials), texts),
        dependencies.metrics,
      ),
      {
        responseOf: ({ contextValue }) => responses.get(contextValue as GraphqlContext),
        sendTimeoutMs: dependencies.sendTimeoutMs,
      },
    ),
    // Validation is done in onSubscribe, with a cache of valid documents.
    validate: () => [],
    onSubscribe({ raw, context: { res } }, params) {
      const caller = callerOf(raw);
      const checked = check(params, caller);
      if ("document" in checked) {
        const contextValue = dependencies.context(caller, new AbortController().signal);
        responses.set(contextValue, res);
        beginSubscription(contextValue, checked, raw.headers);
        return { ...checked, contextValue };
      }
      const errors = checked.map((error) => maskError(error, formatError));
      const isForbidden = errors.some(({ extensions }) => extensions["code"] === "FORBIDDEN");
      // Without data the library would parse it as arguments of an operation, and answer with its own error.
      return isForbidden ? [JSON.stringify({ errors }), FORBIDDEN] : { data: null, errors };
    },
    onNext: (_context, _request, result) =>
      result.errors
        ? { ...result, errors: result.errors.map((error) => maskError(error, formatError)) }
        : undefined,
  });
  return async (request, response) => {
    const refusal = checkStreamRequest(request);
    if (refusal) return sendError(response, refusal.status, refusal.error);
    // The library recognises this mode only by exactly this text.
    request.headers.accept = "text/event-stream";
    writeExactNumbers(response, texts.fill);
    await handle(request, response);
  };
}
