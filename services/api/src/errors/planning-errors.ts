import { planningAdvice } from "@planwright/plan";
import { type UnfitAnswer } from "@planwright/reading";
import { ApiError } from "./api-error.ts";
import { isApiErrorCode } from "./error-codes.ts";

/** Ids in an error, with which a client can read more. */
export interface RequestIds {
  requestId: string;
  planId: string;
}

/** The planner has questions for the user; there is no plan. */
export class NeedsInputError extends ApiError<RequestIds & { questions: readonly string[] }> {
  constructor(ids: RequestIds, questions: readonly string[]) {
    super(
      "NEEDS_INPUT",
      { ...ids, questions },
      {
        message: `More information is needed before this can be planned: ${questions.join(" ")}`,
        remedy:
          "Answer with answerQuestions(requestId, answers), one answer for each question, or send the query again with the answers in it.",
      },
    );
  }
}

/**
 * Some answers are not values that the tools accept. No answer was accepted, and every question stays open.
 */
export class AnswerUnfitError extends ApiError<{
  requestId: string;
  unfit: readonly { questionId: string; question: string; message: string }[];
}> {
  constructor(requestId: string, answers: readonly UnfitAnswer[]) {
    const unfit = answers.map(({ question: { id, question }, message }) => ({
      questionId: id,
      question,
      message,
    }));
    super(
      "ANSWER_UNFIT",
      { requestId, unfit },
      {
        message: `No answer was accepted. ${unfit.map(({ message }) => message).join(" ")}`,
        remedy:
          "Answer again with a value that each message asks for; repeat the other answers too. openQuestions { id schema } shows the accepted values.",
      },
    );
  }
}

/**
 * Planning ended without a plan. The code is that of the planner if it is in our list, otherwise
 * PLANNING_FAILED.
 */
export class PlanningFailedError extends ApiError<RequestIds & { plannerCode: string }> {
  constructor(ids: RequestIds, error: { code: string; message: string }) {
    const code = isApiErrorCode(error.code) ? error.code : "PLANNING_FAILED";
    super(
      code,
      { ...ids, plannerCode: error.code },
      {
        message: error.message,
        remedy: `${planningAdvice(code).remedy} request(requestId) shows everything that was tried.`,
      },
    );
  }
}

/** Planning did not end in the time that this call waits. It continues. */
export class PlanningTimeoutError extends ApiError<RequestIds & { waitedMs: number }> {
  constructor(ids: RequestIds, waitedMs: number) {
    super(
      "TIMEOUT",
      { ...ids, waitedMs },
      {
        message: `Planning has not ended after ${waitedMs} ms; it continues`,
        remedy: `Ask request(requestId: "${ids.requestId}") for the status and the plan; do not send the query again.`,
      },
    );
  }
}

/** The operation needs a plan, and planning has not ended. */
export class NotReadyError extends ApiError<RequestIds> {
  constructor(ids: RequestIds) {
    super("NOT_READY", ids, {
      message: `The plan of request ${ids.requestId} is still being made`,
      remedy: "Wait until request(requestId).status is no longer PLANNING, then ask again.",
    });
  }
}
