import type { Document } from "mongodb";
import { dueAtOnce } from "../records/new-documents.ts";
import type { PlanningWork } from "../records/request-document.ts";

/**
 * Fields that make a request due now for any planner. No planner holds it from then on: writes of an earlier
 * planner do not match.
 */
export function parkedFor(work: PlanningWork, now: Date): Document {
  return {
    lease: null,
    dueAt: dueAtOnce(now),
    claims: 0,
    "planning.claimsOfWork": 0,
    "planning.work": work,
    "planning.wait": null,
    ...(work !== "answer" && {
      "planning.startedAt": null,
      "planning.finishedAt": null,
      error: null,
      diagnostics: [],
    }),
    answer: null,
    answerError: null,
  };
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
  dueAt: null,
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
