/**
 * The base of all errors of the project: a `code` from a closed list for decisions, `facts` to show, `cause`
 * to debug. Programs must decide by `code`, never by the message. Subclasses set `code` and `retryable`.
 */
export abstract class CodedError<Facts extends object = object> extends Error {
  /** Upper-case identifier from the closed list of the throwing package, such as "PLAN_NOT_FOUND". */
  abstract readonly code: string;
  /** True when the same call may succeed later without any change. */
  abstract readonly retryable: boolean;
  /** The values in the message; safe to log and to show after redaction. */
  readonly facts: Readonly<Facts>;

  constructor(message: string, facts: Facts, options?: { cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.facts = facts;
  }
}
