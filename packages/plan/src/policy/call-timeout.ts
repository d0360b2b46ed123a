/** Most that a step may ask for, in milliseconds, where the service is not set to another value. */
export const MAX_STEP_TIMEOUT_MS = 600_000;

/** All values that bound how long a call may take, each in milliseconds. */
export interface CallTimeoutFacts {
  /** `timeoutMs` of the step. */
  stepMs: number | undefined;
  /** `stepTimeoutMs` of the policy. */
  policyMs: number;
  /** `timeout_ms` of the tool's contract. */
  contractMs: number | undefined;
  /** Most that a step may ask for beyond the policy. */
  maxStepMs: number;
}

/** How long a call may take, in milliseconds, and what keeps it below what its step asks for. */
export interface CallTimeout {
  timeoutMs: number;
  cutBy?: "contract" | "maximum";
}

/**
 * How long a call may take. A step's own value wins over the policy, up to the maximum or the policy,
 * whichever is more; a contract bounds both, because operator and server declare it for the tool itself.
 * Pure.
 */
export function callTimeout({ stepMs, policyMs, contractMs, maxStepMs }: CallTimeoutFacts): CallTimeout {
  const allowedMs = stepMs === undefined ? policyMs : Math.min(stepMs, Math.max(policyMs, maxStepMs));
  const timeoutMs = Math.min(allowedMs, contractMs ?? Number.POSITIVE_INFINITY);
  if (stepMs === undefined || timeoutMs === stepMs) return { timeoutMs };
  return { timeoutMs, cutBy: timeoutMs < allowedMs ? "contract" : "maximum" };
}
