import { CodedError, type JsonObject, type JsonValue } from "@planwright/plan";

/** What was typed cannot be done as it is. The message says what to type instead. */
export class UsageError extends CodedError {
  readonly code = "USAGE";
  readonly retryable = false;
  constructor(message: string, cause?: unknown) {
    super(message, {}, { cause });
  }
}

/** No answer from the API: refused, lost, or too late. */
export class ApiUnreachableError extends CodedError<{ url: string; reason: string }> {
  readonly code = "API_UNREACHABLE";
  readonly retryable = true;
  constructor(url: string, reason: string, cause?: unknown) {
    super(`The API at ${url} does not answer: ${reason}`, { url, reason }, { cause });
  }
}

/** Something answers, and it does not speak GraphQL as the API does. */
export class NotTheApiError extends CodedError<{ url: string; status: number }> {
  readonly code = "NOT_THE_API";
  readonly retryable = false;
  constructor(url: string, status: number, cause?: unknown) {
    super(
      `What answers at ${url} is not the API (HTTP ${status}): check --url, which ends with /graphql`,
      { url, status },
      { cause },
    );
  }
}

/** What the API says about an operation that it refused: `code` to decide by, `remedy` for people. */
export interface Refusal {
  code: string;
  retryable: boolean;
  remedy: string | null;
  /** Everything else beside the message, such as requestId and diagnostics. */
  facts: JsonObject;
}

/** The API refused the operation. The message is its own. */
export class ApiRefusedError extends CodedError<Refusal> {
  readonly code = "API_REFUSED";
  readonly retryable: boolean;
  constructor(message: string, refusal: Refusal) {
    super(message, refusal);
    this.retryable = refusal.retryable;
  }

  /** A fact of the refusal. */
  fact(name: string): JsonValue | undefined {
    return this.facts.facts[name];
  }
}

/** The command changed nothing: what it asks for was done before, or cannot be done. */
export class NothingChangedError extends CodedError {
  readonly code = "NOTHING_CHANGED";
  readonly retryable = false;
  constructor(message: string) {
    super(message, {});
  }
}

/** Waiting took longer than --timeout. What was asked for goes on. */
export class GaveUpWaitingError extends CodedError<{ timeoutMs: number }> {
  readonly code = "GAVE_UP_WAITING";
  readonly retryable = true;
  constructor(timeoutMs: number) {
    super(`Not over after ${timeoutMs / 1_000} s`, { timeoutMs });
  }
}

/** The user pressed Ctrl-C, or a signal came. */
export class InterruptedError extends CodedError<{ signal: string }> {
  readonly code = "INTERRUPTED";
  readonly retryable = true;
  constructor(signal: string) {
    super("Interrupted", { signal });
  }
}
