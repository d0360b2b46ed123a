import type { RequestDocument } from "@planwright/store";
import { BadInputError } from "../errors.ts";
import type { OperationParts } from "../parts.ts";
import { findRequest } from "./find-request.ts";
import { parseText } from "./parse-text.ts";

/**
 * Gives the answers to the questions of a request, one for each, in their order: it is planned again with them. A request that
 * asks nothing is given back as it is.
 * @throws {BadInputError | RequestNotFoundError}
 */
export async function answerQuestions(
  parts: OperationParts,
  input: { requestId: string; answers: readonly string[] },
): Promise<RequestDocument> {
  const request = await findRequest(parts, input.requestId);
  if (request.status !== "NEEDS_INPUT") return request;
  const answers = input.answers.flatMap((answer) => parseText("answers", answer) ?? []);
  if (answers.length !== request.questions.length) {
    throw new BadInputError(
      "answers",
      `${request.questions.length} questions are asked, and ${answers.length} are answered`,
      `Answer each of them, in this order: ${request.questions.join(" ")}`,
    );
  }
  const answered = await parts.store.answerQuestions(parts.tenant, request._id, answers);
  if (answered?.status === "PLANNING") parts.offers.offerPlanning(request._id);
  return answered ?? request;
}
