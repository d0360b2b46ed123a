import type { JournalEvent } from "@planwright/engine";
import type { Document } from "mongodb";
import { settled } from "../heads/parked-for.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { FollowingWrite } from "../journal/turn-log.ts";
import { newPlan } from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { NOTHING_CARRIED, versionTurn } from "../versions/version-turn.ts";
import type { PlannerClaims } from "./planner-claims.ts";
import type { PlanningClaim, PlanningStore } from "./planning-store.ts";

/**
 * The part of the store that ends the planning of first plans: with a plan, with questions, or with an error.
 */
export function createFirstPlan(
  { clock }: Pick<StoreDependencies, "clock">,
  claims: PlannerClaims,
): Pick<PlanningStore, "completePlanning" | "failPlanning" | "askQuestions"> {
  /**
   * The write to a request that is planned for the first time. Once the first version is in the journal the
   * request moves on, whichever planner has claimed it.
   */
  const whilePlanned = ({ request }: PlanningClaim, set: Document): FollowingWrite => {
    const { _id, version } = request;
    // A replan has the same version until it has made the next one.
    const filter = { _id, version, status: "PLANNING", "planning.work": { $in: ["plan", null] } };
    return { collection: "requests", filter, set };
  };
  /** The same, only under this claim: the next claim may append such an event again. */
  const whileHeld = ({ request, epoch }: PlanningClaim, set: Document): FollowingWrite => {
    const filter = { _id: request._id, status: "PLANNING", "lease.epoch": epoch };
    return { collection: "requests", filter, set };
  };

  return {
    completePlanning: (claim, result) =>
      claims.append<PlanDocument>(claim, ({ planning }) => {
        const now = new Date(clock.now());
        const { request } = claim;
        const autoExecute = request.autoExecute || planning.isExecutionPlanned;
        const fresh = newPlan({ ...result, request, status: autoExecute ? "QUEUED" : "READY", now });
        const { document, events } = versionTurn(fresh, NOTHING_CARRIED, fresh);
        const status = autoExecute ? "EXECUTING" : "READY";
        const { diagnostics } = result;
        const set = { ...settled(now), status, autoExecute, diagnostics, draft: null };
        return {
          type: "append",
          events,
          isKept: true,
          following: () => [{ collection: "plans", insert: document }, whilePlanned(claim, set)],
          done: document,
        };
      }),

    failPlanning: (claim, { error, diagnostics, raw, plan, origin }) =>
      claims.append<void>(claim, () => {
        const now = new Date(clock.now());
        const { request } = claim;
        const failed: JournalEvent = { type: "planning.failed", error };
        const set = { ...settled(now), status: "FAILED", error, diagnostics };
        const hasPlanOrText = raw !== null || plan !== null;
        if (!hasPlanOrText) {
          return {
            type: "append",
            events: [failed],
            following: () => [whileHeld(claim, set)],
            done: undefined,
          };
        }
        const invalid = newPlan({ request, plan, raw, origin, diagnostics, status: "INVALID", now });
        const { document, events } = versionTurn(invalid, NOTHING_CARRIED, invalid);
        return {
          type: "append",
          events: [...events, failed],
          isKept: true,
          following: () => [{ collection: "plans", insert: document }, whilePlanned(claim, set)],
          done: undefined,
        };
      }),

    askQuestions: (claim, { questions, draft }) =>
      claims.append<void>(claim, () => {
        const now = new Date(clock.now());
        const questionsAsked = (claim.request.questionsAsked ?? 0) + questions.length;
        const set = { ...settled(now), status: "NEEDS_INPUT", questions, questionsAsked, draft };
        const asked = questions.map(({ id, question }) => ({ id, question }));
        return {
          type: "append",
          events: [{ type: "question.asked", questions: asked }],
          following: () => [whileHeld(claim, set)],
          done: undefined,
        };
      }),
  };
}
