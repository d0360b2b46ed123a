import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ApolloServer } from "@apollo/server";
import { expressMiddleware } from "@as-integrations/express5";
import { type createHealthHandler, packageFile } from "@planwright/runtime";
import cors from "cors";
import express, { type Express, type Request, type RequestHandler, type Response, Router } from "express";
import { type Gate, parseHost } from "../access/gate.ts";
import { createErrorHandler, MAX_BODY_BYTES, sendError } from "../errors/format-error.ts";
import type { ApiLogger } from "../errors/telemetry.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { readExactJson, readExactVariables } from "./exact-numbers.ts";

/** Dependencies of {@link createApp}. */
interface AppDependencies {
  /** Must be started. */
  apollo: ApolloServer<GraphqlContext>;
  /** The context of one HTTP request, which lasts until its response closes. */
  context: (request: Request, response: Response) => GraphqlContext;
  /** Checks callers, for every address except the health endpoints. */
  gate: Gate;
  /** Other origins whose pages may call the service. */
  allowedOrigins: readonly string[];
  /** Streams outputs. */
  outputs: RequestHandler;
  /** Answers subscriptions as server-sent events. */
  events: RequestHandler;
  /** Answers persons who come back from an authorization server. */
  signInCallback: RequestHandler;
  /** Serves the GraphiQL editor. Default: /graphiql is not served. */
  graphiql?: RequestHandler | undefined;
  /** Answers MCP. Default: /mcp is not served. */
  mcp?: RequestHandler | undefined;
  /** Answers /healthz, /readyz and /metrics. */
  answerHealth: ReturnType<typeof createHealthHandler>;
  logger: ApiLogger;
}

/**
 * All addresses of the service: /, /console, /graphql, /graphql/stream, /outputs, /graphiql, /mcp,
 * /sign-in/callback, /healthz, /readyz, /metrics.
 */
export function createApp(dependencies: AppDependencies): Express {
  const { apollo, context, gate, events, outputs, graphiql, mcp, answerHealth, logger } = dependencies;
  const app = express();
  app.disable("x-powered-by").disable("etag").set("query parser", "simple");
  app.use(setSecurityHeaders);
  app.use(requireHost);
  app.get("/", (request, response) => {
    if (request.accepts(["text/plain", "text/html"]) === "text/html") return response.redirect("/console/");
    response.type("text/plain").send(WELCOME);
  });
  app.use("/console", serveConsole());
  app.use("/metrics", gate.forScope("operate"));
  app.use(async (request, response, next) => {
    if (!(await answerHealth(request, response))) next();
  });
  if (dependencies.allowedOrigins.length > 0) app.use("/graphql", allowOrigins(dependencies.allowedOrigins));
  app.get("/sign-in/callback", dependencies.signInCallback);
  if (graphiql) app.use("/graphiql", graphiql);
  if (mcp) app.use("/mcp", gate.forCallers, mcp);
  if (dependencies.allowedOrigins.length > 0) app.use("/outputs", allowOrigins(dependencies.allowedOrigins));
  app.use("/outputs", acceptReading, gate.forCallers, outputs);
  const readBody = readExactJson({ limit: MAX_BODY_BYTES });
  app.use("/graphql/stream", acceptGraphql, gate.forCallers, readBody, readExactVariables, events);
  app.use(
    "/graphql",
    acceptGraphql,
    gate.forCallers,
    readBody,
    readExactVariables,
    readEmptyBody,
    expressMiddleware(apollo, {
      context: async ({ req, res }) => context(req, res),
    }),
  );
  app.use((_request, response) => {
    sendError(response, 404, {
      code: "NOT_FOUND",
      message: "There is nothing at this address",
      remedy: "GraphQL is at /graphql.",
    });
  });
  app.use(createErrorHandler(logger));
  return app;
}

const WELCOME = `Planwright API

GraphQL   POST /graphql
console   GET  /console (in a browser)
outputs   GET  /outputs/{ref}
follow    WebSocket /graphql, or server-sent events from /graphql/stream
alive     GET  /healthz
ready     GET  /readyz
metrics   GET  /metrics

curl -s http://HOST:PORT/graphql -H 'content-type: application/json' \\
  -d '{"query":"{ getAvailableTools { name description } }"}'
`;

const setSecurityHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  next();
};

