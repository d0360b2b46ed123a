import type { Server } from "node:http";
import { ApolloServer, type ApolloServerPlugin, HeaderMap } from "@apollo/server";
import { ApolloServerPluginLandingPageDisabled } from "@apollo/server/plugin/disabled";
import { ApolloServerPluginDrainHttpServer } from "@apollo/server/plugin/drainHttpServer";
import { stringifyExactJson } from "@planwright/plan";
import {
  type DocumentNode,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  type OperationTypeNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { requireScope } from "../access/caller.ts";
import { ForbiddenError } from "../errors/access-errors.ts";
import { ApiError } from "../errors/api-error.ts";
import { isApiErrorCode, statusOf } from "../errors/error-codes.ts";
import type { createFormatError } from "../errors/format-error.ts";
import { headersOf } from "../errors/http-errors.ts";
import { AnswerTooLargeError } from "../errors/input-errors.ts";
import { OverloadedError } from "../errors/service-errors.ts";
import type { Admission } from "../load/admission.ts";
import { LIGHT_ANSWER_BYTES } from "../load/answer-bytes.ts";
import { jsonBytes, stringifyInSlices } from "../load/json-bytes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { type ApiLogger, noteLogFacts } from "../telemetry/api-logger.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import { incomingTrace } from "../telemetry/incoming-trace.ts";
import { costError, DOCUMENT_LIMITS, limitsFirst, noSubscriptions } from "./limits.ts";
import { operationField } from "./operation-field.ts";
import { operationSpan } from "./operation-span.ts";
import { requiredScopes } from "./required-scopes.ts";

/** Settings of {@link createApolloServer}. */
export interface ApolloServerDependencies {
  schema: GraphQLSchema;
  /** Drained when the server stops: idle connections close, running answers are finished. */
  httpServers: readonly Server[];
  formatError: ReturnType<typeof createFormatError>;
  logger: ApiLogger;
  /** Admits operations, or refuses them. */
  admission: Admission;
  /** Default: nothing is counted. */
  metrics?: ApiMetrics | undefined;
  /** Whether clients may read the schema. */
  introspection: boolean;
}

/**
 * How long running answers may take after the service stops, in milliseconds; then their connections are
 * closed.
 */
const DRAIN_MS = 5_000;

/** Apollo Server with every limit set, without stack traces in answers, and without its landing page. */
export function createApolloServer({
  schema,
  httpServers,
  formatError,
  logger,
  admission,
  metrics,
  introspection,
}: ApolloServerDependencies): ApolloServer<GraphqlContext> {
  const bound = createAnswerBound(schema, formatError);
  return new ApolloServer<GraphqlContext>({
    schema,
    nodeEnv: "production",
    introspection,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: DOCUMENT_LIMITS.tokens },
    // maxRecursiveSelections is not set: it would run these rules after those of GraphQL, and the cost counts
    // nested fragments too.
    validationRules: [limitsFirst, noSubscriptions],
    formatError,
    stringifyResult: (result) => bound.stringifyResult(result),
    logger: quiet(logger),
    plugins: [
      bound.plugin,
      ...(metrics ? [createMetricsPlugin(metrics, schema)] : []),
      createOperationPlugin(schema),
      createCostPlugin(schema),
      createAccessPlugin(),
      createAdmissionPlugin(admission),
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

/**
 * Refuses operations whose page sizes make them too expensive, with status 400, before any part of them runs.
 */
function createCostPlugin(schema: GraphQLSchema): ApolloServerPlugin<GraphqlContext> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ document, operation, request }) {
          const error = operation && costError(schema, document, operation, request.variables ?? {});
          if (!error) return;
          const { message, extensions } = error;
          throw new GraphQLError(message, { extensions: { ...extensions, http: { status: 400 } } });
        },
      };
    },
  };
}

