import type { StoreDependencies } from "../journal/dependencies.ts";
import type { RecordedError } from "../records/errors.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { PlannerClaims } from "./planner-claims.ts";
import type { PlanningClaim, PlanningStore } from "./planning-store.ts";

/**
 * The part of the store that stores the answer in words, or the error that prevented it. It never changes the
 * status: the request has ended already.
 */
export function createAnswering(
  { clock }: Pick<StoreDependencies, "clock">,
  claims: PlannerClaims,
): Pick<PlanningStore, "completeAnswer" | "failAnswer"> {
  function settle(
    claim: PlanningClaim,
    change: Pick<RequestDocument, "answer" | "answerError">,
    error: RecordedError | null,
  ): Promise<void> {
    const { _id, planId } = claim.request;
    const filter = { _id, planId, "lease.epoch": claim.epoch, "planning.work": "answer" };
    const released = { lease: null, dueAt: null, "planning.wait": null };
    return claims.append<void>(claim, () => {
      const set = { ...change, ...released, updatedAt: new Date(clock.now()) };
      return {
        type: "append",
        events: [{ type: "answer.written", error }],
        following: () => [{ collection: "requests", filter, set }],
        done: undefined,
      };
    });
  }

  return {
    completeAnswer: (claim, answer) => settle(claim, { answer, answerError: null }, null),
    failAnswer: (claim, answerError) => settle(claim, { answer: null, answerError }, answerError),
  };
}
