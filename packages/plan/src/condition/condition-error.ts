import { CodedError } from "../diagnostics/coded-error.ts";

/**
 * A condition that cannot be evaluated: it is not a condition, or its operator does not accept the operands.
 */
export class ConditionInvalidError extends CodedError<{ operator: string; reason: string }> {
  readonly code = "CONDITION_INVALID";
  readonly retryable = false;
  constructor(facts: { operator: string; reason: string }) {
    super(`Condition "${facts.operator}" cannot be answered: ${facts.reason}`, facts);
  }
}
