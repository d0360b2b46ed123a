import { CodedError, type JsonObject, type JsonValue } from "@planwright/plan";

/** The API gave no answer: the connection was refused or lost, or the answer came too late. */
export class ApiUnreachableError extends CodedError<{ url: string; reason: string }> {
  readonly code = "API_UNREACHABLE";
  readonly retryable = true;
  constructor(url: string, reason: string, cause?: unknown) {
    super(`The API at ${url} does not answer: ${reason}`, { url, reason }, { cause });
  }
}

/** A server answers at this address, but it is not the API. */
export class NotTheApiError extends CodedError<{ url: string; status: number }> {
  readonly code = "NOT_THE_API";
  readonly retryable = false;
  constructor(url: string, status: number, cause?: unknown) {
    super(
      `The server at ${url} is not the API (HTTP ${status}): check --url, which ends with /graphql`,
      { url, status },
      { cause },
    );
  }
}

/** The API's facts about an operation that it refused. */
export interface Refusal {
  /** `extensions.code`: decide by this. */
  code: string;
  /** True when the same operation may succeed later. */
  retryable: boolean;
  /** What to do, for people; null when the API does not say. */
  remedy: string | null;
  /** The field that failed, from the root of the document; empty when the whole operation was refused. */
  path: readonly (string | number)[];
  /** Everything else in `extensions`, such as requestId and diagnostics. */
  facts: JsonObject;
}

/** The API refused the operation. The message is the API's own. */
export class ApiRefusedError extends CodedError<Refusal> {
  readonly code = "API_REFUSED";
  readonly retryable: boolean;
  constructor(message: string, refusal: Refusal) {
    super(message, refusal);
    this.retryable = refusal.retryable;
  }

  /** One fact of the refusal. */
  fact(name: string): JsonValue | undefined {
    return this.facts.facts[name];
  }
}
