/** Default upper limit for a step's own timeout, in milliseconds; a setting of the service overrides it. */
export const MAX_STEP_TIMEOUT_MS = 600_000;

/** All values that limit the timeout of a call, in milliseconds. */
export interface CallTimeoutFacts {
  /** `timeoutMs` of the step. */
  stepMs: number | undefined;
  /** `stepTimeoutMs` of the policy. */
  policyMs: number;
  /** `timeout_ms` of the tool's contract. */
  contractMs: number | undefined;
  /** Upper limit for a step's own timeout. */
  maxStepMs: number;
}

/** The timeout of a call, in milliseconds, and what limits it below its step's own timeout. */
export interface CallTimeout {
  timeoutMs: number;
  cutBy?: "contract" | "maximum";
}

/**
 * The timeout of a call. A step's value overrides the policy, up to the larger of the maximum and the policy.
 * The contract limits both, because operator and server declare it for the tool itself. Pure.
 */
export function callTimeout({ stepMs, policyMs, contractMs, maxStepMs }: CallTimeoutFacts): CallTimeout {
  const allowedMs = stepMs === undefined ? policyMs : Math.min(stepMs, Math.max(policyMs, maxStepMs));
  const timeoutMs = Math.min(allowedMs, contractMs ?? Number.POSITIVE_INFINITY);
  if (stepMs === undefined || timeoutMs === stepMs) return { timeoutMs };
  return { timeoutMs, cutBy: timeoutMs < allowedMs ? "contract" : "maximum" };
}
