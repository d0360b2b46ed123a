import { CodedError, type Diagnostic, planningAdvice, unmarkNumbers } from "@planwright/plan";
import type { UnfitAnswer } from "@planwright/reading";
import type { Scope } from "@planwright/store";

/** The texts of an error. */
interface ErrorText {
  message: string;
  /** What the client can do now. */
  remedy: string;
}

/**
 * An error that may be shown to clients unchanged. The facts are sent in `extensions` beside code, retryable
 * and remedy.
 */
export abstract class ApiError<Facts extends object = object> extends CodedError<Facts> {
  override readonly code: ApiErrorCode;
  override readonly retryable: boolean;
  /** What the client can do now. */
  readonly remedy: string;
  constructor(code: ApiErrorCode, facts: Facts, { message, remedy }: ErrorText, cause?: unknown) {
    super(message, facts, { cause });
    this.code = code;
    this.retryable = isRetryable(code);
    this.remedy = remedy;
  }
}

/** Characters of a value that an error quotes. */
const SHOWN_VALUE = 100;

/**
 * The API key or token is not known. Whether a key exists is secret: the text is the same for all credentials
 * that are not accepted.
 */
export class UnauthenticatedError extends ApiError {
  /**
   * @param credential - "ended": it was accepted before, and has expired or was revoked; "ended later": after this
   * call had accepted work
   * @param work - the accepted work. Default: none
   */
  constructor(credential: keyof typeof UNAUTHENTICATED, work: { requestId?: string } = {}) {
    super("UNAUTHENTICATED", work, UNAUTHENTICATED[credential]);
  }
}

