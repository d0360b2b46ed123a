import type { Scope } from "@planwright/store";
import { ApiError } from "./api-error.ts";

/**
 * The API key or token is not known. Whether a key exists is secret: the text is the same for all credentials
 * that are not accepted.
 */
export class UnauthenticatedError extends ApiError {
  /** @param credential - "ended": it was accepted before, and has expired or was revoked */
  constructor(credential: keyof typeof UNAUTHENTICATED) {
    super("UNAUTHENTICATED", {}, UNAUTHENTICATED[credential]);
  }
}

const UNAUTHENTICATED = {
  missing: {
    message: "An API key or a token is required, and none was sent",
    remedy:
      'Send the header "Authorization: Bearer pw_..."; an operator makes a key with: npm run keys -- create',
  },
  "not accepted": {
    message: "The API key or token is not accepted",
    remedy: 'Check the header "Authorization: Bearer ..." or ask an operator for a new key.',
  },
  ended: {
    message: "The API key or token is no longer valid: it was revoked or has expired",
    remedy:
      "Get a new token or ask an operator for a new key, then start again with it; accepted work continues.",
  },
} as const;

/** The caller is known, but may not do this. */
export class ForbiddenError extends ApiError<{ scope: Scope }> {
  constructor(scope: Scope) {
    super(
      "FORBIDDEN",
      { scope },
      {
        message: `This needs the scope '${scope}', which your credential does not have`,
        remedy: `Ask an operator for a key or token with the scope '${scope}'.`,
      },
    );
  }
}

/** The caller sends more operations than its rate limit allows. The operation was not started. */
export class RateLimitedError extends ApiError<{ retryAfterMs: number }> {
  constructor(perMinute: number, retryAfterMs: number) {
    super(
      "RATE_LIMITED",
      { retryAfterMs },
      {
        message: `More than ${perMinute} operations in a minute were sent with this credential`,
        remedy:
          "Send it again after retryAfterMs milliseconds; follow requests with requestUpdated instead of polling.",
      },
    );
  }
}
