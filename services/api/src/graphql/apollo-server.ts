import type { Server } from "node:http";
import { ApolloServer } from "@apollo/server";
import { ApolloServerPluginLandingPageDisabled } from "@apollo/server/plugin/disabled";
import { ApolloServerPluginDrainHttpServer } from "@apollo/server/plugin/drainHttpServer";
import type { GraphQLSchema } from "graphql";
import type { createFormatError } from "../errors/format-error.ts";
import type { Admission } from "../load/admission.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { ApiLogger } from "../telemetry/api-logger.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import { createAccessPlugin } from "./access-plugin.ts";
import { createAdmissionPlugin } from "./admission-plugin.ts";
import { createAnswerBound } from "./answer-bound.ts";
import { createCostPlugin } from "./cost-plugin.ts";
import { DOCUMENT_LIMITS, limitsFirst, noSubscriptions } from "./limits.ts";
import { createMetricsPlugin } from "./metrics-plugin.ts";
import { createOperationPlugin } from "./operation-plugin.ts";

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
