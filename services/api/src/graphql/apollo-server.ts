import type { Server } from "node:http";
import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLRequestContextWillSendResponse,
  HeaderMap,
} from "@apollo/server";
import { ApolloServerPluginLandingPageDisabled } from "@apollo/server/plugin/disabled";
import { ApolloServerPluginDrainHttpServer } from "@apollo/server/plugin/drainHttpServer";
import { stringifyExactJson } from "@planwright/plan";
import { type FormattedExecutionResult, GraphQLError, type OperationTypeNode } from "graphql";
import { AnswerTooLargeError, ApiError, statusOf } from "../errors/api-error.ts";
import { type FormatError, headersOf } from "../errors/format-error.ts";
import { type ApiLogger, noteLogFacts } from "../errors/telemetry.ts";
import { jsonBytes, LIGHT_ANSWER_BYTES, stringifyInSlices } from "../load/answer-bytes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { DOCUMENT_LIMITS, noSubscriptions, type Pipeline } from "./pipeline.ts";

/** Settings of {@link createApolloServer}. */
interface ApolloServerDependencies {
  pipeline: Pipeline;
  /** Drained when the server stops: idle connections close, running answers are finished. */
  httpServers: readonly Server[];
  logger: ApiLogger;
}

/**
 * How long running answers may take after the service stops, in milliseconds; then their connections are
 * closed.
 */
const DRAIN_MS = 5_000;

/**
 * Apollo Server as the transport of queries and mutations over HTTP: without stack traces in answers, and without
 * its landing page.
 */
export function createApolloServer({
  pipeline,
  httpServers,
  logger,
}: ApolloServerDependencies): ApolloServer<GraphqlContext> {
  const bound = createAnswerBound(pipeline.formatError);
  return new ApolloServer<GraphqlContext>({
    schema: pipeline.schema,
    nodeEnv: "production",
    // The pipeline has the rule that hides the schema.
    introspection: true,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: DOCUMENT_LIMITS.tokens },
    // maxRecursiveSelections is not set: it would run these rules after those of GraphQL, and the cost counts
    // nested fragments too.
    validationRules: [...pipeline.rules, noSubscriptions],
    formatError: pipeline.formatError,
    stringifyResult: (result) => bound.stringifyResult(result),
    logger: quiet(logger),
    plugins: [
      createOperationPlugin(pipeline, bound),
      ApolloServerPluginLandingPageDisabled(),
      ...httpServers.map((httpServer) =>
        ApolloServerPluginDrainHttpServer({ httpServer, stopGracePeriodMillis: DRAIN_MS }),
      ),
    ],
  });
}

/** Writes Apollo's own lines to our log; errors of operations are logged by `formatError`. */
function quiet(logger: ApiLogger) {
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (message?: unknown) => logger.warn({ source: "apollo" }, String(message)),
    error: (message?: unknown) => logger.error({ source: "apollo" }, String(message)),
  };
}

const INTERNAL = { message: "", extensions: { code: "INTERNAL" } } as const;

/**
 * Leads the operations of Apollo through the pipeline. The only plugin with checks: Apollo runs those of several
 * plugins at the same time, and one could refuse an operation that another one still admits.
 */
export function createOperationPlugin(
  pipeline: Pick<Pipeline, "begin" | "end">,
  bound?: Pick<AnswerBound, "limit">,
): ApolloServerPlugin<GraphqlContext> {
  return {
    // Such an operation ends without a response, so willSendResponse is not called.
    async unexpectedErrorProcessingRequest({ requestContext }) {
      pipeline.end(requestContext.contextValue, [INTERNAL]);
    },
    async requestDidStart() {
      return {
        async didResolveOperation({ document, operation, request, contextValue }) {
          if (!operation) return;
          const readHeader = (name: string) => request.http?.headers.get(name);
          try {
            await pipeline.begin(contextValue, {
              document,
              operation,
              variables: request.variables,
              readHeader,
            });
          } catch (error) {
            throw refusalOf(error);
          }
        },
        async didEncounterErrors({ errors, contextValue }) {
          for (const error of errors) noteLogFacts(error, contextValue.operation.logFacts());
        },
        // Must not wait: Apollo reads the result at once.
        async willSendResponse({ contextValue, operation, response }) {
          bound?.limit(contextValue, operation?.operation, response);
          const { body } = response;
          pipeline.end(contextValue, body.kind === "single" ? body.singleResult.errors : []);
        },
      };
    },
  };
}

/** Keeps answers of Apollo within their limits. */
interface AnswerBound {
  /** Replaces an answer that is too large, or for which there is no memory, before it is sent. */
  limit(
    context: GraphqlContext,
    type: OperationTypeNode | undefined,
    response: GraphQLRequestContextWillSendResponse<GraphqlContext>["response"],
  ): void;
  /** Replaces JSON.stringify; exact numbers are written as their digits. */
  stringifyResult(result: FormattedExecutionResult): Promise<string>;
}

/**
 * Most field errors that are sent with the result of a mutation: thousands of fields may exceed the same
 * limit.
 */
const MAX_ERRORS = 100;

/** Measures each answer before it becomes text; large answers wait for their part of the budget. */
function createAnswerBound(formatError: FormatError): AnswerBound {
  /** Context and size of large answers, by their data. */
  const large = new WeakMap<object, { context: GraphqlContext; sizeBytes: number }>();
  const errorsOf = (error: ApiError) => [formatError({ message: "" }, error)];

  return {
    limit(context, type, { body, http }) {
      if (body.kind !== "single") return;
      const { bytes } = context;
      const failure = bytes.failure();
      if (failure && type === "query") {
        const isRefused = failure.code === "OVERLOADED";
        // A refused operation did nothing, and has no data.
        body.singleResult = { ...(isRefused ? {} : { data: null }), errors: errorsOf(failure) };
        if (!isRefused) return;
        http.status = statusOf(failure.code);
        for (const [name, value] of Object.entries(headersOf(failure))) http.headers.set(name, value);
        return;
      }
      const { singleResult } = body;
      if (failure) singleResult.errors = singleResult.errors?.slice(0, MAX_ERRORS) ?? [];
      const { maxBytes } = bytes.limits;
      const sizeBytes = jsonBytes(singleResult, maxBytes);
      if (sizeBytes > maxBytes) {
        body.singleResult = { data: null, errors: errorsOf(new AnswerTooLargeError(maxBytes)) };
      } else if (sizeBytes > LIGHT_ANSWER_BYTES && singleResult.data) {
        large.set(singleResult.data, { context, sizeBytes });
      }
    },
    async stringifyResult(result) {
      const found = result.data ? large.get(result.data) : undefined;
      if (!found) return `${stringifyExactJson(result)}\n`;
      const { bytes } = found.context;
      try {
        await bytes.sending(found.sizeBytes);
        return `${await stringifyInSlices(result, bytes.limits)}\n`;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return `${JSON.stringify({ data: null, errors: errorsOf(error) })}\n`;
      }
    },
  };
}

/** An error that refuses a complete operation before any part of it runs, with its HTTP status. */
function refusalOf(error: unknown): unknown {
  if (error instanceof ApiError) {
    const headers = new HeaderMap(Object.entries(headersOf(error)));
    const http = { status: statusOf(error.code), headers };
    return new GraphQLError(error.message, { originalError: error, extensions: { http } });
  }
  if (!(error instanceof GraphQLError)) return error;
  const { message, extensions } = error;
  return new GraphQLError(message, { extensions: { ...extensions, http: { status: 400 } } });
}
