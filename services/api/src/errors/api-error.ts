import { CodedError } from "@planwright/plan";
import { type ApiErrorCode, isRetryable } from "./error-codes.ts";

/** The texts of an error. */
interface ErrorText {
  message: string;
  /** What the client can do now. */
  remedy: string;
}

/**
 * An error that may be shown to clients unchanged. The facts are sent in `extensions` beside code, retryable
 * and remedy.
 */
export abstract class ApiError<Facts extends object = object> extends CodedError<Facts> {
  override readonly code: ApiErrorCode;
  override readonly retryable: boolean;
  /** What the client can do now. */
  readonly remedy: string;
  constructor(code: ApiErrorCode, facts: Facts, { message, remedy }: ErrorText, cause?: unknown) {
    super(message, facts, { cause });
    this.code = code;
    this.retryable = isRetryable(code);
    this.remedy = remedy;
  }
}

/** Characters of a value that an error quotes. */
export const SHOWN_VALUE = 100;