/** Refuses operations for which the caller lacks a scope, with status 403, before any part of them runs. */
function createAccessPlugin(): ApolloServerPlugin<GraphqlContext> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ document, operation, contextValue }) {
          if (!operation) return;
          try {
            for (const scope of requiredScopes(document, operation)) requireScope(contextValue.caller, scope);
          } catch (error) {
            throw error instanceof ForbiddenError ? refusalOf(error) : error;
          }
        },
      };
    },
  };
}

/** Counts every operation by its field of the schema and by its final code. */
function createMetricsPlugin(metrics: ApiMetrics, schema: GraphQLSchema): ApolloServerPlugin<GraphqlContext> {
  return {
    async requestDidStart() {
      const startedAt = performance.now();
      let isValid = false;
      return {
        async didResolveOperation() {
          isValid = true;
        },
        async willSendResponse({ operation, response: { body } }) {
          const error = body.kind === "single" ? body.singleResult.errors?.[0] : undefined;
          const code = error?.extensions?.["code"];
          const name = isValid && operation ? operationField(operation, schema) : "invalid";
          const end = error ? (isApiErrorCode(code) ? code : "INTERNAL") : "OK";
          metrics.answered(name, end, performance.now() - startedAt);
        },
      };
    },
  };
}

/**
 * Starts a span for every operation, as a child of the header `traceparent`, and adds the requestId to the
 * log lines of its errors.
 */
function createOperationPlugin(schema: GraphQLSchema): ApolloServerPlugin<GraphqlContext> {
  return {
    async unexpectedErrorProcessingRequest({ requestContext }) {
      requestContext.contextValue.operation.ended("INTERNAL");
    },
    async requestDidStart() {
      return {
        async didResolveOperation({ operation, request, contextValue }) {
          if (!operation) return;
          const parent = incomingTrace((name) => request.http?.headers.get(name));
          contextValue.operation.begin(operationSpan(operation, { schema, parent }));
        },
        async didEncounterErrors({ errors, contextValue }) {
          for (const error of errors) noteLogFacts(error, contextValue.operation.logFacts());
        },
        async willSendResponse({ contextValue, response: { body } }) {
          const error = body.kind === "single" ? body.singleResult.errors?.[0] : undefined;
          const code = error?.extensions?.["code"];
          contextValue.operation.ended(error ? (isApiErrorCode(code) ? code : "INTERNAL") : null);
        },
      };
    },
  };
}

/** Mutations that make new plans. */
const MAKES_PLANS: ReadonlySet<string> = new Set([
  "createPlan",
  "submitPlan",
  "createPlanWithRequestId",
  "createPlanWithWorkflow",
  "rerun",
  "replan",
  "amendPlan",
]);

/**
 * Admits operations, or refuses them with status 503 before any part of them runs, so a client can safely
 * repeat a refused mutation. A query may wait for its slot.
 */
export function createAdmissionPlugin(admission: Admission): ApolloServerPlugin<GraphqlContext> {
  /**
   * Operations that have ended. Apollo runs all checks at the same time: one may refuse a query that still
   * waits for its slot.
   */
  const ended = new WeakSet<GraphqlContext>();

  async function admit(document: DocumentNode, type: OperationTypeNode, context: GraphqlContext) {
    if (type === "query") {
      context.releaseSlot = await admission.enterQuery(context);
      return;
    }
    context.releaseSlot = admission.enter();
    context.reservePlan = () => admission.reserve(context.tenant);
    if (makesPlans(document)) await context.reservePlan();
  }

  function end(context: GraphqlContext): void {
    ended.add(context);
    context.releaseSlot?.();
  }

  return {
    // Such an operation ends without a response, so willSendResponse is not called.
    async unexpectedErrorProcessingRequest({ requestContext }) {
      end(requestContext.contextValue);
    },
    async requestDidStart() {
      return {
        async didResolveOperation({ operation, document, contextValue }) {
          if (!operation) return;
          try {
            await admit(document, operation.operation, contextValue);
            if (ended.has(contextValue)) contextValue.releaseSlot?.();
          } catch (error) {
            if (error instanceof OverloadedError) throw refusalOf(error);
            throw error;
          }
        },
        async willSendResponse({ contextValue }) {
          end(contextValue);
        },
      };
    },
  };
}

