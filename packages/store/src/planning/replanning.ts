import {
  catalogueOfPlan,
  createPlanId,
  createToolIndex,
  pinsByTool,
  type RequestStatus,
} from "@planwright/plan";
import type { ClientSession, Document } from "mongodb";
import type { RequestDocument } from "../documents.ts";
import { LeaseLostError } from "../errors.ts";
import { isPlanEnd, REQUEST_STATUS } from "../execution/request-after-plan.ts";
import { stepDocuments } from "../journal/plan-units.ts";
import { readInSession } from "../journal/read-in-session.ts";
import { newPlan } from "../new-documents.ts";
import type { PlanningClaim, PlanningStore } from "../store.ts";
import { readCatalogue } from "../tool-catalogue.ts";
import { carriedVersion } from "../versions/carried-version.ts";
import { dependentsOf } from "../versions/dependents-of.ts";
import { insertVersion } from "../versions/insert-version.ts";
import type { PlanningContext } from "./context.ts";
import { parkedFor } from "./parked-for.ts";

/** The part of the store that ends replans, with another version or without. Fenced by the planning epoch, as first plans are. */
export function createReplanning(
  context: PlanningContext,
): Pick<PlanningStore, "completeReplan" | "failReplan"> {
  const { collections, clock, randomBytes, transact } = context;
  const { requests, plans } = collections;

  /** Moves a claimed request on, in the transaction that also writes what it moves to. */
  async function settle(
    { request, epoch }: PlanningClaim,
    now: Date,
    change: Document,
    session: ClientSession,
  ): Promise<void> {
    const { _id, planId } = request;
    const { matchedCount } = await requests.updateOne(
      { _id, planId, status: "PLANNING", "planning.lease.epoch": epoch, "planning.work": "replan" },
      {
        $set: {
          replan: null,
          updatedAt: now,
          "planning.lease": null,
          "planning.dueAt": null,
          "planning.finishedAt": now,
          ...change,
        },
      },
      { session },
    );
    if (matchedCount === 0) throw new LeaseLostError({ id: _id, epoch });
  }

  return {
    async completeReplan(claim, result) {
      const index = createToolIndex(await readCatalogue(collections));
      const { request } = claim;
      const { tenant } = request;
      const execute = request.replan?.execute ?? true;
      return transact(async (session) => {
        const now = new Date(clock.now());
        const next: RequestDocument = {
          ...request,
          planId: createPlanId(now.getTime(), randomBytes),
          version: request.version + 1,
          status: execute ? "EXECUTING" : "READY",
          autoExecute: execute,
        };
        const { planId, version, status, autoExecute } = next;
        const { diagnostics } = result;
        const moved = { planId, version, status, autoExecute, diagnostics, error: null };
        await settle(claim, now, moved, session);
        const old = await plans.findOne({ _id: request.planId, tenant }, { session });
        const read = old && (await readInSession(collections, old, session));
        const fresh = newPlan({ ...result, request: next, status: execute ? "QUEUED" : "READY", now });
        const dependents = dependentsOf(
          result.plan,
          catalogueOfPlan(result.plan, index, pinsByTool(result.toolPins)),
        );
        const carried = carriedVersion(fresh, {
          plan: result.plan,
          old: old?.plan ?? null,
          toolPins: { now: result.toolPins, before: old?.toolPins },
          units: read ? stepDocuments(read) : [],
          resolutions: read?.plan?.resolutions ?? [],
          dependents,
        });
        return insertVersion(context, fresh, carried, {
          by: { kind: "planner", id: claim.request.planning.lease?.owner ?? "planner" },
          afterSeq: read?.seq ?? 0,
          before: old ?? fresh,
          session,
        });
      });
    },

    failReplan: (claim, { error, diagnostics }) =>
      transact(async (session) => {
        const now = new Date(clock.now());
        const status = await endedAs(claim.request, session);
        const answer = answerAfter(claim.request, status, now);
        await settle(claim, now, { status, error, diagnostics, ...answer }, session);
      }),
  };

  /** What the plan that was not replaced has made of its request. */
  async function endedAs(
    { planId, tenant }: RequestDocument,
    session: ClientSession,
  ): Promise<RequestStatus> {
    const plan = await plans.findOne({ _id: planId, tenant }, { session });
    return plan && isPlanEnd(plan.status) ? REQUEST_STATUS[plan.status] : "FAILED";
  }
}

/** A client that waits for an answer gets one over what there is, or hears why there is none. */
function answerAfter({ wantsAnswer }: RequestDocument, status: RequestStatus, now: Date): Document {
  if (wantsAnswer !== true) return {};
  if (status === "PARTIAL") return { ...parkedFor("answer").set, "planning.dueAt": now };
  const message = "The plan failed and no other one came out, so there are no results to tell of";
  return { answerError: { code: "PLAN_NOT_COMPLETED", message } };
}
