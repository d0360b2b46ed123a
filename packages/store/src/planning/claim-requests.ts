import { emptyRequest, type FoldedRequest, fold } from "@planwright/engine";
import type { RequestId } from "@planwright/plan";
import { IS_HELD, isDue, isDueNow } from "../database/collections.ts";
import { PLANNING_CANCELLED } from "../heads/parked-for.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { RequestDocument } from "../records/request-document.ts";
import { earlierCalls } from "./model-calls.ts";
import type { PlannerClaims } from "./planner-claims.ts";
import { beginPlanning, openPlannerJournal } from "./planner-journal.ts";
import type { PlanningClaim, PlanningStore } from "./planning-store.ts";

/** Claims after which a request that kills its planner is ended. */
export const MAX_PLANNING_CLAIMS = 5;

/** The part of the store that gives requests to planners, and finds requests that no planner works on. */
export function createClaimRequests(
  { collections, clock, journal, turns, settleOutbox }: StoreDependencies,
  claims: PlannerClaims,
  endPoisoned: (claim: PlanningClaim) => Promise<void>,
): Pick<PlanningStore, "claimRequest" | "findHeldRequests" | "releaseUnheldRequests" | "findUnplanned"> {
  const { requests } = collections;

  /** The state that the journal tells. Of a first claim of a sentence the journal is empty and is not read. */
  async function readState({ _id, source, planning, version }: RequestDocument): Promise<FoldedRequest> {
    const isFirst = source === "query" && version === 1 && planning.epoch === 1;
    return fold(emptyRequest(_id), isFirst ? [] : await journal.readWithoutValues(_id));
  }

  /** Completes the document of a request whose journal says that its planning has ended. */
  async function settleEnded({ _id, planning: { epoch } }: RequestDocument): Promise<void> {
    await settleOutbox.ofRequest(_id);
    const now = fold(emptyRequest(_id), await journal.readWithoutValues(_id));
    if (!now.planning.isCancelled) return;
    const filter = { _id, status: "PLANNING", "planning.lease.epoch": epoch };
    await turns.follow([{ collection: "requests", filter, expressions: PLANNING_CANCELLED }]);
  }

  return {
    async claimRequest(requestId, owner) {
      const sentAt = performance.now();
      const request = await requests.findOneAndUpdate(
        {
          _id: requestId,
          // An answer is written when the request has ended.
          $or: [{ status: "PLANNING" }, { "planning.work": "answer" }],
          $expr: isDueNow("planning.dueAt"),
        },
        [
          {
            $set: {
              "planning.epoch": { $add: ["$planning.epoch", 1] },
              "planning.claims": { $add: ["$planning.claims", 1] },
              "planning.dueAt": null,
              "planning.startedAt": { $ifNull: ["$planning.startedAt", "$$NOW"] },
              "planning.takenFrom": { $ifNull: ["$planning.lease.owner", null] },
              "planning.lease": { owner, epoch: { $add: ["$planning.epoch", 1] } },
              updatedAt: "$$NOW",
            },
          },
        ],
        { returnDocument: "after" },
      );
      if (!request) return null;
      clock.observe(request.updatedAt, sentAt);
      const planner = openPlannerJournal({ journal, turns, request, state: await readState(request) });
      if (!(await beginPlanning(planner, request))) {
        await settleEnded(request);
        return null;
      }
      const { claims: made } = request.planning;
      const earlier = made > 1 && made <= MAX_PLANNING_CLAIMS ? await earlierCalls(collections, request) : [];
      const claim = claims.open(planner, request, earlier);
      if (made <= MAX_PLANNING_CLAIMS) return claim;
      await endPoisoned(claim);
      return null;
    },

    async findHeldRequests(owner) {
      const held = await requests
        .find(
          { "planning.lease.owner": { $eq: owner, ...IS_HELD }, "planning.dueAt": null },
          { projection: { "planning.lease.epoch": 1 } },
        )
        .toArray();
      return held.map(({ _id: requestId, planning }) => ({ requestId, epoch: planning.lease?.epoch ?? 0 }));
    },

    async releaseUnheldRequests(held) {
      for (const { requestId, epoch } of held)
        await requests.updateOne({ _id: requestId, "planning.lease.epoch": epoch, "planning.dueAt": null }, [
          { $set: { "planning.dueAt": "$$NOW" } },
        ]);
    },

    async findUnplanned(limit) {
      const due = await requests
        .find({ "planning.dueAt": isDue(new Date(clock.now())) }, { projection: { _id: 1 } })
        .sort({ "planning.dueAt": 1 })
        .limit(limit)
        .toArray();
      return due.map((request): RequestId => request._id);
    },
  };
}
