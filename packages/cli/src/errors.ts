import { CodedError } from "@planwright/plan";

/** The command line is wrong. The message says what to type instead. */
export class UsageError extends CodedError {
  readonly code = "USAGE";
  readonly retryable = false;
  constructor(message: string, cause?: unknown) {
    super(message, {}, { cause });
  }
}

/** The command changed nothing: the change was made before, or is not possible. */
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

/** The user pressed Ctrl-C, or the process got another signal. */
export class InterruptedError extends CodedError<{ signal: string }> {
  readonly code = "INTERRUPTED";
  readonly retryable = true;
  constructor(signal: string) {
    super("Interrupted", { signal });
  }
}
