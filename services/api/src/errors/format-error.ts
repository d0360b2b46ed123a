import { randomUUID } from "node:crypto";
import { unmarkNumbers } from "@planwright/plan";
import { redact, redactText } from "@planwright/runtime";
import {
  CursorInvalidError,
  EntryTooLargeError,
  IdempotencyKeyReusedError,
  isTransient,
  RequestLagsError,
  StoreUnavailableError,
  TooManyControlsError,
} from "@planwright/store";
import type { ErrorRequestHandler, Response } from "express";
import { GraphQLError, type GraphQLFormattedError, Kind } from "graphql";
import { z } from "zod";
import {
  ApiError,
  type ApiErrorCode,
  BadInputError,
  INTERNAL_TEXT,
  InternalError,
  isApiErrorCode,
  isRetryable,
  KeyReusedError,
  OverloadedError,
  statusOf,
  UnavailableError,
} from "./api-error.ts";
import { type ApiLogger, logFactsOf } from "./telemetry.ts";

/** Remedies for errors that GraphQL itself reports. */
const REMEDY: Partial<Record<ApiErrorCode, string>> = {
  BAD_REQUEST:
    "Send a POST with content-type application/json and a body { query, variables, operationName }.",
  GRAPHQL_PARSE_FAILED: "Correct the document where the locations point.",
  GRAPHQL_VALIDATION_FAILED: "Correct the document: the schema lists every field and argument.",
  OPERATION_RESOLUTION_FAILURE: "Name one of the document's operations in operationName.",
  PERSISTED_QUERY_NOT_SUPPORTED: "Send the complete document in query.",
  QUERY_TOO_COMPLEX: "Ask for less at once, or in several requests; give long values as variables.",
  BAD_USER_INPUT: "Give the argument or variable the type that the schema names.",
};

/** Longest message about a document that is sent, in UTF-16 units. */
const MAX_MESSAGE = 1_000;

/**
 * The only place where errors become answers: errors for clients are passed on, every other error is logged
 * with a correlation id and masked.
 * @param introspection - false: messages suggest no names of the schema, and contain only type names that are
 * in the document. Default true
 */
