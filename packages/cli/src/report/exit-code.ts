import { ApiRefusedError, ENDED, needOf, type RequestRun } from "@planwright/client";
import { CodedError } from "@planwright/plan";

/** The exit codes of the program. Scripts rely on them; they do not change. */
export const EXIT = {
  /** What was asked for is done; of a followed request: it is COMPLETED. */
  OK: 0,
  /** The plan failed, ended PARTIAL or CANCELLED, is invalid, or could not be made; `doctor` found a problem. */
  PLAN_FAILED: 1,
  /** The command itself is wrong. */
  USAGE: 2,
  /** A client or operator has to act: answer, approve, settle a doubt, sign in, start or resume. */
  NEEDS_DECISION: 3,
  /** The API does not answer, or refused. */
  API: 4,
  /** --timeout has passed; the plan continues. The same code as timeout(1). */
  GAVE_UP_WAITING: 124,
  /** Ctrl-C; the plan continues. */
  INTERRUPTED: 130,
  /** SIGTERM; the plan continues. */
  TERMINATED: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code for the state of a request; null while it continues. */
export function exitCodeOf(request: RequestRun): ExitCode | null {
  if (request.status === "COMPLETED") return EXIT.OK;
  if (ENDED.has(request.status)) return EXIT.PLAN_FAILED;
  return needOf(request) === null ? null : EXIT.NEEDS_DECISION;
}

/** Refusals that are about the plan, not about the API. */
const REFUSED: Readonly<Record<string, ExitCode>> = {
  PLAN_INVALID: EXIT.PLAN_FAILED,
  NEEDS_INPUT: EXIT.NEEDS_DECISION,
};

/** The exit code for an error. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.USAGE;
  if (error instanceof GaveUpWaitingError) return EXIT.GAVE_UP_WAITING;
  if (error instanceof InterruptedError) {
    return error.facts.signal === "SIGINT" ? EXIT.INTERRUPTED : EXIT.TERMINATED;
  }
  if (error instanceof ApiRefusedError) return REFUSED[error.facts.code] ?? EXIT.API;
  return EXIT.API;
}

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
