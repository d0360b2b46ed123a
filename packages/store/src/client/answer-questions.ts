import type { ClientStore } from "../store.ts";
import type { ClientContext } from "./context.ts";

/** The part of the store that takes the answers of users. */
export function createAnswerQuestions({
  collections: { requests },
}: ClientContext): Pick<ClientStore, "answerQuestions"> {
  return {
    async answerQuestions(tenant, requestId, answers) {
      const given = answers.map((answer, index) => ({
        question: { $arrayElemAt: ["$questions", index] },
        answer: { $literal: answer },
        at: "$$NOW",
      }));
      const answered = await requests.findOneAndUpdate(
        { _id: requestId, tenant, status: "NEEDS_INPUT" },
        [
          {
            $set: {
              status: "PLANNING",
              answers: { $concatArrays: ["$answers", given] },
              questions: [],
              diagnostics: [],
              // Answering is progress: the planners that asked before count no more.
              "planning.claims": 0,
              "planning.dueAt": "$$NOW",
              "planning.finishedAt": null,
              updatedAt: "$$NOW",
            },
          },
        ],
        { returnDocument: "after" },
      );
      return answered ?? requests.findOne({ _id: requestId, tenant });
    },
  };
}
