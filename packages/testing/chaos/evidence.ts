import { PlanSchema, PlanStatusSchema, RequestStatusSchema, StepStatusSchema } from "@planwright/plan";
import { z } from "zod";
import type { LedgerEntry } from "../src/index.ts";
import type { Change } from "./change.ts";

/** What is left of a request in MongoDB. */
export const FinalRequestSchema = z.object({
  _id: z.string(),
  planId: z.string(),
  status: RequestStatusSchema,
  error: z.object({ code: z.string() }).nullable(),
});
export type FinalRequest = z.output<typeof FinalRequestSchema>;

/** What is left of a plan. */
export const FinalPlanSchema = z.object({
  _id: z.string(),
  requestId: z.string(),
  status: PlanStatusSchema,
  waitReason: z.string().nullable(),
  plan: PlanSchema.nullable(),
  error: z.object({ code: z.string() }).nullable(),
  deadlineAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
});
export type FinalPlan = z.output<typeof FinalPlanSchema>;

/** What is left of a step, or of an item of a forEach. */
export const FinalStepSchema = z.object({
  _id: z.string(),
  planId: z.string(),
  key: z.string(),
  stepId: z.string(),
  item: z.number().nullable(),
  tool: z.string(),
  status: StepStatusSchema,
  output: z.unknown(),
});
export type FinalStep = z.output<typeof FinalStepSchema>;

/** Ids that a client was given. */
export interface AcceptedIds {
  index: number;
  requestId: string;
  planId: string;
}

/** Everything that is known when a run is over. */
export interface Evidence {
  accepted: readonly AcceptedIds[];
  requests: readonly FinalRequest[];
  plans: readonly FinalPlan[];
  steps: readonly FinalStep[];
  /** Every write, in order. */
  changes: readonly Change[];
  /** Every effect, in order. */
  ledger: readonly LedgerEntry[];
  /** What clients saw going back, and ids that were not known to the API. */
  seen: readonly Violation[];
}

/** What must not be, by kind; the run fails when there is any. */
export type ViolationKind = "lost" | "duplicated" | "unfinished" | "regressions" | "staleWrites";

/** One breach of what was promised. */
export interface Violation {
  kind: ViolationKind;
  /** Id of the request, plan or step. */
  id: string;
  expected: string;
  found: string;
}
