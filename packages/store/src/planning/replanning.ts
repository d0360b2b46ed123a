import type { Diagnostic } from "@planwright/plan";
import { catalogueOfPlan, createToolIndex, pinsByTool, type RequestStatus } from "@planwright/plan";
import type { Document } from "mongodb";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { withApprovals } from "../plans/ask-for-repeats.ts";
import { carriedVersion, versionRepeats, versionSteps } from "../plans/carried-version.ts";
import { pinsOf, readPlans, versionsOf } from "../plans/earlier-calls.ts";
import type { NewVersion } from "../plans/new-version.ts";
import { parkedFor, settled } from "../plans/parked-for.ts";
import { isPlanEnd, REQUEST_STATUS } from "../plans/request-after-plan.ts";
import { nextVersionTurn } from "../plans/version-turn.ts";
import type { RecordedError } from "../records/errors.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import { readCatalogue } from "../tools/tool-store.ts";
import type { PlannerClaims } from "./planner-claims.ts";
import type { PlanningClaim } from "./planning-store.ts";

/** The part of the store that ends replans, with another version or with an error. */
export function createReplanning(context: StoreDependencies, claims: PlannerClaims) {
  const { collections, clock } = context;
  const { plans } = collections;

  const currentPlan = ({ planId, tenant }: RequestDocument): Promise<PlanDocument | null> =>
    plans.findOne({ _id: planId, tenant });

  return {
    /**
     * Stores another version of the plan and moves the request to it: READY, or EXECUTING when the replan
     * asks for that. Completed steps that are the same in both versions are carried over with their outputs
     * and are never called again. Of a failed list that is the same in both, the completed items are carried
     * over. Replanning twice cannot store two versions. @throws {LeaseLostError | EntryTooLargeError} after
     * the second the claim is still valid, and nothing was stored
     */
    async completeReplan(claim: PlanningClaim, result: NewVersion): Promise<PlanDocument> {
      const { request } = claim;
      const tools = await readCatalogue(collections);
      const old = await currentPlan(request);
      const { plan, toolPins } = result;
      const { _id: requestId, tenant } = request;
      const documents = await readPlans(collections, { requestId, tenant });
      return claims.append<PlanDocument>(claim, (state) => {
        const facts = { plan, pins: pinsOf({ toolPins }), versions: versionsOf(documents, state) };
        const steps = versionSteps(facts);
        // No caller can accept a repeat here: an operator is asked before the call.
        const { repeated, replaced } = versionRepeats(facts, steps);
        const toAsk = [...repeated, ...replaced].flatMap(({ ids }) => ids);
        const {
          document,
          events,
          request: next,
          now,
        } = nextVersionTurn(context, {
          ...result,
          plan: withApprovals(
            plan,
            new Set([...steps.implied, ...toAsk]),
            catalogueOfPlan(plan, createToolIndex(tools), pinsByTool(toolPins)),
          ),
          request,
          before: old,
          autoExecute: request.replan?.execute ?? true,
          unitsOf: (fresh) => carriedVersion(fresh, facts, steps),
        });
        const { planId, version, status, autoExecute } = next;
        const { diagnostics } = result;
        const moved = { planId, version, status, autoExecute, diagnostics, error: null, replan: null };
        // Only the version is compared: once the new version is in the journal the request moves on,
        // whichever planner has claimed it.
        const condition = { version: request.version };
        return {
          type: "append",
          events,
          planId,
          storesVersion: true,
          following: () => [
            { collection: "plans", insert: document },
            { collection: "requests", id: request._id, condition, set: { ...settled(now), ...moved } },
          ],
          done: document,
        };
      });
    },

    /**
     * Ends a replan without a new version: the request gets the status that its plan ended with, and the
     * error.
     * @throws {LeaseLostError}
     */
    async failReplan(
      claim: PlanningClaim,
      { error, diagnostics }: { error: RecordedError; diagnostics: Diagnostic[] },
    ) {
      const { request, epoch } = claim;
      const { _id, planId } = request;
      const status = endedAs(await currentPlan(request));
      const condition = {
        planId,
        status: "PLANNING",
        "lease.epoch": epoch,
        "planning.work": "replan",
      };
      await claims.append<void>(claim, () => {
        const now = new Date(clock.now());
        const ended = { status, error, diagnostics, replan: null, ...answerAfter(request, status, now) };
        return {
          type: "append",
          events: [{ type: "planning.failed", error }],
          following: () => [
            { collection: "requests", id: _id, condition, set: { ...settled(now), ...ended } },
          ],
          done: undefined,
        };
      });
    },
  };
}

/** The status of a request by the end of its plan, which was not replaced. */
function endedAs(plan: PlanDocument | null): RequestStatus {
  return plan && isPlanEnd(plan.status) ? REQUEST_STATUS[plan.status] : "FAILED";
}

/**
 * The fields for an answer that the client wants: planning of an answer from partial results, or the error.
 */
function answerAfter({ wantsAnswer }: RequestDocument, status: RequestStatus, now: Date): Document {
  if (wantsAnswer !== true) return {};
  if (status === "PARTIAL") return parkedFor("answer", now);
  const message = "The plan failed and replanning made no new one, so there are no results to describe";
  return { answerError: { code: "PLAN_NOT_COMPLETED", message } };
}