/** RFC 9112, section 3.2: a request without a Host header, or with an invalid one, is refused. */
const requireHost: RequestHandler = (request, response, next) => {
  const { host } = request.headers;
  const isMissing = host === undefined;
  if (isMissing ? request.httpVersion === "1.0" : host === "" || parseHost(host) !== undefined) return next();
  response.set("connection", "close");
  sendError(response, 400, {
    code: "BAD_REQUEST",
    message: isMissing ? "The request has no Host header" : "The Host header is not a host",
    remedy: "Name the service in a Host header, such as 127.0.0.1:4000.",
  });
};

/** GET and empty POST requests have no body, but Apollo requires one. */
const readEmptyBody: RequestHandler = (request, _response, next) => {
  request.body ??= {};
  next();
};

const METHODS = "GET, HEAD, OPTIONS";

/** Accepts only GET and HEAD. */
const acceptReading: RequestHandler = (request, response, next) => {
  if (request.method === "GET" || request.method === "HEAD") return next();
  response.set("allow", METHODS);
  if (request.method === "OPTIONS") return void response.status(204).end();
  sendError(response, 405, {
    code: "METHOD_NOT_ALLOWED",
    message: `${request.method} is not supported here`,
    remedy: "Read an output with GET.",
  });
};

/** How long a browser may cache a preflight answer, in seconds. */
const MAX_AGE_S = 600;

/**
 * Lets pages of these origins read the answers. Pages set credentials in the header `authorization`; cookies
 * are not used. The handlers after this one answer OPTIONS requests.
 */
function allowOrigins(origins: readonly string[]): RequestHandler {
  return cors({
    origin: [...origins],
    methods: ["GET", "HEAD", "POST"],
    allowedHeaders: [
      "authorization",
      "content-type",
      "apollo-require-preflight",
      "traceparent",
      "tracestate",
      "range",
      "if-range",
      "if-none-match",
    ],
    exposedHeaders: ["retry-after", "www-authenticate", "etag", "content-range", "accept-ranges"],
    maxAge: MAX_AGE_S,
    preflightContinue: true,
  });
}

const GRAPHQL_METHODS = "GET, POST, OPTIONS";

/** Accepts only the requests of GraphQL over HTTP: GET, and POST with a JSON body. */
const acceptGraphql: RequestHandler = (request, response, next) => {
  if (request.method === "OPTIONS") return void response.set("allow", GRAPHQL_METHODS).status(204).end();
  if (request.method === "GET") return next();
  if (request.method !== "POST") {
    response.set("allow", GRAPHQL_METHODS);
    return sendError(response, 405, {
      code: "METHOD_NOT_ALLOWED",
      message: `${request.method} is not supported here`,
      remedy: "Send GraphQL as POST, or a query as GET.",
    });
  }
  if (request.is("application/json") === "application/json") return next();
  sendError(response, 415, {
    code: "UNSUPPORTED_MEDIA_TYPE",
    message: "The body must be JSON",
    remedy: "Set content-type: application/json.",
  });
};

/** The page loads only its own files, and sends requests only to the service that served it. */
const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * The built files of services/console. A service imports no other service: only the path of the files is
 * looked up.
 */
const BUILT = packageFile(import.meta.url, "@planwright/console", "dist");

/**
 * Serves the console; must be mounted at /console. The page routes its own addresses, so every address below
 * that is not a file gets the page. The page needs no key: all its data comes from the API, which requires
 * one.
 * @param folder - the built files. Default: those of services/console
 */
function serveConsole(folder: string = BUILT): RequestHandler {
  const router = Router();
  // File names change with their content.
  router.use(
    "/assets",
    express.static(join(folder, "assets"), {
      index: false,
      cacheControl: false,
      setHeaders: (response) => response.setHeader("cache-control", "public, max-age=31536000, immutable"),
    }),
    (_request, response) => sendError(response, 404, NO_FILE),
  );
  router.use(express.static(folder, { index: false, cacheControl: false }));
  router.get("/{*path}", servePage(folder));
  return router;
}

function servePage(folder: string): RequestHandler {
  const page = join(folder, "index.html");
  return (_request, response) => {
    if (!existsSync(page)) {
      sendError(response, 404, NOT_BUILT);
      return;
    }
    response.set("content-security-policy", CONSOLE_POLICY);
    // A folder in the path may begin with a dot when packages are kept in a store.
    response.sendFile(page, { dotfiles: "allow", cacheControl: false });
  };
}

const NO_FILE = {
  code: "NOT_FOUND" as const,
  message: "The console has no such file",
  remedy: "Reload the page: the service was updated since it was opened.",
};

const NOT_BUILT = {
  code: "NOT_FOUND" as const,
  message: "The console is not built",
  remedy: "Run npm run build, then restart the service.",
};
