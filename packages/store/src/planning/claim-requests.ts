import { emptyRequest, type FoldedRequest, fold } from "@planwright/engine";
import { PLANNING_CANCELLED } from "../heads/parked-for.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { LeaseTable } from "../leases/lease-table.ts";
import type { RequestDocument } from "../records/request-document.ts";
import { earlierCalls } from "./model-calls.ts";
import type { PlannerClaims } from "./planner-claims.ts";
import { beginPlanning, openPlannerJournal } from "./planner-journal.ts";
import type { PlanningClaim, PlanningStore } from "./planning-store.ts";

/**
 * Maximum number of claims without progress. A request that is claimed once more is ended: it kills its
 * planners.
 */
export const MAX_PLANNING_CLAIMS = 5;

const RULES = {
  // Work on an answer begins after the request has ended.
  condition: { $or: [{ status: "PLANNING" }, { "planning.work": "answer" }] },
  expressions: {
    "planning.startedAt": { $ifNull: ["$planning.startedAt", "$$NOW"] },
    "planning.claimsOfWork": { $add: ["$planning.claimsOfWork", 1] },
  },
};

/** The part of the store that gives requests to planners. */
export function createClaimRequests(
  { collections, journal, turns, settleOutbox }: StoreDependencies,
  leases: LeaseTable<"requests">,
  claims: PlannerClaims,
  endPoisoned: (claim: PlanningClaim) => Promise<void>,
): Pick<PlanningStore, "claimRequest"> {
  /**
   * The state folded from the journal. At the first claim of a sentence the journal is assumed to be empty
   * and is not read.
   */
  async function readState({ _id, source, epoch, version }: RequestDocument): Promise<FoldedRequest> {
    const isFirst = source === "query" && version === 1 && epoch === 1;
    return fold(emptyRequest(_id), isFirst ? [] : await journal.readWithoutValues(_id));
  }

  /** Completes the document of a request whose journal says that its planning has ended. */
  async function settleEnded({ _id, epoch }: RequestDocument): Promise<void> {
    await settleOutbox.ofRequest(_id);
    const now = fold(emptyRequest(_id), await journal.readWithoutValues(_id));
    if (!now.planning.isCancelled) return;
    const filter = { _id, status: "PLANNING", "lease.epoch": epoch };
    await turns.follow([{ collection: "requests", filter, expressions: PLANNING_CANCELLED }]);
  }

  return {
    async claimRequest(requestId, owner) {
      const request = await leases.claim(requestId, owner, RULES);
      if (!request) return null;
      const planner = openPlannerJournal({ journal, turns, request, state: await readState(request) });
      if (!(await beginPlanning(planner, request))) {
        await settleEnded(request);
        return null;
      }
      const isPoisoned = request.claims > MAX_PLANNING_CLAIMS;
      const hasEarlier = request.planning.claimsOfWork > 1 && !isPoisoned;
      const claim = claims.open(planner, request, hasEarlier ? await earlierCalls(collections, request) : []);
      if (!isPoisoned) return claim;
      await endPoisoned(claim);
      return null;
    },
  };
}
