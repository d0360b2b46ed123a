import type { Server } from "node:http";
import { ApolloServer } from "@apollo/server";
import { ApolloServerPluginLandingPageDisabled } from "@apollo/server/plugin/disabled";
import { ApolloServerPluginDrainHttpServer } from "@apollo/server/plugin/drainHttpServer";
import type { Admission } from "../load/admission.ts";
import type { ApiLogger } from "../parts.ts";
import { createAdmissionPlugin } from "./admission-plugin.ts";
import type { GraphqlContext } from "./context.ts";
import { createSchema } from "./executable-schema.ts";
import { createFormatError } from "./format-error.ts";
import { DOCUMENT_LIMITS, limitRules } from "./limits.ts";

/** Settings of {@link createApolloServer}. */
export interface ApolloServerSettings {
  /** Drained when the server stops: idle connections close, answers under way are finished. */
  httpServer: Server;
  logger: ApiLogger;
  /** The gate that mutations pass. */
  admission: Admission;
  /** Whether clients may read the schema. */
  introspection: boolean;
}

/** Longest that answers under way may take once the service stops, in milliseconds; then their connections are cut. */
const DRAIN_MS = 5_000;

/** Apollo Server with every limit set, no stack in any answer, and no page from elsewhere. */
export function createApolloServer({
  httpServer,
  logger,
  admission,
  introspection,
}: ApolloServerSettings): ApolloServer<GraphqlContext> {
  return new ApolloServer<GraphqlContext>({
    schema: createSchema(),
    nodeEnv: "production",
    introspection,
    hideSchemaDetailsFromClientErrors: !introspection,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: DOCUMENT_LIMITS.tokens },
    validationRules: limitRules(),
    maxRecursiveSelections: true,
    formatError: createFormatError(logger),
    logger: quiet(logger),
    plugins: [
      createAdmissionPlugin(admission),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginDrainHttpServer({ httpServer, stopGracePeriodMillis: DRAIN_MS }),
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
