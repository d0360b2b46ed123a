import type { RequestDocument } from "../documents.ts";
import { LeaseLostError } from "../errors.ts";
import type { PlanningClaim, PlanningStore } from "../store.ts";
import type { PlanningContext } from "./context.ts";

/** The part of the store that ends the telling of results. It never touches the status: the request is over already. */
export function createAnswering({
  collections: { requests },
  clock,
}: PlanningContext): Pick<PlanningStore, "completeAnswer" | "failAnswer"> {
  async function settle(
    { request, epoch }: PlanningClaim,
    change: Pick<RequestDocument, "answer" | "answerError">,
  ): Promise<void> {
    const { _id, planId } = request;
    const { matchedCount } = await requests.updateOne(
      { _id, planId, "planning.lease.epoch": epoch, "planning.work": "answer" },
      {
        $set: {
          ...change,
          "planning.lease": null,
          "planning.dueAt": null,
          updatedAt: new Date(clock.now()),
        },
      },
    );
    if (matchedCount === 0) throw new LeaseLostError({ id: _id, epoch });
  }

  return {
    completeAnswer: (claim, answer) => settle(claim, { answer, answerError: null }),
    failAnswer: (claim, answerError) => settle(claim, { answer: null, answerError }),
  };
}
