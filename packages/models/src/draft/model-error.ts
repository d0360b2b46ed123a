import { DraftError, type DraftErrorCode, type PartialDraft } from "./draft-error.ts";
import { baseUrlVariable, keyVariable } from "./model-variables.ts";

/** Facts that every failure of a model call carries. */
export interface ModelFacts {
  /** "provider:model". */
  model: string;
  /** The address of the server, without name, password and query; absent when nothing was sent. */
  url?: string | undefined;
}

/** Facts of a call that got no complete answer. */
export interface UnreachableFacts extends ModelFacts {
  status: number | null;
  retryAfterMs: number | null;
  /** The operating system's code for the failed connection, such as ECONNREFUSED; absent when unknown. */
  reason?: string | undefined;
  /** True when an answer had begun. Default false. */
  isCut?: boolean;
}

/** The facts of each failure of a model call. */
export interface ModelFailureFacts {
  /** The provider needs a key or the address of its server, and neither is set. */
  MODEL_KEY_MISSING: ModelFacts & { variable: string };
  /** The provider refused the key (401, 403). */
  MODEL_UNAUTHORIZED: ModelFacts & { status: number };
  /**
   * The account of the key has no credit or quota left (402, or 429 for its quota), so waiting does not help.
   */
  MODEL_QUOTA_EXHAUSTED: ModelFacts & { status: number };
  /** The provider does not know the model (404). */
  MODEL_NOT_FOUND: ModelFacts;
  /** The provider refused the request itself (400, 413, 422), such as one that is too long. */
  MODEL_REQUEST_INVALID: ModelFacts & { status: number };
  /** No answer, or none that the protocol allows: connection refused or lost, 5xx. */
  MODEL_UNREACHABLE: UnreachableFacts;
  /** The server at the base URL is not the API of a model. */
  MODEL_ENDPOINT_WRONG: ModelFacts & {
    url: string;
    variable: string;
    status: number;
    contentType: string;
    begins: string;
  };
  /** Too many calls (429), also after all retries. */
  MODEL_RATE_LIMITED: ModelFacts & { retryAfterMs: number | null };
  /** No complete answer in time. */
  MODEL_TIMEOUT: ModelFacts & { timeoutMs: number };
  /** The model declined to answer. */
  MODEL_REFUSED: ModelFacts & { refusal: string };
  /** The provider's filter withheld the answer. */
  MODEL_CONTENT_FILTERED: ModelFacts;
  /** The answer was cut off. It is never used as a plan. */
  MODEL_ANSWER_TRUNCATED: ModelFacts;
  /** The answer contains no plan, also after repairs. */
  MODEL_ANSWER_UNREADABLE: ModelFacts & { reason: string };
}

/** Codes of {@link ModelError}. */
export type ModelErrorCode = keyof ModelFailureFacts;

/** The same call may succeed later. */
const RETRYABLE: ReadonlySet<DraftErrorCode> = new Set<ModelErrorCode>([
  "MODEL_UNREACHABLE",
  "MODEL_RATE_LIMITED",
  "MODEL_TIMEOUT",
]);

