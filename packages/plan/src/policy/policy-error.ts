import { CodedError } from "../diagnostics/coded-error.ts";

/** A policy with an unknown option or an invalid value. */
export class PolicyInvalidError extends CodedError<{ problems: string[] }> {
  readonly code = "POLICY_INVALID";
  readonly retryable = false;
  constructor(facts: { problems: string[] }) {
    super(`The policy is invalid: ${facts.problems.join("; ")}`, facts);
  }
}