export function createFormatError(logger: ApiLogger, { introspection = true } = {}) {
  return (formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError => {
    const location = {
      ...(formatted.locations ? { locations: formatted.locations } : {}),
      ...(formatted.path ? { path: formatted.path } : {}),
    };
    const protocol = protocolError(formatted, error);
    if (protocol) {
      const message = introspection ? protocol.message : withoutSchemaNames(protocol.message, error);
      return {
        message: redactText(shortened(unmarkNumbers(message))),
        ...location,
        extensions: protocol.extensions,
      };
    }
    const origin = originOf(error);
    const known = toApiError(origin, logger, {
      ...logFactsOf(origin),
      ...logFactsOf(error),
      path: formatted.path,
    });
    return { message: redactText(known.message), ...location, extensions: extensionsOf(known) };
  };
}

/** The code that the client gets for an error. */
export function answeredCode(error: unknown): string {
  const protocol = isGraphqlError(error) ? protocolError(error.toJSON(), error) : undefined;
  if (protocol) return String(protocol.extensions["code"]);
  const origin = originOf(error);
  if (origin instanceof ApiError) return origin.code;
  return isUnavailable(origin) ? "UNAVAILABLE" : "INTERNAL";
}

/**
 * True for an error of a wait for work that was accepted before it. The answer is then the accepted work: as an error
 * it would say that the work may not have been accepted, and a client that sends it again would do it twice.
 */
export function isOnlyOfWait(error: unknown): boolean {
  const code = answeredCode(error);
  return code === "OVERLOADED" || code === "UNAVAILABLE";
}

/** The thrown error inside the wrapping of GraphQL, which may be double. */
function originOf(error: unknown): unknown {
  return isGraphqlError(error) && error.originalError ? originOf(error.originalError) : error;
}

/** The public side of an error. */
function extensionsOf(error: ApiError): Record<string, unknown> {
  const { code, retryable, remedy, facts } = error;
  return { code, retryable, remedy, ...Object.fromEntries(Object.entries(facts).map(clean)) };
}

/** Diagnostics may quote what the client sent, with secrets. */
function clean([name, fact]: [string, unknown]): [string, unknown] {
  return [name, redact(fact)];
}

/** An error that GraphQL or Apollo found in the request itself; undefined for an error of a resolver. */
function protocolError(
  formatted: GraphQLFormattedError,
  error: unknown,
): { message: string; extensions: Record<string, unknown> } | undefined {
  if (!isGraphqlError(error)) return undefined;
  const { limit, max } = error.extensions;
  const isLimit = limit !== undefined || isTokenLimit(error);
  const code = isLimit
    ? "QUERY_TOO_COMPLEX"
    : isArgumentError(error)
      ? "BAD_USER_INPUT"
      : formatted.extensions?.["code"];
  if (!isApiErrorCode(code)) return undefined;
  return {
    message: formatted.message,
    extensions: {
      code,
      retryable: false,
      ...(REMEDY[code] ? { remedy: REMEDY[code] } : {}),
      ...(limit === undefined ? {} : { limit, max }),
    },
  };
}

/** GraphQL quotes names and values of clients completely, however long they are. */
function shortened(message: string): string {
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
}

/**
 * How GraphQL quotes types: after the kind of the type, before it, or before a field. Scalars are kept: they
 * show how to write a value.
 */
const QUOTED_TYPE = /\b(?:type|Object|Enum) "([^"]*)"|"(\w+)" enum\b|(?<=")(\w+)\.(?=\w+")/g;

/** Removes suggestions, which are at the end, and names of types that the client did not write. */
function withoutSchemaNames(message: string, error: unknown): string {
  const document = isGraphqlError(error) ? (error.source?.body ?? "") : "";
  const written = new Set(document.match(/\w+/g));
  return message
    .replace(/ Did you mean .*\?$/s, "")
    .replace(QUOTED_TYPE, (quoted, after?: string, before?: string, owner?: string) => {
      if (written.has((after ?? before ?? owner ?? "").replaceAll(/[[\]!]/g, ""))) return quoted;
      if (owner !== undefined) return "";
      return quoted.replace(/"[^"]*"/, "").trim();
    });
}

/** Checks the form, not the class: two copies of the library in one process have different classes. */
function isGraphqlError(error: unknown): error is GraphQLError {
  return error instanceof Error && "extensions" in error && "nodes" in error && "originalError" in error;
}

/** The parser's own limit is known only by its text. */
function isTokenLimit(error: GraphQLError): boolean {
  return /Document contains more tha[nt] \d+ tokens/.test(error.message);
}

/** A wrong value that only execution can detect: the error points at the value, not at a field. */
function isArgumentError(error: GraphQLError): boolean {
  const node = error.nodes?.[0];
  // Subscriptions do not pass Apollo, which marks errors of variables.
  if (node?.kind === Kind.VARIABLE_DEFINITION) return error.extensions["code"] === undefined;
  return node !== undefined && node.kind !== Kind.FIELD && error.path !== undefined;
}

function toApiError(error: unknown, logger: ApiLogger, about: object): ApiError {
  const known = knownError(error);
  if (known) return known;
  if (isUnavailable(error)) {
    logger.warn({ err: error, ...about }, "MongoDB does not answer");
    return new UnavailableError(error);
  }
  const correlationId = randomUUID();
  logger.error({ err: error, ...about, correlationId }, "an operation failed unexpectedly");
  return new InternalError(correlationId, error);
}

/** Errors of closed connections while this process ends. */
const CLOSED_NAMES: ReadonlySet<string> = new Set([
  "MongoPoolClosedError",
  "MongoTopologyClosedError",
  "MongoClientClosedError",
]);

function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreUnavailableError || error instanceof RequestLagsError) return true;
  if (isTransient(error)) return true;
  return error instanceof Error && CLOSED_NAMES.has(error.name);
}

/** The executor of a plan takes its controls four times a second. */
const CONTROLS_RETRY_AFTER_MS = 1_000;

/** The error for clients, if their call caused it; undefined for an unexpected error. Pure. */
export function knownError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof CursorInvalidError) {
    return new BadInputError("after", error.message, "Use pageInfo.endCursor of the page before.");
  }
  if (error instanceof EntryTooLargeError) {
    const message = "The plan has too many items to carry over: another version of it cannot be stored";
    return new BadInputError("requestId", message, "Submit the remaining steps as a new plan.");
  }
  if (error instanceof TooManyControlsError)
    return new OverloadedError(error.message, CONTROLS_RETRY_AFTER_MS);
  return error instanceof IdempotencyKeyReusedError ? new KeyReusedError(error.facts.requestId) : undefined;
}

