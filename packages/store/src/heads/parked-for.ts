import type { Document } from "mongodb";
import type { PlanningWork } from "../records/request-document.ts";

/** The field with the time from which a planner has work for a request. */
export const PLANNING_DUE = "dueAt";

/**
 * Fields that make a request due now for any planner, and the fields that get the server's time. No planner
 * holds it from then on: writes of an earlier planner do not match.
 */
export function parkedFor(work: PlanningWork): { set: Document; stamps: string[] } {
  const held = {
    lease: null,
    claims: 0,
    "planning.claimsOfWork": 0,
    "planning.work": work,
    "planning.wait": null,
  };
  const set =
    work !== "answer"
      ? { ...held, "planning.startedAt": null, "planning.finishedAt": null, error: null, diagnostics: [] }
      : held;
  return { set: { ...set, answer: null, answerError: null }, stamps: [PLANNING_DUE] };
}

const NO_RESULTS = {
  code: "PLAN_NOT_COMPLETED",
  message: "Planning was cancelled, so there are no results to describe",
};

/** Expressions for a request whose planning was cancelled. No planner holds it from then on. */
export const PLANNING_CANCELLED: Document = {
  status: "CANCELLED",
  replan: null,
  answerError: { $cond: [{ $eq: ["$wantsAnswer", true] }, NO_RESULTS, "$answerError"] },
  lease: null,
  dueAt: null,
  "planning.finishedAt": "$$NOW",
  "planning.wait": null,
  updatedAt: "$$NOW",
};

/** Fields that leave no work for planners: the request has moved on. */
export const NOTHING_PARKED: Document = {
  lease: null,
  [PLANNING_DUE]: null,
  "planning.work": null,
  "planning.wait": null,
  replan: null,
  error: null,
  answer: null,
  answerError: null,
};

/** Fields of a request whose planning has ended or waits for the user. Pure. */
export function settled(now: Date): Document {
  return { updatedAt: now, lease: null, dueAt: null, "planning.finishedAt": now, "planning.wait": null };
}
