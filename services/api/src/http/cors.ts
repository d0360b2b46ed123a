import cors from "cors";
import type { RequestHandler } from "express";

/** How long a browser may remember what it was told, in seconds. */
const MAX_AGE_S = 600;

/**
 * Lets pages of these origins read the answers. Credentials travel in the header `authorization`, which a page has to set by
 * itself: cookies are never asked for. What is no preflight, and what a preflight is answered with, is said elsewhere.
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
