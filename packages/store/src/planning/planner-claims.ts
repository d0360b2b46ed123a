import type { FoldedRequest } from "@planwright/engine";
import type { RequestDocument } from "../records/request-document.ts";
import type { PlannerDecision, PlannerJournal } from "./planner-journal.ts";
import type { PlanningClaim } from "./planning-store.ts";

/** The journals of claims. A claim is a handle: what its holder may not touch is kept here. */
export interface PlannerClaims {
  /** A claim whose planning began. */
  open(
    journal: PlannerJournal,
    request: RequestDocument,
    earlierCalls: PlanningClaim["earlierCalls"],
  ): PlanningClaim;
  /** Tells something under a claim: see {@link PlannerJournal.tell}. */
  tell<Done>(claim: PlanningClaim, decide: (state: FoldedRequest) => PlannerDecision<Done>): Promise<Done>;
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
    tell: (claim, decide) => journalOf(claim).tell(decide),
    journalOf,
  };
}
