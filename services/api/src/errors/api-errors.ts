import { CodedError, type Diagnostic, planningAdvice, type UnfitAnswer } from "@planwright/plan";
import type { Scope } from "@planwright/store";

/** Every `extensions.code` that a client can meet. Nothing else goes out. */
export const API_ERROR_CODES = [
  // The request as HTTP and as a GraphQL document.
  "BAD_REQUEST",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "METHOD_NOT_ALLOWED",
  "GRAPHQL_PARSE_FAILED",
  "GRAPHQL_VALIDATION_FAILED",
  "OPERATION_RESOLUTION_FAILURE",
  "PERSISTED_QUERY_NOT_SUPPORTED",
  "QUERY_TOO_COMPLEX",
  // Who asks, and how often.
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "RATE_LIMITED",
  // What was asked for.
  "BAD_USER_INPUT",
  "NOT_FOUND",
  "NOT_READY",
  "ANSWER_TOO_LARGE",
  "PLAN_INVALID",
  "POLICY_INVALID",
  "NEEDS_INPUT",
  "ANSWER_UNFIT",
  "IDEMPOTENCY_KEY_REUSED",
  "APPROVAL_STALE",
  "STATE_CONFLICT",
  "TIMEOUT",
  // How planning failed.
  "PLANNING_FAILED",
  "MODEL_SETTING_INVALID",
  "MODEL_KEY_MISSING",
  "MODEL_UNAUTHORIZED",
  "MODEL_NOT_FOUND",
  "MODEL_QUOTA_EXHAUSTED",
  "MODEL_UNPRICED",
  "BUDGET_EXCEEDED",
  "MODEL_REQUEST_INVALID",
  "MODEL_UNREACHABLE",
  "MODEL_ENDPOINT_WRONG",
  "MODEL_RATE_LIMITED",
  "MODEL_TIMEOUT",
  "MODEL_REFUSED",
  "MODEL_CONTENT_FILTERED",
  "MODEL_ANSWER_TRUNCATED",
  "MODEL_ANSWER_UNREADABLE",
  "NOT_UNDERSTOOD",
  "VALUE_MISSING",
  "NO_TOOLS",
  "POISONED",
  // The system.
  "OVERLOADED",
  "UNAVAILABLE",
  "INTERNAL",
] as const;
export type ApiErrorCode = (typeof API_ERROR_CODES)[number];

/** True for a code of {@link API_ERROR_CODES}. */
export function isApiErrorCode(code: unknown): code is ApiErrorCode {
  return API_ERROR_CODES.some((known) => known === code);
}

/** An error that clients may read as it is: the facts stand in `extensions` beside code, retryable and remedy. */
export abstract class ApiError<Facts extends object = object> extends CodedError<Facts> {
  abstract override readonly code: ApiErrorCode;
  /** What the client can do now. */
  abstract readonly remedy: string;
}

/** An argument that cannot be what was meant. */
export class BadInputError extends ApiError<{ argument: string }> {
  readonly code = "BAD_USER_INPUT";
  readonly retryable = false;
  readonly remedy: string;
  constructor(argument: string, message: string, remedy: string) {
    super(message, { argument });
    this.remedy = remedy;
  }
}

/** A policy with an option that there is not, or with a value that an option does not take. */
export class BadPolicyError extends ApiError<{ option: string; value: unknown }> {
  readonly code = "POLICY_INVALID";
  readonly retryable = false;
  readonly remedy: string;
  constructor(option: string, value: unknown, remedy: string) {
    const text = JSON.stringify(value) ?? "null";
    const shown = text.length > SHOWN_VALUE ? `${text.slice(0, SHOWN_VALUE)}…` : text;
    super(`${option} cannot be ${shown}`, { option, value: text === shown ? value : shown });
    this.remedy = remedy;
  }
}
/** Characters of a value that an error quotes. */
const SHOWN_VALUE = 100;

