import type { JournalEvent } from "@planwright/engine";
import type { Document } from "mongodb";
import { settled } from "../heads/parked-for.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { Following } from "../journal/turn-log.ts";
import { newPlan } from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { versionTurn } from "../versions/version-turn.ts";
import type { PlannerClaims } from "./planner-claims.ts";
import type { PlanningClaim, PlanningStore } from "./planning-store.ts";

/** The part of the store that ends the planning of first plans, with a plan, with questions, or without. */
export function createFirstPlan(
  { clock }: Pick<StoreDependencies, "clock">,
  claims: PlannerClaims,
): Pick<PlanningStore, "completePlanning" | "failPlanning" | "askQuestions"> {
  /**
   * The request, while it is planned for the first time: once the first version is told it moves on,
   * whichever planner has claimed it.
   */
  const planned = ({ request }: PlanningClaim, set: Document): Following => {
    const { _id, version } = request;
    // A replan is planned under the same version, until it has made the next one.
    const filter = { _id, version, status: "PLANNING", "planning.work": { $in: ["plan", null] } };
    return { collection: "requests", filter, set };
  };
  /** The same under this claim alone: what is told may be told again by the next one. */
  const held = ({ request, epoch }: PlanningClaim, set: Document): Following => {
    const filter = { _id: request._id, status: "PLANNING", "lease.epoch": epoch };
    return { collection: "requests", filter, set };
  };

  return {
    completePlanning: (claim, result) =>
      claims.tell<PlanDocument>(claim, ({ planning }) => {
        const now = new Date(clock.now());
        const { request } = claim;
        const autoExecute = request.autoExecute || planning.isExecutionPlanned;
        const fresh = newPlan({ ...result, request, status: autoExecute ? "QUEUED" : "READY", now });
        const { document, events } = versionTurn(fresh, [], fresh);
        const status = autoExecute ? "EXECUTING" : "READY";
        const { diagnostics } = result;
        const set = { ...settled(now), status, autoExecute, diagnostics, draft: null };
        return {
          type: "tell",
          events,
          isKept: true,
          following: () => [{ collection: "plans", insert: document }, planned(claim, set)],
          done: document,
        };
      }),

    failPlanning: (claim, { error, diagnostics, raw, plan, origin }) =>
      claims.tell<void>(claim, () => {
        const now = new Date(clock.now());
        const { request } = claim;
        const failed: JournalEvent = { type: "planning.failed", error };
        const set = { ...settled(now), status: "FAILED", error, diagnostics };
        const hasSomethingToShow = raw !== null || plan !== null;
        if (!hasSomethingToShow) {
          return { type: "tell", events: [failed], following: () => [held(claim, set)], done: undefined };
        }
        const shown = newPlan({ request, plan, raw, origin, diagnostics, status: "INVALID", now });
        const { document, events } = versionTurn(shown, [], shown);
        return {
          type: "tell",
          events: [...events, failed],
          isKept: true,
          following: () => [{ collection: "plans", insert: document }, planned(claim, set)],
          done: undefined,
        };
      }),

    askQuestions: (claim, { questions, draft }) =>
      claims.tell<void>(claim, () => {
        const now = new Date(clock.now());
        const questionsAsked = (claim.request.questionsAsked ?? 0) + questions.length;
        const set = { ...settled(now), status: "NEEDS_INPUT", questions, questionsAsked, draft };
        const asked = questions.map(({ id, question }) => ({ id, question }));
        return {
          type: "tell",
          events: [{ type: "question.asked", questions: asked }],
          following: () => [held(claim, set)],
          done: undefined,
        };
      }),
  };
}