/** The type of Apollo's option of this name. */
export type FormatError = (formatted: GraphQLFormattedError, error: unknown) => GraphQLFormattedError;

/** A masked error that is still a GraphQLError. */
export function maskError(error: GraphQLError, formatError: FormatError): GraphQLError {
  const { message, extensions } = formatError(error.toJSON(), error);
  const { nodes, source, positions, path } = error;
  const location = {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
  };
  return new GraphQLError(message, { ...location, extensions: extensions ?? {} });
}

/** An error outside GraphQL. */
export interface ErrorFacts {
  code: ApiErrorCode;
  message: string;
  remedy: string;
  retryAfterMs?: number;
  correlationId?: string;
}

/** The error in the form of GraphQL errors, so that clients need only one form. */
export function errorBody({ message, ...extensions }: ErrorFacts): object {
  return { errors: [{ message, extensions: { retryable: isRetryable(extensions.code), ...extensions } }] };
}

/** Answers with an {@link errorBody}. */
export function sendError(response: Response, status: number, error: ErrorFacts): void {
  response.status(status).json(errorBody(error));
}

/** Headers of a refusal: when to retry, and how to authenticate. */
export function headersOf({ code, facts }: { code: ApiErrorCode; facts: object }): Record<string, string> {
  const headers: Record<string, string> = {};
  if (code === "UNAUTHENTICATED") headers["www-authenticate"] = 'Bearer realm="planwright"';
  if ("retryAfterMs" in facts && typeof facts.retryAfterMs === "number") {
    headers["retry-after"] = String(Math.ceil(facts.retryAfterMs / 1_000));
  }
  return headers;
}

/** Answers a request that is refused before it reaches GraphQL or MCP. */
export type SendRefusal = (response: Response, error: unknown) => void;

/** Masks and logs unexpected errors, as `formatError` does for GraphQL. */
export function createSendRefusal(formatError: FormatError): SendRefusal {
  return (response, error) => {
    const { message, extensions } = formatError({ message: "" }, error);
    const code = isApiErrorCode(extensions?.["code"]) ? extensions["code"] : "INTERNAL";
    if (error instanceof ApiError) response.set(headersOf(error));
    response.status(statusOf(code)).json({ errors: [{ message, extensions }] });
  };
}

/** Largest body that is read, in bytes. */
export const MAX_BODY_BYTES = 1_048_576;

/** The parts of a body parser's error that are used; its text is not sent. */
export const ParserErrorSchema = z.object({
  status: z.number().int().min(400).max(499),
  type: z.string().optional(),
});

/** The last handler, for bodies that cannot be read and unexpected errors. */
export function createErrorHandler(logger: ApiLogger): ErrorRequestHandler {
  return (error, _request, response, next) => {
    if (response.headersSent) return next(error);
    const parsed = ParserErrorSchema.safeParse(error);
    if (parsed.success) return sendParserError(response, parsed.data);
    const correlationId = randomUUID();
    logger.error({ err: error, correlationId }, "a request failed unexpectedly");
    sendError(response, 500, {
      code: "INTERNAL",
      ...INTERNAL_TEXT,
      correlationId,
    });
  };
}

function sendParserError(response: Response, { status, type }: z.infer<typeof ParserErrorSchema>): void {
  switch (status) {
    case 413:
      // The rest of the body stays unread.
      response.set("connection", "close");
      return sendError(response, 413, {
        code: "PAYLOAD_TOO_LARGE",
        message: "The body is larger than 1 MiB",
        remedy: "Send a smaller document or plan.",
      });
    case 415:
      return sendError(response, 415, {
        code: "UNSUPPORTED_MEDIA_TYPE",
        message: "The body has a character set or an encoding that is not accepted",
        remedy: "Send UTF-8, plain or with content-encoding gzip, deflate or br.",
      });
    default:
      return sendError(response, status, {
        code: "BAD_REQUEST",
        message:
          type === "entity.parse.failed" ? "The body is not a JSON object" : "The request cannot be read",
        remedy: 'Send a JSON object such as {"query": "{ getAvailableTools { name } }"}.',
      });
  }
}