/** Messages to users: what happened, and what to do. */
const MESSAGES: { readonly [Code in ModelErrorCode]: (facts: ModelFailureFacts[Code]) => string } = {
  MODEL_KEY_MISSING: ({ model, variable }) =>
    `${model} needs a setting: set ${variable}, or MODEL=offline to plan without a model`,
  MODEL_UNAUTHORIZED: (facts) =>
    `The provider of ${facts.model}${at(facts)} refused the key (HTTP ${facts.status}); check ${keyVariableOf(facts.model)} and the rights of the key`,
  MODEL_QUOTA_EXHAUSTED: ({ model, status }) =>
    `The account of ${keyVariableOf(model)} has no credit or quota left for ${model} (HTTP ${status}); add credit, or set FALLBACK_MODEL to another provider`,
  MODEL_NOT_FOUND: (facts) =>
    `The provider${at(facts)} does not know ${facts.model} (HTTP 404); check MODEL and ${baseUrlVariableOf(facts.model)}`,
  MODEL_REQUEST_INVALID: (facts) =>
    `${facts.model}${at(facts)} refused the request (HTTP ${facts.status}); it may be too long, or the model may lack a feature`,
  MODEL_UNREACHABLE: (facts) => {
    const what = facts.isCut
      ? `The answer of ${facts.model}${at(facts)} ended before it was complete`
      : `${facts.model} cannot be reached${at(facts)} (${howOf(facts)})`;
    return `${what}; check ${baseUrlVariableOf(facts.model)} and the provider's status`;
  },
  MODEL_ENDPOINT_WRONG: ({ model, url, status, contentType, begins, variable }) =>
    `The server at ${url} is not the API of ${model}: HTTP ${status} with ${contentType}${begins === "" ? "" : ` that begins "${begins}"`}; check ${variable}, which usually ends with /v1`,
  MODEL_RATE_LIMITED: ({ model, retryAfterMs }) =>
    `${model} takes no more calls now; try again ${retryAfterMs === null ? "later" : `in ${Math.ceil(retryAfterMs / 1_000)} s`}`,
  MODEL_TIMEOUT: (facts) =>
    `${facts.model}${at(facts)} gave no complete answer within ${facts.timeoutMs} ms; try again, or raise MODEL_TIMEOUT_MS`,
  MODEL_REFUSED: ({ model, refusal }) =>
    `${model} refused to answer: ${refusal}; say the request in other words`,
  MODEL_CONTENT_FILTERED: ({ model }) =>
    `The content filter of ${model} withheld the answer; say the request in other words`,
  MODEL_ANSWER_TRUNCATED: ({ model }) =>
    `The answer of ${model} was cut off; ask for fewer steps, or raise MODEL_MAX_OUTPUT_TOKENS`,
  MODEL_ANSWER_UNREADABLE: ({ model, reason }) =>
    `The answer of ${model} could not be read as a plan: ${reason}`,
};

const at = ({ url }: ModelFacts): string => (url === undefined ? "" : ` at ${url}`);

function howOf({ status, reason }: UnreachableFacts): string {
  if (status !== null) return `HTTP ${status}`;
  return reason ?? "no connection, or it was lost before the end";
}

const providerOf = (model: string) => model.slice(0, Math.max(0, model.indexOf(":")));

/** The variable that holds the key of a model's provider. */
const keyVariableOf = (model: string) =>
  providerOf(model) === "" ? "the key" : keyVariable(providerOf(model));

/** The variable that holds the address of a model's server. */
const baseUrlVariableOf = (model: string) =>
  providerOf(model) === "" ? "the base URL" : baseUrlVariable(providerOf(model));

/** A call of a model failed or is not possible. */
export class ModelError<Code extends ModelErrorCode = ModelErrorCode> extends DraftError<
  ModelFailureFacts[Code]
> {
  readonly code: Code;
  readonly retryable: boolean;
  constructor(
    code: Code,
    facts: ModelFailureFacts[Code],
    options?: { cause?: unknown; partial?: PartialDraft },
  ) {
    super(MESSAGES[code](facts), facts, options);
    this.code = code;
    this.retryable = RETRYABLE.has(code);
  }
}

/** True for a failed model call with one of these codes; the type of its facts is then known. */
export function isModelError<Code extends ModelErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is ModelError<Code> {
  return error instanceof ModelError && codes.some((code) => code === error.code);
}

/** Neither the first model nor its fallback is available. The code is that of the first. */
export class BothModelsFailedError extends DraftError<ModelFacts & { fallbackCode: DraftErrorCode }> {
  readonly code: DraftErrorCode;
  readonly retryable: boolean;
  /** That of the first model, and that of the fallback. */
  readonly errors: readonly [DraftError, DraftError];
  constructor(first: DraftError, second: DraftError) {
    const facts: object = first.facts;
    super(
      `${first.message}. The fallback: ${second.message}`,
      { model: "model" in facts ? String(facts.model) : "the model", fallbackCode: second.code },
      { cause: second, ...(first.partial ? { partial: first.partial } : {}) },
    );
    this.code = first.code;
    this.errors = [first, second];
    this.retryable = first.retryable || second.retryable;
  }
}
