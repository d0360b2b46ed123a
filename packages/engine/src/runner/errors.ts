import { CodedError, type Diagnostic } from "@planwright/plan";

/** The plan is invalid; the diagnostics say why. Nothing was called. */
export class PlanInvalidError extends CodedError<{ diagnostics: readonly Diagnostic[] }> {
  readonly code = "PLAN_INVALID";
  readonly retryable = false;
  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter((diagnostic) => diagnostic.severity === "error");
    super(`The plan is invalid: ${errors.map((error) => error.message).join("; ") || "no reason given"}`, {
      diagnostics,
    });
  }
}
