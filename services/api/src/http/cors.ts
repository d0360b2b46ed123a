import cors from "cors";
import type { RequestHandler } from "express";

/** How long a browser may cache a preflight answer, in seconds. */
const MAX_AGE_S = 600;

/**
 * Lets pages of these origins read the answers. Pages set credentials in the header `authorization`; cookies
 * are not used. The handlers after this one answer OPTIONS requests.
 */
export function allowOrigins(origins: readonly string[]): RequestHandler {
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
