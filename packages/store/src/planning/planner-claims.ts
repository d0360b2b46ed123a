import type { FoldedRequest } from "@planwright/engine";
import type { RequestDocument } from "../records/request-document.ts";
import type { PlannerDecision, PlannerJournal } from "./planner-journal.ts";
import type { PlanningClaim } from "./planning-store.ts";

/** The journals of claims. They are kept here, because holders of claims must not use them directly. */
export interface PlannerClaims {
  /** Makes a claim after its `planning.began` was appended. */
  open(
    journal: PlannerJournal,
    request: RequestDocument,
    earlierCalls: PlanningClaim["earlierCalls"],
  ): PlanningClaim;
  /** Appends under a claim: see {@link PlannerJournal.append}. */
  append<Done>(claim: PlanningClaim, decide: (state: FoldedRequest) => PlannerDecision<Done>): Promise<Done>;
  journalOf(claim: PlanningClaim): PlannerJournal;
}

export function createPlannerClaims(): PlannerClaims {
  const journals = new WeakMap<PlanningClaim, PlannerJournal>();

  function journalOf(claim: PlanningClaim): PlannerJournal {
    const journal = journals.get(claim);
    if (!journal) throw new TypeError(`Request ${claim.request._id} was not claimed from this store`);
    return journal;
  }

  return {
    open(journal, request, earlierCalls) {
      const claim: PlanningClaim = { request, epoch: request.epoch, earlierCalls };
      journals.set(claim, journal);
      return claim;
    },
    append: (claim, decide) => journalOf(claim).append(decide),
    journalOf,
  };
}
