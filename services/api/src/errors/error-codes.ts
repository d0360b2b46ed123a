/** Facts about every error of a code. */
interface CodeFacts {
  /** HTTP status of an answer that contains only this error. Default 500. */
  status?: number;
  /** The same call may succeed later without any change. Default false. */
  retryable?: true;
}

const CODES = {
  // The request as HTTP and as a GraphQL document.
  BAD_REQUEST: {},
  PAYLOAD_TOO_LARGE: {},
  UNSUPPORTED_MEDIA_TYPE: {},
  METHOD_NOT_ALLOWED: {},
  GRAPHQL_PARSE_FAILED: {},
  GRAPHQL_VALIDATION_FAILED: {},
  OPERATION_RESOLUTION_FAILURE: {},
  PERSISTED_QUERY_NOT_SUPPORTED: {},
  QUERY_TOO_COMPLEX: {},
  // The caller, and the rate of its calls.
  UNAUTHENTICATED: { status: 401 },
  FORBIDDEN: { status: 403 },
  RATE_LIMITED: { status: 429, retryable: true },
  // The arguments and the state.
  BAD_USER_INPUT: {},
  NOT_FOUND: { status: 404 },
  NOT_READY: { retryable: true },
  ANSWER_TOO_LARGE: { status: 413 },
  PLAN_INVALID: {},
  POLICY_INVALID: {},
  NEEDS_INPUT: {},
  ANSWER_UNFIT: {},
  IDEMPOTENCY_KEY_REUSED: {},
  APPROVAL_STALE: {},
  PLAN_STALE: {},
  STATE_CONFLICT: {},
  REPEAT_NOT_ACCEPTED: {},
  TIMEOUT: { retryable: true },
  // Failures of planning.
  PLANNING_FAILED: {},
  MODEL_SETTING_INVALID: {},
  MODEL_KEY_MISSING: {},
  MODEL_UNAUTHORIZED: {},
  MODEL_NOT_FOUND: {},
  MODEL_QUOTA_EXHAUSTED: {},
  MODEL_UNPRICED: {},
  BUDGET_EXCEEDED: {},
  MODEL_REQUEST_INVALID: {},
  MODEL_UNREACHABLE: { retryable: true },
  MODEL_ENDPOINT_WRONG: {},
  MODEL_RATE_LIMITED: { retryable: true },
  MODEL_TIMEOUT: { retryable: true },
  MODEL_REFUSED: {},
  MODEL_CONTENT_FILTERED: {},
  MODEL_ANSWER_TRUNCATED: {},
  MODEL_ANSWER_UNREADABLE: {},
  NOT_UNDERSTOOD: {},
  VALUE_MISSING: {},
  NO_TOOLS: { retryable: true },
  POISONED: {},
  // The system.
  OVERLOADED: { status: 503, retryable: true },
  UNAVAILABLE: { status: 503, retryable: true },
  INTERNAL: {},
} as const satisfies Record<string, CodeFacts>;

/** An `extensions.code` that a client can get. */
export type ApiErrorCode = keyof typeof CODES;

/** All codes; no other code is ever sent. */
export const API_ERROR_CODES: readonly ApiErrorCode[] = Object.keys(CODES).filter(isApiErrorCode);

const FACTS: Readonly<Record<ApiErrorCode, CodeFacts>> = CODES;

/** True for a code of {@link API_ERROR_CODES}. */
export function isApiErrorCode(code: unknown): code is ApiErrorCode {
  return typeof code === "string" && Object.hasOwn(CODES, code);
}

/** The HTTP status of a request that is refused completely; 500 for an unexpected error. */
export function statusOf(code: ApiErrorCode): number {
  return FACTS[code].status ?? 500;
}

/** True when the same call may succeed later without any change. */
export function isRetryable(code: ApiErrorCode): boolean {
  return FACTS[code].retryable ?? false;
}
