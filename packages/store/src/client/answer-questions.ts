import type { ClientStore } from "../store.ts";
import type { ClientContext } from "./context.ts";

/** The part of the store that takes the answers of users. */
export function createAnswerQuestions({
  collections: { requests },
}: ClientContext): Pick<ClientStore, "answerQuestions"> {
  return {
    async answerQuestions(tenant, requestId, { answers, givesUpDraft }) {
      const ids = answers.map(({ questionId }) => questionId);
      const left = givesUpDraft
        ? []
        : { $filter: { input: "$questions", cond: { $not: [{ $in: ["$$this.id", ids] }] } } };
      const given = answers.map((answer) => ({ $mergeObjects: [{ $literal: answer }, { at: "$$NOW" }] }));
      const ifOver = (over: unknown, unchanged: unknown) => ({
        $cond: [{ $eq: [{ $size: "$questions" }, 0] }, over, unchanged],
      });
      return requests.findOneAndUpdate(
        { _id: requestId, tenant, status: "NEEDS_INPUT", "questions.id": { $all: ids } },
        [
          { $set: { questions: left, answers: { $concatArrays: ["$answers", given] }, updatedAt: "$$NOW" } },
          {
            $set: {
              status: ifOver("PLANNING", "$status"),
              diagnostics: [],
              // Answering is progress: the planners that asked before count no more.
              "planning.claims": ifOver(0, "$planning.claims"),
              "planning.dueAt": ifOver("$$NOW", "$planning.dueAt"),
              "planning.finishedAt": ifOver(null, "$planning.finishedAt"),
              ...(givesUpDraft ? { draft: null } : {}),
            },
          },
        ],
        { returnDocument: "after" },
      );
    },
  };
}
