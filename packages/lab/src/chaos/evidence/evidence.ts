import { PlanSchema, PlanStatusSchema, RequestStatusSchema, StepStatusSchema } from "@planwright/plan";
import type { JournalDocument } from "@planwright/store";
import type { LedgerEntry, LoggedCall } from "@planwright/testing";
import { z } from "zod";
import type { Change } from "./change.ts";
import type { Reading } from "./reading.ts";

/** What is left of a request in MongoDB. */
export const FinalRequestSchema = z.object({
  _id: z.string(),
  planId: z.string(),
  /** A sentence that planners make a plan of, or a plan that a client handed in. */
  source: z.enum(["query", "plan"]),
  status: RequestStatusSchema,
  error: z.object({ code: z.string() }).nullable(),
});
export type FinalRequest = z.output<typeof FinalRequestSchema>;

/** What is left of a plan. */
export const FinalPlanSchema = z.object({
  _id: z.string(),
  requestId: z.string(),
  /** From 1; each rerun is another one. */
  version: z.number(),
  status: PlanStatusSchema,
  waitReason: z.string().nullable(),
  plan: PlanSchema.nullable(),
  error: z.object({ code: z.string() }).nullable(),
  createdAt: z.date(),
  deadlineAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
  /** Steps by status, told with its end; null before. */
  counts: z.record(z.string(), z.number()).nullable(),
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
  error: z.object({ code: z.string() }).nullable(),
  finishedAt: z.date().nullable(),
  /** The version that called it, for a unit that a rerun did not call again. */
  carriedFrom: z.string().nullable(),
  attempts: z.array(
    z.object({
      executor: z.string(),
      startedAt: z.date(),
      endedAt: z.date().nullable(),
      outcome: z.string().nullable(),
    }),
  ),
});
export type FinalStep = z.output<typeof FinalStepSchema>;

/** Ids that a client was given. */
export interface AcceptedIds {
  index: number;
  requestId: string;
  planId: string;
}

/** A client asked for a plan that is over to be run again. */
export interface AskedRerun {
  requestId: string;
  /** The version that was over. */
  planId: string;
  /** The step to begin with; null: only what did not complete. */
  from: string | null;
  /** The version that the client was given; null without an answer. */
  storedAs: string | null;
}

/** A client asked for something that the journal is to tell. */
export interface AskedControl {
  requestId: string;
  /** The event that tells it. */
  type: "cancel.asked" | "approval.given" | "doubt.resolved";
  /** What it is said of: `subjectOf` in oracle/replayed-request.ts. */
  subject: string;
  /** Who asked, as the API knows the client. */
  by: string;
  /** The plan of which it was answered as done; null without such an answer. */
  planId: string | null;
}

/** A look of a client at a request. */
export interface SeenReading {
  requestId: string;
  reading: Reading;
  /** The last entry that was durable before the client asked; 0 when that is not known. */
  afterSeq: number;
}

/** Everything that is known when a run is over. */
export interface Evidence {
  accepted: readonly AcceptedIds[];
  requests: readonly FinalRequest[];
  plans: readonly FinalPlan[];
  steps: readonly FinalStep[];
  /** Every entry of the journals, as it is stored. */
  journal: readonly JournalDocument[];
  /** Every write, in order. */
  changes: readonly Change[];
  /** Every effect, in order. */
  ledger: readonly LedgerEntry[];
  /** Every call that the tools saw, in order, with how they answered. */
  calls: readonly LoggedCall[];
  /** What clients asked to be run again, in order; one that got no answer may stand here twice. */
  reruns: readonly AskedRerun[];
  /** What clients asked of requests that ran. */
  controls: readonly AskedControl[];
  /** What clients saw, in order for each request; looks that saw the same as the one before are left out. */
  readings: readonly SeenReading[];
  /** What clients saw going back, and ids that were not known to the API. */
  seen: readonly Violation[];
}

/** What must not be, by kind; the run fails when there is any. */
export type ViolationKind =
  | "lost"
  | "duplicated"
  | "unfinished"
  | "regressions"
  | "staleWrites"
  | "lists"
  | "unlikeJournal";

/** One breach of what was promised. */
export interface Violation {
  kind: ViolationKind;
  /** Id of the request, plan or step. */
  id: string;
  expected: string;
  found: string;
}
