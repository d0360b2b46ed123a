import { type Diagnostic } from "@planwright/plan";
import { ApiError } from "./api-error.ts";
import { type RequestIds } from "./planning-errors.ts";

/** Most diagnostics that are sent with an error; `diagnosticsTotal` counts all of them. */
const SHOWN_DIAGNOSTICS = 100;

/** Most steps that an error names. */
export const MAX_NAMED = 100;

/** The plan can never run. It is stored with its diagnostics, unless the error says otherwise. */
export class PlanInvalidError extends ApiError<
  RequestIds & { diagnostics: readonly Diagnostic[]; diagnosticsTotal: number; stored?: false }
> {
  constructor(
    { requestId, planId }: RequestIds,
    diagnostics: readonly Diagnostic[],
    unstored?: { remedy: string },
  ) {
    const errors = diagnostics.filter((diagnostic) => diagnostic.severity === "error");
    const first = errors[0] ?? diagnostics[0];
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
    const facts = {
      requestId,
      planId,
      diagnostics: diagnostics.slice(0, SHOWN_DIAGNOSTICS),
      diagnosticsTotal: diagnostics.length,
      ...(unstored && { stored: false as const }),
    };
    super("PLAN_INVALID", facts, {
      message: `The plan is not valid: ${first?.message ?? "see its diagnostics"}${more}`,
      remedy:
        unstored?.remedy ??
        "Correct what the diagnostics name and submit the plan again; validatePlan checks without storing.",
    });
  }
}

/** The client approved another call than the current call of the step. */
export class ApprovalStaleError extends ApiError<{
  requestId: string;
  stepId: string;
  approvalHash: string | null;
}> {
  constructor(facts: { requestId: string; stepId: string; approvalHash: string | null }) {
    super("APPROVAL_STALE", facts, {
      message: `The approvalHash is not that of the call that step '${facts.stepId}' waits for`,
      remedy: "Read the step's current resolvedArguments, and send the approvalHash that is shown with them.",
    });
  }
}

/** The client has seen another plan than the one that would be started. Nothing was started. */
export class PlanStaleError extends ApiError<RequestIds & { version: number; planHash: string }> {
  constructor(facts: RequestIds & { version: number; planHash: string }) {
    super("PLAN_STALE", facts, {
      message: `The planHash is not the one of version ${facts.version} of the plan, ${facts.planId}: nothing was started`,
      remedy:
        "Read the current plan (document, steps), and send the planHash that is shown with it; or read the newer version of its request.",
    });
  }
}

/**
 * The change would make calls again that are done, or that acted or may have acted, and the caller did not name
 * their steps. Nothing was changed.
 */
export class RepeatNotAcceptedError extends ApiError<{
  requestId: string;
  /** Keys of units. */
  steps: readonly string[];
  /** The ids to name. */
  acceptRepeat: readonly string[];
}> {
  constructor({ requestId, keys }: { requestId: string; keys: readonly string[] }) {
    const steps = keys.slice(0, MAX_NAMED);
    const more = keys.length > MAX_NAMED ? ` and ${keys.length - MAX_NAMED} more` : "";
    super(
      "REPEAT_NOT_ACCEPTED",
      { requestId, steps, acceptRepeat: [...new Set(keys.map(stepIdOf))].slice(0, MAX_NAMED) },
      {
        message: `A call of these steps is done, or may have acted, and would be made again: ${steps.join(", ")}${more}. Nothing was changed`,
        remedy:
          "Check in their servers whether the calls acted. Where another call is right, name the step in acceptRepeat (planwright retry --repeat STEP), or give it other arguments.",
      },
    );
  }
}

function stepIdOf(key: string): string {
  return key.replace(/\[\d+\]$/, "");
}

/** The state that prevents the operation: of the plan, or of the named steps. */
export interface ConflictFacts {
  requestId: string;
  stepId?: string;
  steps?: readonly string[];
  status: string;
  /** The current version and its id, for a caller that named another one. */
  currentVersion?: number;
  planId?: string;
}

/** The state of the request, plan or step does not allow this operation. */
export class StateConflictError extends ApiError<ConflictFacts> {
  constructor(facts: ConflictFacts, message: string, remedy: string) {
    super("STATE_CONFLICT", facts, { message, remedy });
  }
}
