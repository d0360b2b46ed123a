import type { RequestId, RequestStatus } from "@planwright/plan";
import type { UpdateFilter } from "mongodb";
import { IS_HELD, isDue, isDueNow } from "./collections.ts";
import type { PlanDocument, RequestDocument } from "./documents.ts";
import { LeaseLostError } from "./errors.ts";
import { newPlan } from "./new-documents.ts";
import { createAnswering } from "./planning/answering.ts";
import type { PlanningContext } from "./planning/context.ts";
import { createModelCalls, earlierCalls } from "./planning/model-calls.ts";
import { createPlanRecords } from "./planning/plan-record.ts";
import { createReplanning } from "./planning/replanning.ts";
import type { PlanningClaim, PlanningStore } from "./store.ts";
import { readCatalogue } from "./tool-catalogue.ts";

/** Claims after which a request that kills its planner is ended. */
const MAX_PLANNING_CLAIMS = 5;

/** Claiming requests and storing what became of them, fenced by the planning epoch. */
export function createPlanningStore(context: PlanningContext): PlanningStore {
  const { collections, clock, transact } = context;
  const replanning = createReplanning(context);
  const answering = createAnswering(context);
  const { requests, plans } = collections;

  /** Moves a claimed request on; its plan, if any, is inserted in the same transaction. */
  async function settle(
    claim: PlanningClaim,
    change: Partial<RequestDocument> & { status: RequestStatus },
    plan?: (request: RequestDocument, now: Date) => PlanDocument,
  ): Promise<PlanDocument | null> {
    return transact(async (session) => {
      const now = new Date(clock.now());
      const update: UpdateFilter<RequestDocument> = {
        $set: {
          ...change,
          updatedAt: now,
          "planning.lease": null,
          "planning.dueAt": null,
          "planning.finishedAt": now,
        },
      };
      const before = await requests.findOneAndUpdate(
        { _id: claim.request._id, status: "PLANNING", "planning.lease.epoch": claim.epoch },
        update,
        { session, returnDocument: "before" },
      );
      if (!before) throw new LeaseLostError({ id: claim.request._id, epoch: claim.epoch });
      if (!plan) return null;
      const document = plan(before, now);
      await plans.insertOne(document, { session });
      if (document.status === "QUEUED") {
        await requests.updateOne({ _id: before._id }, { $set: { status: "EXECUTING" } }, { session });
      }
      return document;
    });
  }

  /** A request that ends every planner is not given to another one. */
  async function endPoisoned(claim: PlanningClaim): Promise<void> {
    const tries = `begun ${MAX_PLANNING_CLAIMS} times and never came to an end`;
    const poisoned = (message: string) => ({ code: "POISONED", message });
    switch (claim.request.planning.work) {
      case "replan":
        return replanning.failReplan(claim, {
          error: poisoned(`Making the plan anew was ${tries}; the plan that failed stays`),
          diagnostics: [],
        });
      case "answer":
        return answering.failAnswer(claim, poisoned(`The answer was ${tries}; the results are there`));
      default:
        await settle(claim, {
          status: "FAILED",
          error: poisoned(`Planning was ${tries}; nothing was executed`),
        });
    }
  }

  return {
    ...createModelCalls(context),
    ...replanning,
    ...answering,
    ...createPlanRecords(context),
    async claimRequest(requestId, owner) {
      const sentAt = performance.now();
      const request = await requests.findOneAndUpdate(
        {
          _id: requestId,
          // An answer is given once everything else is over.
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
      const { epoch, claims } = request.planning;
      const claim: PlanningClaim = { request, epoch, earlierCalls: [] };
      if (claims <= MAX_PLANNING_CLAIMS) {
        if (claims > 1) claim.earlierCalls = await earlierCalls(collections, request);
        return claim;
      }
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

    async giveUpRequests(held) {
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

    async completePlanning(claim, result) {
      const stored = await settle(
        claim,
        { status: "READY", diagnostics: result.diagnostics, draft: null },
        (request, now) =>
          newPlan({ ...result, request, status: request.autoExecute ? "QUEUED" : "READY", now }),
      );
      if (!stored) throw new LeaseLostError({ id: claim.request._id, epoch: claim.epoch });
      return stored;
    },

    async failPlanning(claim, { error, diagnostics, raw, plan, origin }) {
      const change = { status: "FAILED" as const, error, diagnostics };
      const hasSomethingToShow = raw !== null || plan !== null;
      await settle(
        claim,
        change,
        hasSomethingToShow
          ? (request, now) => newPlan({ request, plan, raw, origin, diagnostics, status: "INVALID", now })
          : undefined,
      );
    },

    async askQuestions(claim, { questions, draft }) {
      const questionsAsked = (claim.request.questionsAsked ?? 0) + questions.length;
      await settle(claim, { status: "NEEDS_INPUT", questions, questionsAsked, draft });
    },

    toolCatalogue: (tenant) => readCatalogue(collections, tenant),
  };
}
