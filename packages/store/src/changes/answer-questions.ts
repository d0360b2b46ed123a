import type { StoreDependencies } from "../journal/dependencies.ts";
import { type ChangeDecision, type ChangedRequest, changeRequest } from "./change-request.ts";
import type { ChangeStore } from "./change-store.ts";

/** The part of the store that takes the answers of users. */
export function createAnswerQuestions(context: StoreDependencies): Pick<ChangeStore, "answerQuestions"> {
  const { requests } = context.collections;

  return {
    async answerQuestions(tenant, requestId, { answers, givesUpDraft, by = "api" }) {
      const ids = answers.map(({ questionId }) => questionId);
      const isOpen = ({ request, state }: ChangedRequest): boolean =>
        request.status === "NEEDS_INPUT" &&
        ids.every(
          (id) => state.planning.questions.includes(id) && request.questions.some((asked) => asked.id === id),
        );
      const decide = (now: ChangedRequest): ChangeDecision<null, { type: "answered" }> => {
        if (!isOpen(now)) return { type: "answer", answer: null };
        const told = answers.map(({ questionId, answer }) => ({ questionId, answer }));
        return {
          type: "tell",
          events: [{ type: "answer.given", answers: told, givesUpDraft }],
          by,
          isKept: true,
          following: () => [
            {
              collection: "requests",
              filter: { _id: requestId, status: "NEEDS_INPUT", "questions.id": { $all: ids } },
              expressions: afterAnswers(ids),
            },
          ],
          changed: { type: "answered" },
        };
      };
      const answer = await changeRequest(context, { tenant, requestId, operation: "answer", decide });
      return answer ? requests.findOne({ _id: requestId, tenant }) : null;

      function afterAnswers(answered: readonly string[]) {
        const open = { $filter: { input: "$questions", cond: { $not: [{ $in: ["$$this.id", answered] }] } } };
        const given = answers.map((one) => ({ $mergeObjects: [{ $literal: one }, { at: "$$NOW" }] }));
        const ifOver = (over: unknown, unchanged: unknown) =>
          givesUpDraft ? over : { $cond: [{ $eq: [{ $size: open }, 0] }, over, unchanged] };
        return {
          questions: givesUpDraft ? [] : open,
          answers: { $concatArrays: ["$answers", given] },
          updatedAt: "$$NOW",
          status: ifOver("PLANNING", "$status"),
          diagnostics: [],
          // Answering is progress: the planners that asked before count no more.
          claims: ifOver(0, "$claims"),
          "planning.claimsOfWork": ifOver(0, "$planning.claimsOfWork"),
          dueAt: ifOver("$$NOW", "$dueAt"),
          "planning.finishedAt": ifOver(null, "$planning.finishedAt"),
          ...(givesUpDraft ? { draft: null } : {}),
        };
      }
    },
  };
}
