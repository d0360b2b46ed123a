import { CodedError } from "../diagnostics/coded-error.ts";

/**
 * A reference to a step (or alias) without an output: it does not exist, failed, was skipped or has not
 * ended.
 */
export class UnresolvedReferenceError extends CodedError<{ reference: string; root: string }> {
  readonly code = "REFERENCE_UNRESOLVED";
  readonly retryable = false;
  constructor(facts: { reference: string; root: string }) {
    super(`Reference ${facts.reference} cannot be resolved: step ${facts.root} has no output`, facts);
  }
}

/** A reference to a missing field of an output. */
export class MissingFieldError extends CodedError<{ reference: string; root: string; reason: string }> {
  readonly code = "REFERENCE_MISSING";
  readonly retryable = false;
  constructor(facts: { reference: string; root: string; reason: string }) {
    super(`Reference ${facts.reference} finds nothing: ${facts.reason}`, facts);
  }
}

/** A reference by the name of a tool that several steps use. */
export class AmbiguousReferenceError extends CodedError<{
  reference: string;
  root: string;
  candidates: string[];
}> {
  readonly code = "REFERENCE_AMBIGUOUS";
  readonly retryable = false;
  constructor(facts: { reference: string; root: string; candidates: string[] }) {
    super(
      `Reference ${facts.reference} is ambiguous: tool ${facts.root} is used by the steps ${facts.candidates.join(", ")}; use a step id`,
      facts,
    );
  }
}

/** A reference to `__proto__`, `constructor` or `prototype`. No policy allows it. */
export class ForbiddenReferenceError extends CodedError<{ reference: string; key: string }> {
  readonly code = "REFERENCE_FORBIDDEN";
  readonly retryable = false;
  constructor(facts: { reference: string; key: string }) {
    super(`Reference ${facts.reference} is refused: ${facts.key} is not a field of data`, facts);
  }
}

/** Resolving the references would make a value larger than allowed. */
export class ResolvedTooLargeError extends CodedError<{ reference: string; maxSize: number }> {
  readonly code = "REFERENCE_TOO_LARGE";
  readonly retryable = false;
  constructor(facts: { reference: string; maxSize: number }, cause?: unknown) {
    super(`Filling in ${facts.reference} makes the value larger than ${facts.maxSize} characters`, facts, {
      cause,
    });
  }
}

/** All errors of {@link resolveReferences}. */
export type ReferenceError =
  | UnresolvedReferenceError
  | MissingFieldError
  | AmbiguousReferenceError
  | ForbiddenReferenceError
  | ResolvedTooLargeError;