/** Compares names in the complete document with its fragments: no other type has fields with these names. */
function makesPlans(document: DocumentNode): boolean {
  let isFound = false;
  visit(document, {
    Field({ name }) {
      isFound ||= MAKES_PLANS.has(name.value);
    },
  });
  return isFound;
}

/** Keeps answers of Apollo within their limits. */
interface AnswerBound {
  /** Must come before all plugins that read answers. */
  plugin: ApolloServerPlugin<GraphqlContext>;
  /** Replaces JSON.stringify; exact numbers are written as their digits. */
  stringifyResult(result: FormattedExecutionResult): Promise<string>;
}

/**
 * Most field errors that are sent with the result of a mutation: thousands of fields may exceed the same
 * limit.
 */
const MAX_ERRORS = 100;

/** Measures each answer before it becomes text; large answers wait for their part of the budget. */
function createAnswerBound(
  schema: GraphQLSchema,
  formatError: ReturnType<typeof createFormatError>,
): AnswerBound {
  /** Context and size of large answers, by their data. */
  const large = new WeakMap<object, { context: GraphqlContext; sizeBytes: number }>();
  const errorsOf = (error: ApiError) => [formatError({ message: "" }, error)];

  return {
    plugin: {
      async requestDidStart() {
        return {
          async didResolveOperation({ operation, document, contextValue }) {
            if (operation?.operation === "mutation") contextValue.bytes.waitWithoutTimeout();
            if (operation?.operation !== "query" || !isHeavyList(schema, document)) return;
            try {
              await contextValue.bytes.claim();
            } catch (error) {
              throw error instanceof OverloadedError ? refusalOf(error) : error;
            }
          },
          // Must not wait: later plugins read the result at once.
          async willSendResponse({ contextValue, operation, response: { body, http } }) {
            if (body.kind !== "single") return;
            const { bytes } = contextValue;
            const failure = bytes.failure();
            if (failure && operation?.operation === "query") {
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
              large.set(singleResult.data, { context: contextValue, sizeBytes });
            }
          },
        };
      },
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

/** Fields that may be large, by type. */
const HEAVY: Readonly<Record<string, ReadonlySet<string>>> = {
  Plan: new Set([
    "document",
    "planHash",
    "raw",
    "plan",
    "outputs",
    "outputReferences",
    "selectedTools",
    "executionResults",
    "validationResult",
  ]),
  Request: new Set(["diagnosis"]),
  Step: new Set(["arguments", "resolvedArguments", "output", "outputReference", "attempts"]),
  ModelCall: new Set(["messages", "answer"]),
  Execution: new Set(["results", "outputs", "errors"]),
};
/** Fields that return plans of many requests. */
const LISTS: ReadonlySet<string> = new Set(["requests", "getPlans", "getExecutions"]);

/**
 * True for a document that selects large fields of many requests. Then the budget is claimed before any read,
 * so a refusal costs nothing. Pure.
 * @param document - a valid document
 */
function isHeavyList(schema: GraphQLSchema, document: DocumentNode): boolean {
  const typeInfo = new TypeInfo(schema);
  const query = schema.getQueryType();
  let isList = false;
  let isHeavy = false;
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field({ name }) {
        const type = typeInfo.getParentType();
        if (type === query && LISTS.has(name.value)) isList = true;
        if (type && HEAVY[type.name]?.has(name.value)) isHeavy = true;
      },
    }),
  );
  return isList && isHeavy;
}

/** An error that refuses a complete operation before any part of it runs, with its HTTP status. */
function refusalOf(error: ApiError): GraphQLError {
  const headers = new HeaderMap(Object.entries(headersOf(error)));
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { http: { status: statusOf(error.code), headers } },
  });
}
