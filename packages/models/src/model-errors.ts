import { DraftError, type PartialDraft } from "./draft-error.ts";

/** Facts that every failure of a model call carries. */
export interface ModelFacts {
  /** "provider:model". */
  model: string;
}

interface ErrorOptions {
  cause?: unknown;
  partial?: PartialDraft;
}

/** `MODEL` names nothing that is known. */
export class ModelSettingError extends DraftError<{ setting: string }> {
  readonly code = "MODEL_SETTING_INVALID";
  readonly retryable = false;
  constructor(facts: { setting: string }) {
    super(
      `MODEL is "${facts.setting}", which is not one of: offline, openai:<model>, anthropic:<model>`,
      facts,
    );
  }
}

/** The provider needs a key and none is set. */
export class ModelKeyMissingError extends DraftError<ModelFacts & { variable: string }> {
  readonly code = "MODEL_KEY_MISSING";
  readonly retryable = false;
  constructor(facts: ModelFacts & { variable: string }) {
    super(
      `${facts.model} needs a key: set ${facts.variable}, or MODEL=offline to plan without a model`,
      facts,
    );
  }
}

/** The provider refused the key (401, 403). */
export class ModelUnauthorizedError extends DraftError<ModelFacts & { status: number }> {
  readonly code = "MODEL_UNAUTHORIZED";
  readonly retryable = false;
  constructor(facts: ModelFacts & { status: number }, options?: ErrorOptions) {
    super(
      `The provider of ${facts.model} refused the key (HTTP ${facts.status}); check the key and its rights`,
      facts,
      options,
    );
  }
}

/** The provider knows no such model (404). */
export class ModelNotFoundError extends DraftError<ModelFacts> {
  readonly code = "MODEL_NOT_FOUND";
  readonly retryable = false;
  constructor(facts: ModelFacts, options?: ErrorOptions) {
    super(`The provider does not know ${facts.model}; check MODEL and the base URL`, facts, options);
  }
}

/** The provider refused the request itself (400, 413, 422), such as one that is too long. */
export class ModelRequestInvalidError extends DraftError<ModelFacts & { status: number }> {
  readonly code = "MODEL_REQUEST_INVALID";
  readonly retryable = false;
  constructor(facts: ModelFacts & { status: number }, options?: ErrorOptions) {
    super(
      `${facts.model} refused the request (HTTP ${facts.status}); it may be too long, or the model may lack a feature`,
      facts,
      options,
    );
  }
}

/** No answer, or none that the protocol allows: connection refused or lost, 5xx. */
export class ModelUnreachableError extends DraftError<ModelFacts & { status: number | null }> {
  readonly code = "MODEL_UNREACHABLE";
  readonly retryable = true;
  constructor(facts: ModelFacts & { status: number | null }, options?: ErrorOptions) {
    const how = facts.status === null ? "no connection, or it was lost" : `HTTP ${facts.status}`;
    super(
      `${facts.model} cannot be reached (${how}); check the base URL and the provider's status`,
      facts,
      options,
    );
  }
}

/** Too many calls (429), also after the allowed retries. */
export class ModelRateLimitedError extends DraftError<ModelFacts & { retryAfterMs: number | null }> {
  readonly code = "MODEL_RATE_LIMITED";
  readonly retryable = true;
  constructor(facts: ModelFacts & { retryAfterMs: number | null }, options?: ErrorOptions) {
    const wait = facts.retryAfterMs === null ? "later" : `in ${Math.ceil(facts.retryAfterMs / 1_000)} s`;
    super(`${facts.model} takes no more calls now; try again ${wait}`, facts, options);
  }
}

/** No complete answer in time. */
export class ModelTimeoutError extends DraftError<ModelFacts & { timeoutMs: number }> {
  readonly code = "MODEL_TIMEOUT";
  readonly retryable = true;
  constructor(facts: ModelFacts & { timeoutMs: number }, options?: ErrorOptions) {
    super(`${facts.model} gave no complete answer within ${facts.timeoutMs} ms`, facts, options);
  }
}

/** The model declined to answer. */
export class ModelRefusedError extends DraftError<ModelFacts & { refusal: string }> {
  readonly code = "MODEL_REFUSED";
  readonly retryable = false;
  constructor(facts: ModelFacts & { refusal: string }, options?: ErrorOptions) {
    super(`${facts.model} refused to plan this: ${facts.refusal}`, facts, options);
  }
}

/** The provider's filter withheld the answer. */
export class ModelContentFilteredError extends DraftError<ModelFacts> {
  readonly code = "MODEL_CONTENT_FILTERED";
  readonly retryable = false;
  constructor(facts: ModelFacts, options?: ErrorOptions) {
    super(
      `The content filter of ${facts.model} withheld the answer; say the request in other words`,
      facts,
      options,
    );
  }
}

/** The answer was cut off. Half a plan is not a plan. */
export class ModelAnswerTruncatedError extends DraftError<ModelFacts> {
  readonly code = "MODEL_ANSWER_TRUNCATED";
  readonly retryable = false;
  constructor(facts: ModelFacts, options?: ErrorOptions) {
    super(
      `The answer of ${facts.model} was cut off; ask for fewer steps, or raise MODEL_MAX_OUTPUT_TOKENS`,
      facts,
      options,
    );
  }
}

/** The answer holds no plan, also not after repair. */
export class ModelAnswerUnreadableError extends DraftError<ModelFacts & { reason: string }> {
  readonly code = "MODEL_ANSWER_UNREADABLE";
  readonly retryable = false;
  constructor(facts: ModelFacts & { reason: string }, options?: ErrorOptions) {
    super(`The answer of ${facts.model} could not be read as a plan: ${facts.reason}`, facts, options);
  }
}