/** No request, or no plan of it, is known under this id. */
export class RequestNotFoundError extends ApiError<{ requestId: string }> {
  readonly code = "NOT_FOUND";
  readonly retryable = false;
  readonly remedy = "Check the requestId; requests { nodes { requestId query } } lists the newest ones.";
  constructor(requestId: string) {
    super(`Plan not found for requestId: ${requestId}`, { requestId });
  }
}

/** No plan is known under this id. */
export class PlanNotFoundError extends ApiError<{ planId: string }> {
  readonly code = "NOT_FOUND";
  readonly retryable = false;
  readonly remedy =
    "Check the plan id; while planning goes on there is no plan yet: ask request(requestId) for its status.";
  constructor(planId: string) {
    super(`Plan not found: ${planId}`, { planId });
  }
}

/** No output is known under this reference, or none yet. */
export class OutputNotFoundError extends ApiError<{ ref: string }> {
  readonly code = "NOT_FOUND";
  readonly retryable = false;
  readonly remedy =
    "Use the ref of an output as an answer gave it; a step has an output once it is COMPLETED.";
  constructor(ref: string) {
    super(`Output not found: ${ref.slice(0, SHOWN_VALUE)}`, { ref: ref.slice(0, SHOWN_VALUE) });
  }
}

/** What was asked for is more than one answer may hold. What a mutation did is done all the same. */
export class AnswerTooLargeError extends ApiError<{ maxBytes: number }> {
  readonly code = "ANSWER_TOO_LARGE";
  readonly retryable = false;
  readonly remedy =
    "Ask for fewer at once: smaller pages of requests, stepsConnection in place of steps, large outputs by their ref.";
  constructor(maxBytes: number) {
    super(`The answer would hold more than ${maxBytes} bytes`, { maxBytes });
  }
}

/** Ids that an error names, so that a client can look further. */
export interface RequestIds {
  requestId: string;
  planId: string;
}

/** Findings that go out with an error at most; `diagnosticsTotal` counts all of them. */
const SHOWN_DIAGNOSTICS = 100;

/** The plan can never run. It is stored with its diagnostics, unless it says otherwise. */
export class PlanInvalidError extends ApiError<
  RequestIds & { diagnostics: readonly Diagnostic[]; diagnosticsTotal: number; stored?: false }
> {
  readonly code = "PLAN_INVALID";
  readonly retryable = false;
  readonly remedy: string;
  constructor(
    { requestId, planId }: RequestIds,
    diagnostics: readonly Diagnostic[],
    unstored?: { remedy: string },
  ) {
    const errors = diagnostics.filter((diagnostic) => diagnostic.severity === "error");
    const first = errors[0] ?? diagnostics[0];
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
    super(`The plan is not valid: ${first?.message ?? "see its diagnostics"}${more}`, {
      requestId,
      planId,
      diagnostics: diagnostics.slice(0, SHOWN_DIAGNOSTICS),
      diagnosticsTotal: diagnostics.length,
      ...(unstored && { stored: false }),
    });
    this.remedy =
      unstored?.remedy ??
      "Correct what the diagnostics name and submit the plan again; validatePlan checks without storing.";
  }
}

/** The planner asks something back; there is no plan. */
export class NeedsInputError extends ApiError<RequestIds & { questions: readonly string[] }> {
  readonly code = "NEEDS_INPUT";
  readonly retryable = false;
  readonly remedy =
    "Answer with answerQuestions(requestId, answers), one answer for each question, or send the query again with the answers in it.";
  constructor(ids: RequestIds, questions: readonly string[]) {
    super(`More must be known before this can be planned: ${questions.join(" ")}`, { ...ids, questions });
  }
}

