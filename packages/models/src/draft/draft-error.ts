import { CodedError } from "@planwright/plan";
import type { DraftResult } from "./drafter.ts";

/** Every way in which a draft can fail. */
export type DraftErrorCode =
  | "MODEL_SETTING_INVALID"
  | "MODEL_KEY_MISSING"
  | "MODEL_REQUIRED"
  | "MODEL_UNAUTHORIZED"
  | "MODEL_NOT_FOUND"
  | "MODEL_QUOTA_EXHAUSTED"
  | "MODEL_UNPRICED"
  | "BUDGET_EXCEEDED"
  | "MODEL_REQUEST_INVALID"
  | "MODEL_UNREACHABLE"
  | "MODEL_ENDPOINT_WRONG"
  | "MODEL_RATE_LIMITED"
  | "MODEL_TIMEOUT"
  | "MODEL_REFUSED"
  | "MODEL_CONTENT_FILTERED"
  | "MODEL_ANSWER_TRUNCATED"
  | "MODEL_ANSWER_UNREADABLE"
  | "NOT_UNDERSTOOD"
  | "VALUE_MISSING"
  | "NO_TOOLS";

/** What was sent and received before the failure, for the record of the call. */
export type PartialDraft = Partial<DraftResult>;

/** There is no draft. The message says to users what happened and what to do. */
export abstract class DraftError<Facts extends object = object> extends CodedError<Facts> {
  abstract override readonly code: DraftErrorCode;
  /** Absent when nothing was sent. */
  readonly partial: PartialDraft | undefined;

  constructor(message: string, facts: Facts, options: { cause?: unknown; partial?: PartialDraft } = {}) {
    super(message, facts, options);
    this.partial = options.partial;
  }
}

/** The catalogue is empty, so no plan is possible. */
export class NoToolsError extends DraftError<Record<string, never>> {
  readonly code = "NO_TOOLS";
  readonly retryable = true;
  constructor() {
    super(
      "No tools are known, so nothing can be planned. Configure an MCP server in the file named by MCP_SERVERS_FILE and start an executor, which publishes the tools of its servers.",
      {},
    );
  }
}

/** Facts that every failure of a model call carries. */
export interface ModelFacts {
  /** "provider:model". */
  model: string;
  /** The address of the server, without name, password and query; absent when nothing was sent. */
  url?: string | undefined;
}

/** Facts of a call that got no complete answer. */
interface UnreachableFacts extends ModelFacts {
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

/** A limit on the model calls of one request, by its name in the API. */
export type ModelLimitName = "maxModelCalls" | "maxTokens" | "maxCostUsd";

/** Facts of a refused call. */
export interface BudgetFacts {
  limit: ModelLimitName;
  /** The limit of the request. */
  max: number;
  /** Used by earlier calls, including the maximum of calls with an unknown end. */
  used: number;
  /** The maximum that the next call may use. */
  needed: number;
  /** "provider:model" of the refused call. */
  model: string;
}

/** The next call might exceed the limit of the request. It was not sent. */
export class BudgetExceededError extends DraftError<BudgetFacts> {
  readonly code = "BUDGET_EXCEEDED";
  readonly retryable = false;
  constructor(facts: BudgetFacts) {
    const { limit, model } = facts;
    const [max, used, needed] = [facts.max, facts.used, facts.needed].map((each) => amount(limit, each));
    super(
      `The limit ${limit} of this request is ${max}: ${used} used so far, and the next call of ${model} may take ${needed} more. Send the query again with a higher ${limit} in limits, or one that needs fewer tools and steps.`,
      facts,
    );
  }
}

/** The price of a model is unknown, so a limit in dollars cannot be kept. The call was not sent. */
export class ModelUnpricedError extends DraftError<{ model: string; maxCostUsd: number }> {
  readonly code = "MODEL_UNPRICED";
  readonly retryable = false;
  constructor(facts: { model: string; maxCostUsd: number }) {
    super(
      `maxCostUsd of this request is ${facts.maxCostUsd}, and the price of ${facts.model} is not known; name it in the file of MODEL_PRICES_FILE, or limit maxTokens instead`,
      facts,
    );
  }
}

function amount(limit: ModelLimitName, value: number): string {
  switch (limit) {
    case "maxModelCalls":
      return String(value);
    case "maxTokens":
      return `${value} tokens`;
    case "maxCostUsd":
      return `$${Number(value.toPrecision(4))}`;
  }
}

/** The setting that holds the key of a provider: OPENAI_API_KEY. */
export const keyVariable = <Name extends string>(provider: Name) =>
  `${provider.toUpperCase() as Uppercase<Name>}_API_KEY` as const;

/** The setting that replaces the default address of a provider: OPENAI_BASE_URL. */
export const baseUrlVariable = <Name extends string>(provider: Name) =>
  `${provider.toUpperCase() as Uppercase<Name>}_BASE_URL` as const;
