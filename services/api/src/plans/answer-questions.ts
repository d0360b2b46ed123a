import type { JsonValue, OpenQuestion } from "@planwright/plan";
import {
  type BoundAnswers,
  bindTexts,
  bindValues,
  MAX_ANSWER_LENGTH,
  type UnfitAnswer,
} from "@planwright/reading";
import { contextOf, type RequestDocument } from "@planwright/store";
import { checkJsonShape, requireFit } from "../arguments/json-patch.ts";
import { isBlank, isWellFormed } from "../arguments/text.ts";
import { AnswerUnfitError, BadInputError, StateConflictError } from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";
import { findRequest } from "./find-request.ts";

/**
 * Arguments of the mutation answerQuestions: texts in the order of the open questions, or values by question
 * id.
 */
export interface AnswersInput {
  requestId: string;
  answers?: readonly string[] | null;
  values?: readonly { questionId: string; value: JsonValue }[] | null;
}

/**
 * Answers the open questions of a request. Each answer is bound to its question and checked against the
 * tool's schema. If one does not fit, no answer is accepted and all questions stay open. When no question is
 * open any more, planning continues.
 * @throws {BadInputError | AnswerUnfitError | StateConflictError | RequestNotFoundError}
 */
export async function answerQuestions(
  context: OperationContext,
  input: AnswersInput,
): Promise<RequestDocument> {
  checkTexts(input);
  const request = await findRequest(context, input.requestId);
  if (request.status !== "NEEDS_INPUT") throw noOpenQuestion(request);
  const { bound, unfit } = bind(request, input);
  // Also a text may hold JSON.
  for (const { value } of bound) requireFit(input.values ? "values" : "answers", value);
  const others = unfit.filter((each) => !isSentence(request, input, each));
  if (others.length > 0) throw new AnswerUnfitError(request._id, others);
  const answers = [
    ...bound.map(({ question, text, value }) => ({ question, text, value })),
    ...unfit.map(({ question, text }) => ({ question, text, value: undefined })),
  ].map(({ question: { id, question, about }, text, value }) => ({
    questionId: id,
    question,
    answer: text,
    gives: about && value !== undefined ? { stepId: about.stepId, keys: [...about.keys], value } : null,
  }));
  const answered = await context.store.answerQuestions(context.tenant, request._id, {
    answers,
    discardsDraft: unfit.length > 0,
    by: context.by,
  });
  if (!answered) throw noOpenQuestion(await findRequest(context, request._id));
  if (answered.status === "PLANNING") context.offers.offerPlanning(answered);
  return answered;
}

function noOpenQuestion({ _id, status, questions }: RequestDocument): StateConflictError {
  const facts = { requestId: _id, status };
  return status === "NEEDS_INPUT"
    ? new StateConflictError(
        facts,
        "Some of these questions were already answered; no answer was accepted",
        `Read openQuestions of request(requestId) and answer those: ${questions.map(({ question }) => question).join(" ")}`,
      )
    : new StateConflictError(
        facts,
        `The request is ${status} and has no open question; no answer was accepted`,
        "Read the request: only one that is NEEDS_INPUT has open questions. For other work, send a new sentence with createPlan.",
      );
}

function bind(request: RequestDocument, { answers, values }: AnswersInput): BoundAnswers {
  return values ? bindById(request.questions, values) : bindInOrder(request, answers ?? []);
}

function bindInOrder(request: RequestDocument, answers: readonly string[]): BoundAnswers {
  const { questions } = request;
  if (answers.length !== questions.length) {
    throw new BadInputError(
      "answers",
      `There are ${questions.length} open questions, and ${answers.length} answers were given`,
      `Answer each of them, in this order: ${questions.map(({ question }) => question).join(" ")}`,
    );
  }
  return bindTexts(questions, answers, { context: contextOf(request) });
}

function bindById(
  questions: readonly OpenQuestion[],
  values: readonly { questionId: string; value: JsonValue }[],
): BoundAnswers {
  const given = values.map(({ questionId, value }) => {
    const question = questions.find(({ id }) => id === questionId);
    if (!question || values.filter((other) => other.questionId === questionId).length > 1) {
      throw new BadInputError(
        "values",
        question
          ? `Question ${questionId} is answered twice`
          : `No open question has the id ${JSON.stringify(questionId.slice(0, 40))}`,
        `Open questions: ${questions.map(({ id, question: asked }) => `${id}: ${asked}`).join(" ")}`,
      );
    }
    return { question, value };
  });
  if (given.length === 0) throw new BadInputError("values", "No value is given", "Give at least one value.");
  return bindValues(given);
}

/** Checks that do not depend on the questions. @throws {BadInputError} */
function checkTexts({ answers, values }: AnswersInput): void {
  if ([answers, values].filter((given) => given !== null && given !== undefined).length !== 1) {
    throw new BadInputError(
      "answers",
      "answerQuestions needs exactly one of answers and values",
      "Give answers, one text for each open question in their order, or values, each with a questionId.",
    );
  }
  for (const answer of answers ?? []) checkText("answers", answer);
  for (const { value } of values ?? []) {
    checkJsonShape("values", value);
    checkText("values", typeof value === "string" ? value : JSON.stringify(value));
    requireFit("values", value);
  }
}

/** @throws {BadInputError} */
function checkText(argument: string, text: string): void {
  if (isBlank(text))
    throw new BadInputError(
      argument,
      "An answer is blank",
      "Answer each question; a question stays open until it is answered.",
    );
  if (text.length <= MAX_ANSWER_LENGTH && isWellFormed(text)) return;
  throw new BadInputError(
    argument,
    `An answer has ${text.length} characters, or is not well-formed text`,
    `Give at most ${MAX_ANSWER_LENGTH} characters as UTF-8, without NUL characters.`,
  );
}

/** An answer with fewer words is a value that does not fit; a longer answer is a sentence for the model. */
const LEAST_WORDS = 4;

/** True for an answer to a model that is a sentence instead of a value; the model plans with it. */
function isSentence({ draft }: RequestDocument, { answers }: AnswersInput, { text }: UnfitAnswer): boolean {
  return (
    answers !== null &&
    answers !== undefined &&
    draft?.origin.kind === "model" &&
    text.trim().split(/\s+/).length >= LEAST_WORDS
  );
}