/** Answers that are no values for what was asked. None was taken, and every question stays open. */
export class AnswerUnfitError extends ApiError<{
  requestId: string;
  unfit: readonly { questionId: string; question: string; message: string }[];
}> {
  readonly code = "ANSWER_UNFIT";
  readonly retryable = false;
  readonly remedy =
    "Answer again with what each message asks for; answers that fit have to be given again too. openQuestions { id schema } says what is taken.";
  constructor(requestId: string, unfit: readonly UnfitAnswer[]) {
    super(`No answer was taken. ${unfit.map(({ message }) => message).join(" ")}`, {
      requestId,
      unfit: unfit.map(({ question, message }) => ({
        questionId: question.id,
        question: question.question,
        message,
      })),
    });
  }
}

/** Planning ended without a plan; the code is the planner's where it is one of ours. */
export class PlanningFailedError extends ApiError<RequestIds & { plannerCode: string }> {
  readonly code: ApiErrorCode;
  readonly retryable: boolean;
  readonly remedy: string;
  constructor(ids: RequestIds, error: { code: string; message: string }) {
    super(error.message, { ...ids, plannerCode: error.code });
    this.code = isApiErrorCode(error.code) ? error.code : "PLANNING_FAILED";
    this.retryable = RETRYABLE_PLANNING.has(this.code);
    this.remedy = `${planningAdvice(this.code).remedy} request(requestId) shows everything that was tried.`;
  }
}
const RETRYABLE_PLANNING: ReadonlySet<ApiErrorCode> = new Set<ApiErrorCode>([
  "MODEL_UNREACHABLE",
  "MODEL_RATE_LIMITED",
  "MODEL_TIMEOUT",
  "NO_TOOLS",
]);

/** Planning did not end in the time that this call waits. It goes on. */
export class PlanningTimeoutError extends ApiError<RequestIds & { waitedMs: number }> {
  readonly code = "TIMEOUT";
  readonly retryable = true;
  readonly remedy: string;
  constructor(ids: RequestIds, waitedMs: number) {
    super(`Planning has not ended after ${waitedMs} ms; it goes on`, { ...ids, waitedMs });
    this.remedy = `Ask request(requestId: "${ids.requestId}") for the status and the plan; do not send the query again.`;
  }
}

/** What was asked for needs a plan, and planning goes on. */
export class NotReadyError extends ApiError<RequestIds> {
  readonly code = "NOT_READY";
  readonly retryable = true;
  readonly remedy = "Wait until request(requestId).status is no longer PLANNING, then ask again.";
  constructor(ids: RequestIds) {
    super(`The plan of request ${ids.requestId} is still being made`, ids);
  }
}

/** The key of a submission was used for another one. Nothing was accepted. */
export class KeyReusedError extends ApiError<{ requestId: string }> {
  readonly code = "IDEMPOTENCY_KEY_REUSED";
  readonly retryable = false;
  readonly remedy = "Send what was sent first under this key to get its request, or choose a new key.";
  constructor(requestId: string) {
    super(`The idempotencyKey was used for something else, which became ${requestId}`, { requestId });
  }
}

/** No such step in a request's current plan. */
export class StepNotFoundError extends ApiError<{ requestId: string; stepId: string }> {
  readonly code = "NOT_FOUND";
  readonly retryable = false;
  readonly remedy =
    "Check the id: request(requestId) { plan { steps { id key } } } lists the steps of the current plan.";
  constructor(place: { requestId: string; stepId: string }) {
    super(`Step not found in the current plan of ${place.requestId}: ${place.stepId}`, place);
  }
}

/** What was approved is not what would be called. */
export class ApprovalStaleError extends ApiError<{
  requestId: string;
  stepId: string;
  approvalHash: string | null;
}> {
  readonly code = "APPROVAL_STALE";
  readonly retryable = false;
  readonly remedy =
    "Look at the step's resolvedArguments as they are now, and give the approvalHash that stands beside them.";
  constructor(facts: { requestId: string; stepId: string; approvalHash: string | null }) {
    super(`The approvalHash is not the one that step '${facts.stepId}' waits for`, facts);
  }
}

