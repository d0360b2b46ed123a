import { CodedError, type Diagnostic } from "@planwright/plan";

/** The plan cannot be run as it is; the diagnostics say why. Nothing was called. */
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

/** Steps wait for each other and the policy is `onCycle: "error"`. */
export class PlanCycleError extends CodedError<{ stepIds: readonly string[] }> {
  readonly code = "PLAN_CYCLE";
  readonly retryable = false;
  constructor(stepIds: readonly string[]) {
    super(`These steps wait for each other: ${stepIds.join(" -> ")}`, { stepIds });
  }
}
