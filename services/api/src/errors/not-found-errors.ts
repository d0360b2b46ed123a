import { ApiError, SHOWN_VALUE } from "./api-error.ts";

/** No request, or no plan of the request, has this id. */
export class RequestNotFoundError extends ApiError<{ requestId: string }> {
  constructor(requestId: string) {
    super(
      "NOT_FOUND",
      { requestId },
      {
        message: `Plan not found for requestId: ${requestId}`,
        remedy: "Check the requestId; requests { nodes { requestId query } } lists the newest ones.",
      },
    );
  }
}

/** No plan has this id. */
export class PlanNotFoundError extends ApiError<{ planId: string }> {
  constructor(planId: string) {
    super(
      "NOT_FOUND",
      { planId },
      {
        message: `Plan not found: ${planId}`,
        remedy:
          "Check the plan id. During planning there is no plan yet: read the status with request(requestId).",
      },
    );
  }
}

/** No output has this reference, or not yet. */
export class OutputNotFoundError extends ApiError<{ ref: string }> {
  constructor(given: string) {
    const ref = given.slice(0, SHOWN_VALUE);
    super(
      "NOT_FOUND",
      { ref },
      {
        message: `Output not found: ${ref}`,
        remedy: "Use a ref from an earlier answer; a step has an output once it is COMPLETED.",
      },
    );
  }
}

/** The current plan of the request has no such step. */
export class StepNotFoundError extends ApiError<{ requestId: string; stepId: string }> {
  constructor(place: { requestId: string; stepId: string }) {
    super("NOT_FOUND", place, {
      message: `Step not found in the current plan of ${place.requestId}: ${place.stepId}`,
      remedy:
        "Check the id: request(requestId) { plan { steps { id key } } } lists the steps of the current plan.",
    });
  }
}

/** No executor has a tool server with this name. */
export class ToolServerNotFoundError extends ApiError<{ name: string }> {
  constructor(given: string) {
    const name = given.slice(0, SHOWN_VALUE);
    super(
      "NOT_FOUND",
      { name },
      {
        message: `Tool server not found: ${name}`,
        remedy:
          "Use a name of toolServers { name }; a server that was added to the servers file needs a restart of the executors.",
      },
    );
  }
}
