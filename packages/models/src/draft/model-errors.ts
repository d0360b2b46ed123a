import { DraftError, type DraftErrorCode, type PartialDraft } from "./draft-error.ts";
import { baseUrlVariable, keyVariable } from "./model-variables.ts";

/** Facts that every failure of a model call carries. */
export interface ModelFacts {
  /** "provider:model". */
  model: string;
  /** Where it was asked, without name, password and query; absent where nothing was sent. */
  url?: string | undefined;
}

const at = ({ url }: ModelFacts): string => (url === undefined ? "" : ` at ${url}`);

interface ErrorOptions {
  cause?: unknown;
  partial?: PartialDraft;
}

const providerOf = (model: string) => model.slice(0, Math.max(0, model.indexOf(":")));

/** The variable that holds the key of a model's provider. */
const keyVariableOf = (model: string) =>
  providerOf(model) === "" ? "the key" : keyVariable(providerOf(model));

/** The variable that holds the address of a model's server. */
const baseUrlVariableOf = (model: string) =>
  providerOf(model) === "" ? "the base URL" : baseUrlVariable(providerOf(model));

/** The provider needs a key, or the address of its server, and none is set. */
export class ModelKeyMissingError extends DraftError<ModelFacts & { variable: string }> {
  readonly code = "MODEL_KEY_MISSING";
  readonly retryable = false;
  constructor(facts: ModelFacts & { variable: string }) {
    super(
      `${facts.model} needs a setting: set ${facts.variable}, or MODEL=offline to plan without a model`,
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
      `The provider of ${facts.model}${at(facts)} refused the key (HTTP ${facts.status}); check ${keyVariableOf(facts.model)} and the rights of the key`,
      facts,
      options,
    );
  }
}

/** The account of the key has nothing left (402, or 429 for its quota): waiting does not help. */
export class ModelQuotaExhaustedError extends DraftError<ModelFacts & { status: number }> {
  readonly code = "MODEL_QUOTA_EXHAUSTED";
  readonly retryable = false;
  constructor(facts: ModelFacts & { status: number }, options?: ErrorOptions) {
    super(
      `The account of ${keyVariableOf(facts.model)} has no credit or quota left for ${facts.model} (HTTP ${facts.status}); add credit, or set FALLBACK_MODEL to another provider`,
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
    super(
      `The provider${at(facts)} does not know ${facts.model} (HTTP 404); check MODEL and ${baseUrlVariableOf(facts.model)}`,
      facts,
      options,
    );
  }
}

/** The provider refused the request itself (400, 413, 422), such as one that is too long. */
export class ModelRequestInvalidError extends DraftError<ModelFacts & { status: number }> {
  readonly code = "MODEL_REQUEST_INVALID";
  readonly retryable = false;
  constructor(facts: ModelFacts & { status: number }, options?: ErrorOptions) {
    super(
      `${facts.model}${at(facts)} refused the request (HTTP ${facts.status}); it may be too long, or the model may lack a feature`,
      facts,
      options,
    );
  }
}

/** What is known of a call that got no whole answer. */
export interface UnreachableFacts extends ModelFacts {
  status: number | null;
  retryAfterMs: number | null;
  /** Why there was no connection, as the system names it, such as ECONNREFUSED; absent when that is not known. */
  reason?: string | undefined;
  /** True when an answer had begun. Default false. */
  isCut?: boolean;
}

/** No answer, or none that the protocol allows: connection refused or lost, 5xx. */
export class ModelUnreachableError extends DraftError<UnreachableFacts> {
  readonly code = "MODEL_UNREACHABLE";
  readonly retryable = true;
  constructor(facts: UnreachableFacts, options?: ErrorOptions) {
    const what = facts.isCut
      ? `The answer of ${facts.model}${at(facts)} ended before it was complete`
      : `${facts.model} cannot be reached${at(facts)} (${howOf(facts)})`;
    super(`${what}; check ${baseUrlVariableOf(facts.model)} and the provider's status`, facts, options);
  }
}

function howOf({ status, reason }: UnreachableFacts): string {
  if (status !== null) return `HTTP ${status}`;
  return reason ?? "no connection, or it was lost before the end";
}

/** Something answers at the base URL, and it is not the API of a model. */
export class ModelEndpointWrongError extends DraftError<
  ModelFacts & { url: string; variable: string; status: number; contentType: string; begins: string }
> {
  readonly code = "MODEL_ENDPOINT_WRONG";
  readonly retryable = false;
  constructor(
    facts: ModelFacts & {
      url: string;
      variable: string;
      status: number;
      contentType: string;
      begins: string;
    },
    options?: ErrorOptions,
  ) {
    const begins = facts.begins === "" ? "" : ` that begins "${facts.begins}"`;
    super(
      `What answers at ${facts.url} is not the API of ${facts.model}: HTTP ${facts.status} with ${facts.contentType}${begins}; check ${facts.variable}, which usually ends with /v1`,
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
    super(
      `${facts.model}${at(facts)} gave no complete answer within ${facts.timeoutMs} ms; try again, or raise MODEL_TIMEOUT_MS`,
      facts,
      options,
    );
  }
}

/** The model declined to answer. */
export class ModelRefusedError extends DraftError<ModelFacts & { refusal: string }> {
  readonly code = "MODEL_REFUSED";
  readonly retryable = false;
  constructor(facts: ModelFacts & { refusal: string }, options?: ErrorOptions) {
    super(
      `${facts.model} refused to answer: ${facts.refusal}; say the request in other words`,
      facts,
      options,
    );
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

/** Neither the first model nor its fallback can be had; the code is that of the first. */
export class BothModelsFailedError extends DraftError<ModelFacts & { fallbackCode: DraftErrorCode }> {
  readonly code: DraftErrorCode;
  readonly retryable: boolean;
  constructor(first: DraftError, second: DraftError) {
    const facts: object = first.facts;
    super(
      `${first.message}. The fallback: ${second.message}`,
      { model: "model" in facts ? String(facts.model) : "the model", fallbackCode: second.code },
      { cause: second, ...(first.partial ? { partial: first.partial } : {}) },
    );
    this.code = first.code;
    this.retryable = first.retryable || second.retryable;
  }
}
