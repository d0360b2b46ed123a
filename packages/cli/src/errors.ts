import { CodedError } from "@planwright/plan";

/** What was typed cannot be done as it is. The message says what to type instead. */
export class UsageError extends CodedError {
  readonly code = "USAGE";
  readonly retryable = false;
  constructor(message: string, cause?: unknown) {
    super(message, {}, { cause });
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

/** Waiting took longer than --timeout. The request continues. */
export class GaveUpWaitingError extends CodedError<{ timeoutMs: number }> {
  readonly code = "GAVE_UP_WAITING";
  readonly retryable = true;
  constructor(timeoutMs: number) {
    super(`Not ended after ${timeoutMs / 1_000} s`, { timeoutMs });
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
