import type { Document } from "mongodb";
import type { PlanningWork } from "../records/request-document.ts";

/** The time from which on a planner has something to do for a request. */
export const PLANNING_DUE = "dueAt";

/**
 * Fields that leave a request to any planner, due now, and those that get the server's time. No planner holds
 * it from then on: what an earlier planner still writes matches nothing.
 */
export function parkedFor(work: Exclude<PlanningWork, "plan">): { set: Document; stamps: string[] } {
  const held = { lease: null, claims: 0, "planning.claimsOfWork": 0, "planning.work": work };
  const set =
    work === "replan"
      ? { ...held, "planning.startedAt": null, "planning.finishedAt": null, error: null, diagnostics: [] }
      : held;
  return { set: { ...set, answer: null, answerError: null }, stamps: [PLANNING_DUE] };
}

const NO_RESULTS = {
  code: "PLAN_NOT_COMPLETED",
  message: "Planning was cancelled, so there are no results to tell of",
};

/** Expressions of a request of which planning was cancelled: no planner holds it from then on. */
export const PLANNING_CANCELLED: Document = {
  status: "CANCELLED",
  replan: null,
  answerError: { $cond: [{ $eq: ["$wantsAnswer", true] }, NO_RESULTS, "$answerError"] },
  lease: null,
  dueAt: null,
  "planning.finishedAt": "$$NOW",
  updatedAt: "$$NOW",
};

/** Fields that leave nothing to planners: another worker has taken the request further. */
export const NOTHING_PARKED: Document = {
  lease: null,
  [PLANNING_DUE]: null,
  "planning.work": null,
  replan: null,
  error: null,
  answer: null,
  answerError: null,
};

/** Fields of a request whose planning has ended, or waits for its user. Pure. */
export function settled(now: Date): Document {
  return { updatedAt: now, lease: null, dueAt: null, "planning.finishedAt": now };
}
