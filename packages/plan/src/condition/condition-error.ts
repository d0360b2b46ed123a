import { CodedError } from "../diagnostics/coded-error.ts";

/** A condition that cannot be answered: not a condition, or operands that its operator does not take. */
export class ConditionInvalidError extends CodedError<{ operator: string; reason: string }> {
  readonly code = "CONDITION_INVALID";
  readonly retryable = false;
  constructor(facts: { operator: string; reason: string }) {
    super(`Condition "${facts.operator}" cannot be answered: ${facts.reason}`, facts);
  }
}
