import { CodedError } from "../coded-error.ts";

/** Facts of a reference that cannot be filled. */
export interface ReferenceFacts {
  /** The reference as written. */
  reference: string;
  root: string;
  /** Names that exist in its place. */
  candidates?: readonly string[] | undefined;
}

/** The step referred to gave no output: it failed, was skipped, or is not in the plan. */
export class ReferenceUnresolvedError extends CodedError<ReferenceFacts> {
  readonly code = "REFERENCE_UNRESOLVED";
  readonly retryable = false;
}

/** The output of the step referred to has no such field. */
export class ReferenceMissingError extends CodedError<ReferenceFacts> {
  readonly code = "REFERENCE_MISSING";
  readonly retryable = false;
}

/** A tool name that several steps use, or a path through `__proto__`, `constructor` or `prototype`. */
export class ReferenceRefusedError extends CodedError<ReferenceFacts> {
  readonly code = "REFERENCE_REFUSED";
  readonly retryable = false;
}
