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
  /** Drained when the server stops: idle connections close, answers under way are finished. */
  httpServers: readonly Server[];
  formatError: ReturnType<typeof createFormatError>;
  logger: ApiLogger;
  /** The gate that mutations pass. */
  admission: Admission;
  /** Default: nothing is counted. */
  metrics?: ApiMetrics | undefined;
  /** Whether clients may read the schema. */
  introspection: boolean;
}

/** Longest that answers under way may take once the service stops, in milliseconds; then their connections are cut. */
const DRAIN_MS = 5_000;

/** Apollo Server with every limit set, no stack in any answer, and no page from elsewhere. */
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
    // Without maxRecursiveSelections, which would put these rules behind those of GraphQL: the cost counts fragments in fragments too.
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

/** Apollo's own lines in our log; its errors reach it through `formatError` already. */
function quiet(logger: ApiLogger) {
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (message?: unknown) => logger.warn({ source: "apollo" }, String(message)),
    error: (message?: unknown) => logger.error({ source: "apollo" }, String(message)),
  };
}