const ENDED = "The API key or token is no longer valid: it was revoked or has expired";

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
    message: ENDED,
    remedy:
      "Get a new token or ask an operator for a new key, then start again with it; accepted work continues.",
  },
  "ended later": {
    message: ENDED,
    remedy:
      "Get a new token or ask an operator for a new key, and read the request with it by its requestId. Do not send it again: it was accepted, and continues.",
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

/** An argument has a value that the operation does not accept. */
export class BadInputError extends ApiError<{ argument: string }> {
  constructor(argument: string, message: string, remedy: string) {
    super("BAD_USER_INPUT", { argument }, { message, remedy });
  }
}

/** A policy has an unknown option, or a value that its option does not accept. */
export class BadPolicyError extends ApiError<{ option: string; value: unknown }> {
  constructor(option: string, value: unknown, remedy: string) {
    const text = unmarkNumbers(JSON.stringify(value) ?? "null");
    const shown = text.length > SHOWN_VALUE ? `${text.slice(0, SHOWN_VALUE)}…` : text;
    const facts = { option, value: text === shown ? value : shown };
    super("POLICY_INVALID", facts, { message: `${option} cannot be ${shown}`, remedy });
  }
}

/** The answer would be larger than the limit. A mutation has still taken effect. */
export class AnswerTooLargeError extends ApiError<{ maxBytes: number }> {
  constructor(maxBytes: number) {
    super(
      "ANSWER_TOO_LARGE",
      { maxBytes },
      {
        message: `The answer would have more than ${maxBytes} bytes`,
        remedy:
          "Ask for fewer at once: smaller pages of requests, stepsConnection in place of steps, large outputs by their ref.",
      },
    );
  }
}

/** The idempotency key was used with other arguments. Nothing was accepted. */
export class KeyReusedError extends ApiError<{ requestId: string }> {
  constructor(requestId: string) {
    super(
      "IDEMPOTENCY_KEY_REUSED",
      { requestId },
      {
        message: `The idempotencyKey was used before with other arguments, for ${requestId}`,
        remedy: "Send the same arguments as the first time to get its request, or choose a new key.",
      },
    );
  }
}

/** No request, or no plan of the request, has this id. */
export class RequestNotFoundError extends ApiError<{ requestId: string }> {
  constructor(requestId: string) {
    super(
      "NOT_FOUND",
      { requestId },
      {
        message: `Plan not found for requestId: ${requestId}`,
        remedy: "Check the requestId; requests { nodes { requestId query } } lists the newest ones.",
      },
    );
  }
}

/** No plan has this id. */
export class PlanNotFoundError extends ApiError<{ planId: string }> {
  constructor(planId: string) {
    super(
      "NOT_FOUND",
      { planId },
      {
        message: `Plan not found: ${planId}`,
        remedy:
          "Check the plan id. During planning there is no plan yet: read the status with request(requestId).",
      },
    );
  }
}

/** No output has this reference, or not yet. */
export class OutputNotFoundError extends ApiError<{ ref: string }> {
  constructor(given: string) {
    const ref = given.slice(0, SHOWN_VALUE);
    super(
      "NOT_FOUND",
      { ref },
      {
        message: `Output not found: ${ref}`,
        remedy: "Use a ref from an earlier answer; a step has an output once it is COMPLETED.",
      },
    );
  }
}

/** The current plan of the request has no such step. */
export class StepNotFoundError extends ApiError<{ requestId: string; stepId: string }> {
  constructor(place: { requestId: string; stepId: string }) {
    super("NOT_FOUND", place, {
      message: `Step not found in the current plan of ${place.requestId}: ${place.stepId}`,
      remedy:
        "Check the id: request(requestId) { plan { steps { id key } } } lists the steps of the current plan.",
    });
  }
}

/** No executor has a tool server with this name. */
export class ToolServerNotFoundError extends ApiError<{ name: string }> {
  constructor(given: string) {
    const name = given.slice(0, SHOWN_VALUE);
    super(
      "NOT_FOUND",
      { name },
      {
        message: `Tool server not found: ${name}`,
        remedy:
          "Use a name of toolServers { name }; a server that was added to the servers file needs a restart of the executors.",
      },
    );
  }
}

/** Ids in an error, with which a client can read more. */
interface RequestIds {
  requestId: string;
  planId: string;
}

/** The planner has questions for the user; there is no plan. */
export class NeedsInputError extends ApiError<RequestIds & { questions: readonly string[] }> {
  constructor(ids: RequestIds, questions: readonly string[]) {
    super(
      "NEEDS_INPUT",
      { ...ids, questions },
      {
        message: `More information is needed before this can be planned: ${questions.join(" ")}`,
        remedy:
          "Answer with answerQuestions(requestId, answers), one answer for each question, or send the query again with the answers in it.",
      },
    );
  }
}

/**
 * Some answers are not values that the tools accept. No answer was accepted, and every question stays open.
 */
export class AnswerUnfitError extends ApiError<{
  requestId: string;
  unfit: readonly { questionId: string; question: string; message: string }[];
}> {
  constructor(requestId: string, answers: readonly UnfitAnswer[]) {
    const unfit = answers.map(({ question: { id, question }, message }) => ({
      questionId: id,
      question,
      message,
    }));
    super(
      "ANSWER_UNFIT",
      { requestId, unfit },
      {
        message: `No answer was accepted. ${unfit.map(({ message }) => message).join(" ")}`,
        remedy:
          "Answer again with a value that each message asks for; repeat the other answers too. openQuestions { id schema } shows the accepted values.",
      },
    );
  }
}

/**
 * Planning ended without a plan. The code is that of the planner if it is in our list, otherwise
 * PLANNING_FAILED.
 */
export class PlanningFailedError extends ApiError<RequestIds & { plannerCode: string }> {
  constructor(ids: RequestIds, error: { code: string; message: string }) {
    const code = isApiErrorCode(error.code) ? error.code : "PLANNING_FAILED";
    super(
      code,
      { ...ids, plannerCode: error.code },
      {
        message: error.message,
        remedy: `${planningAdvice(code).remedy} request(requestId) shows everything that was tried.`,
      },
    );
  }
}

/** Planning did not end in the time that this call waits. It continues. */
export class PlanningTimeoutError extends ApiError<RequestIds & { waitedMs: number }> {
  constructor(ids: RequestIds, waitedMs: number) {
    super(
      "TIMEOUT",
      { ...ids, waitedMs },
      {
        message: `Planning has not ended after ${waitedMs} ms; it continues`,
        remedy: `Ask request(requestId: "${ids.requestId}") for the status and the plan; do not send the query again.`,
      },
    );
  }
}

/** The operation needs a plan, and planning has not ended. */
export class NotReadyError extends ApiError<RequestIds> {
  constructor(ids: RequestIds) {
    super("NOT_READY", ids, {
      message: `The plan of request ${ids.requestId} is still being made`,
      remedy: "Wait until request(requestId).status is no longer PLANNING, then ask again.",
    });
  }
}

/** Most diagnostics that are sent with an error; `diagnosticsTotal` counts all of them. */
const SHOWN_DIAGNOSTICS = 100;

/** Most steps that an error names. */
export const MAX_NAMED = 100;

/** The plan can never run. It is stored with its diagnostics, unless the error says otherwise. */
export class PlanInvalidError extends ApiError<
  RequestIds & { diagnostics: readonly Diagnostic[]; diagnosticsTotal: number; stored?: false }
> {
  constructor(
    { requestId, planId }: RequestIds,
    diagnostics: readonly Diagnostic[],
    unstored?: { remedy: string },
  ) {
    const errors = diagnostics.filter((diagnostic) => diagnostic.severity === "error");
    const first = errors[0] ?? diagnostics[0];
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
    const facts = {
      requestId,
      planId,
      diagnostics: diagnostics.slice(0, SHOWN_DIAGNOSTICS),
      diagnosticsTotal: diagnostics.length,
      ...(unstored && { stored: false as const }),
    };
    super("PLAN_INVALID", facts, {
      message: `The plan is not valid: ${first?.message ?? "see its diagnostics"}${more}`,
      remedy:
        unstored?.remedy ??
        "Correct what the diagnostics name and submit the plan again; validatePlan checks without storing.",
    });
  }
}

/** The client approved another call than the current call of the step. */
export class ApprovalStaleError extends ApiError<{
  requestId: string;
  stepId: string;
  approvalHash: string | null;
}> {
  constructor(facts: { requestId: string; stepId: string; approvalHash: string | null }) {
    super("APPROVAL_STALE", facts, {
      message: `The approvalHash is not that of the call that step '${facts.stepId}' waits for`,
      remedy: "Read the step's current resolvedArguments, and send the approvalHash that is shown with them.",
    });
  }
}

/** The client has seen another plan than the one that would be started. Nothing was started. */
export class PlanStaleError extends ApiError<RequestIds & { version: number; planHash: string }> {
  constructor(facts: RequestIds & { version: number; planHash: string }) {
    super("PLAN_STALE", facts, {
      message: `The planHash is not the one of version ${facts.version} of the plan, ${facts.planId}: nothing was started`,
      remedy:
        "Read the current plan (document, steps), and send the planHash that is shown with it; or read the newer version of its request.",
    });
  }
}

/**
 * The change would make calls again that are done, or that acted or may have acted, and the caller did not name
 * their steps. Nothing was changed.
 */
export class RepeatNotAcceptedError extends ApiError<{
  requestId: string;
  /** Keys of units. */
  steps: readonly string[];
  /** The ids to name. */
  acceptRepeat: readonly string[];
}> {
  constructor({ requestId, keys }: { requestId: string; keys: readonly string[] }) {
    const steps = keys.slice(0, MAX_NAMED);
    const more = keys.length > MAX_NAMED ? ` and ${keys.length - MAX_NAMED} more` : "";
    super(
      "REPEAT_NOT_ACCEPTED",
      { requestId, steps, acceptRepeat: [...new Set(keys.map(stepIdOf))].slice(0, MAX_NAMED) },
      {
        message: `A call of these steps is done, or may have acted, and would be made again: ${steps.join(", ")}${more}. Nothing was changed`,
        remedy:
          "Check in their servers whether the calls acted. Where another call is right, name the step in acceptRepeat (planwright retry --repeat STEP), or give it other arguments.",
      },
    );
  }
}

function stepIdOf(key: string): string {
  return key.replace(/\[\d+\]$/, "");
}

/** The state that prevents the operation: of the plan, or of the named steps. */
export interface ConflictFacts {
  requestId: string;
  stepId?: string;
  steps?: readonly string[];
  status: string;
  /** The current version and its id, for a caller that named another one. */
  currentVersion?: number;
  planId?: string;
}

/** The state of the request, plan or step does not allow this operation. */
export class StateConflictError extends ApiError<ConflictFacts> {
  constructor(facts: ConflictFacts, message: string, remedy: string) {
    super("STATE_CONFLICT", facts, { message, remedy });
  }
}

/** The service is at its limit. The operation was not started. */
export class OverloadedError extends ApiError<{ retryAfterMs: number }> {
  constructor(reason: string, retryAfterMs: number) {
    super(
      "OVERLOADED",
      { retryAfterMs },
      {
        message: `The service is overloaded: ${reason}`,
        remedy: "Send it again after retryAfterMs milliseconds; the operation was not started.",
      },
    );
  }
}

/** MongoDB, or another required service, does not answer. It is unknown whether a write took effect. */
export class UnavailableError extends ApiError {
  constructor(cause?: unknown, service = "The database") {
    const remedy =
      "Wait a few seconds. Before you send a mutation again, look with requests whether it was accepted, or send it with its idempotencyKey.";
    super("UNAVAILABLE", {}, { message: `${service} does not answer right now`, remedy }, cause);
  }
}

/** An unexpected error. Its text is only in the log, with the correlation id. */
export class InternalError extends ApiError<{ correlationId: string }> {
  constructor(correlationId: string, cause: unknown) {
    super("INTERNAL", { correlationId }, INTERNAL_TEXT, cause);
  }
}

/** The text of every unexpected error for clients. */
export const INTERNAL_TEXT = {
  message: "Something went wrong inside the service",
  remedy: "Report the correlationId to the operator: the log has the cause under this id.",
} as const;

/** No executor lives that could reload a tool server. */
export class NoExecutorError extends ApiError<{ name: string }> {
  constructor(name: string) {
    super(
      "STATE_CONFLICT",
      { name },
      {
        message: `No executor lives that could reload ${name}; nothing was changed`,
        remedy: "Start an executor: it connects to all its servers anew. fleet shows the live executors.",
      },
    );
  }
}

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