/** What stands in the way: the status of the plan, or of the step where one is named; or several steps. */
export interface ConflictFacts {
  requestId: string;
  stepId?: string;
  steps?: readonly string[];
  status: string;
  /** The version that is current, and its id, for a caller that named another one. */
  currentVersion?: number;
  planId?: string;
}

/** The request, plan or step is not in a state in which this can be done. */
export class StateConflictError extends ApiError<ConflictFacts> {
  readonly code = "STATE_CONFLICT";
  readonly retryable = false;
  readonly remedy: string;
  constructor(facts: ConflictFacts, message: string, remedy: string) {
    super(message, facts);
    this.remedy = remedy;
  }
}

/** More is under way than can be served in time. Nothing of the operation was done. */
export class OverloadedError extends ApiError<{ retryAfterMs: number }> {
  readonly code = "OVERLOADED";
  readonly retryable = true;
  readonly remedy = "Send the same again after retryAfterMs milliseconds; nothing of it was done.";
  constructor(reason: string, retryAfterMs: number) {
    super(`The service has too much to do: ${reason}`, { retryAfterMs });
  }
}

/** The API key or token is not known. Which keys exist is not told: the words are the same for every one not accepted. */
export class UnauthenticatedError extends ApiError {
  readonly code = "UNAUTHENTICATED";
  readonly retryable = false;
  readonly remedy: string;
  /** @param credential - "over": it was accepted, and is not any more */
  constructor(credential: keyof typeof UNAUTHENTICATED) {
    const { message, remedy } = UNAUTHENTICATED[credential];
    super(message, {});
    this.remedy = remedy;
  }
}
const UNAUTHENTICATED = {
  missing: {
    message: "This needs an API key or a token, and none was sent",
    remedy:
      'Send the header "Authorization: Bearer pw_..."; an operator makes a key with: npm run keys -- create',
  },
  "not accepted": {
    message: "The API key or token is not accepted",
    remedy: 'Check the header "Authorization: Bearer ..." or ask an operator for a new key.',
  },
  over: {
    message: "The API key or token is over: it was revoked, or has expired",
    remedy:
      "Get a new token, or ask an operator for a new key, and begin again with it; what was accepted goes on.",
  },
} as const;

/** The caller is known, and may not do this. */
export class ForbiddenError extends ApiError<{ scope: Scope }> {
  readonly code = "FORBIDDEN";
  readonly retryable = false;
  readonly remedy: string;
  constructor(scope: Scope) {
    super(`This needs the scope '${scope}', which your credential does not have`, { scope });
    this.remedy = `Ask an operator for a key or token with the scope '${scope}'.`;
  }
}

/** The caller asks more often than it may. Nothing of the operation was done. */
export class RateLimitedError extends ApiError<{ retryAfterMs: number }> {
  readonly code = "RATE_LIMITED";
  readonly retryable = true;
  readonly remedy =
    "Send the same again after retryAfterMs milliseconds; follow requests with requestUpdated instead of polling.";
  constructor(perMinute: number, retryAfterMs: number) {
    super(`More than ${perMinute} operations in a minute were sent with this credential`, { retryAfterMs });
  }
}

/** MongoDB, or another service that is needed, gives no answer. Nothing is known of a write that was under way. */
export class UnavailableError extends ApiError<Record<string, never>> {
  readonly code = "UNAVAILABLE";
  readonly retryable = true;
  readonly remedy = "Try again in a few seconds; look with requests whether a mutation has been accepted.";
  constructor(cause?: unknown, who = "The database") {
    super(`${who} gives no answer right now`, {}, { cause });
  }
}

/** An unexpected error. Its own text goes to the log alone, under the correlation id. */
export class InternalError extends ApiError<{ correlationId: string }> {
  readonly code = "INTERNAL";
  readonly retryable = false;
  readonly remedy = "Report the correlationId to the operator: the log names the cause under it.";
  constructor(correlationId: string, cause: unknown) {
    super("Something went wrong inside the service", { correlationId }, { cause });
  }
}
