import type { StoreDependencies } from "../journal/dependencies.ts";
import { type ChangeDecision, type ChangedRequest, changeRequest } from "./change-request.ts";
import type { ChangeStore } from "./change-store.ts";

/** The part of the store that takes the answers of users. */
export function createAnswerQuestions(context: StoreDependencies): Pick<ChangeStore, "answerQuestions"> {
  const { requests } = context.collections;

  return {
    async answerQuestions(tenant, requestId, { answers, discardsDraft, by = "api" }) {
      const ids = answers.map(({ questionId }) => questionId);
      const isOpen = ({ request, state }: ChangedRequest): boolean =>
        request.status === "NEEDS_INPUT" &&
        ids.every(
          (id) => state.planning.questions.includes(id) && request.questions.some((asked) => asked.id === id),
        );
      const decide = (now: ChangedRequest): ChangeDecision<null, { type: "answered" }> => {
        if (!isOpen(now)) return { type: "answer", answer: null };
        const given = answers.map(({ questionId, answer }) => ({ questionId, answer }));
        return {
          type: "append",
          events: [{ type: "answer.given", answers: given, discardsDraft }],
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
        const ifLast = (whenLast: unknown, unchanged: unknown) =>
          discardsDraft ? whenLast : { $cond: [{ $eq: [{ $size: open }, 0] }, whenLast, unchanged] };
        return {
          questions: discardsDraft ? [] : open,
          answers: { $concatArrays: ["$answers", given] },
          updatedAt: "$$NOW",
          status: ifLast("PLANNING", "$status"),
          diagnostics: [],
          // Answering is progress: claims of the planners that asked no longer count.
          claims: ifLast(0, "$claims"),
          "planning.claimsOfWork": ifLast(0, "$planning.claimsOfWork"),
          dueAt: ifLast("$$NOW", "$dueAt"),
          "planning.finishedAt": ifLast(null, "$planning.finishedAt"),
          ...(discardsDraft ? { draft: null } : {}),
        };
      }
    },
  };
}
