import { EFFECTS } from "@planwright/engine";
import { PlanSchema, PlanStatusSchema, RequestStatusSchema, StepStatusSchema } from "@planwright/plan";
import type { JournalDocument } from "@planwright/store";
import type { LedgerEntry, LoggedCall } from "@planwright/testing";
import { z } from "zod";
import type { Change } from "./change.ts";
import type { Reading } from "./reading.ts";

/** A request as MongoDB holds it at the end. */
export const FinalRequestSchema = z.object({
  _id: z.string(),
  tenant: z.string(),
  planId: z.string(),
  /** "query": a sentence for a planner. "plan": a plan that a client submitted. */
  source: z.enum(["query", "plan"]),
  status: RequestStatusSchema,
  error: z.object({ code: z.string() }).nullable(),
});
export type FinalRequest = z.output<typeof FinalRequestSchema>;

/** A plan as MongoDB holds it at the end. */
export const FinalPlanSchema = z.object({
  _id: z.string(),
  requestId: z.string(),
  tenant: z.string(),
  /** From 1; each change by a client makes a new version. */
  version: z.number(),
  status: PlanStatusSchema,
  waitReason: z.string().nullable(),
  plan: PlanSchema.nullable(),
  error: z.object({ code: z.string() }).nullable(),
  createdAt: z.date(),
  deadlineAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
  /** Number of steps by status, written when the plan ends; null before. */
  counts: z.record(z.string(), z.number()).nullable(),
});
export type FinalPlan = z.output<typeof FinalPlanSchema>;

/** A step, or an item of a forEach, as MongoDB holds it at the end. */
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
  /** What the record says about the effects of its calls. */
  effect: z.enum(EFFECTS).nullable(),
  finishedAt: z.date().nullable(),
  /** The version that made the call, for a unit that was carried over; null for other units. */
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

/** Ids that a client received. */
export interface AcceptedIds {
  index: number;
  tenant: string;
  requestId: string;
  planId: string;
}

/** A version of its plan that a client asked for. */
export interface AskedVersion {
  requestId: string;
  /** The version that had ended. */
  planId: string;
  /**
   * `retry`: a rerun together with other requests. `amend`: another plan. `restore`: the plan of an earlier version.
   */
  kind: "rerun" | "retry" | "amend" | "restore";
  /** The step to start a rerun from; null: only steps and items that did not complete. */
  from: string | null;
  /** Ids of steps that may be called again although they may have acted. */
  acceptRepeat: readonly string[];
  /** The version that the client received; null without an answer. */
  storedAs: string | null;
}

/** A control of a client, which the journal has to contain. */
export interface AskedControl {
  requestId: string;
  /** The type of its event in the journal. */
  type: "cancel.asked" | "approval.given" | "doubt.resolved";
  /** The subject of the control, as `subjectOf` in oracle/replayed-request.ts returns it. */
  subject: string;
  /** The client, as the API names it. */
  by: string;
  /** The plan in the answer; null without an answer. */
  planId: string | null;
}

/** One reading of a request by a client. */
export interface SeenReading {
  requestId: string;
  reading: Reading;
  /** The seq of the last entry that was durable before the reading; 0 when that is not known. */
  afterSeq: number;
}

/** Everything that a run leaves for the oracle. */
export interface Evidence {
  accepted: readonly AcceptedIds[];
  requests: readonly FinalRequest[];
  plans: readonly FinalPlan[];
  steps: readonly FinalStep[];
  /** Every journal entry, as it is stored. */
  journal: readonly JournalDocument[];
  /** Every write, in order. */
  changes: readonly Change[];
  /** Every effect, in order. */
  ledger: readonly LedgerEntry[];
  /** Every call that the tools received, in order, with their answers. */
  calls: readonly LoggedCall[];
  /** Versions that clients asked for, in order. A call without an answer is sent again under the same key. */
  asked: readonly AskedVersion[];
  /** Controls that clients sent to running requests. */
  controls: readonly AskedControl[];
  /** Readings of clients, in order for each request; repeated equal readings are left out. */
  readings: readonly SeenReading[];
  /** Regressions that clients saw, and ids that the API did not know. */
  seen: readonly Violation[];
}

/** Kinds of violations; a run with any violation fails. */
export type ViolationKind =
  | "lost"
  | "duplicated"
  | "unfinished"
  | "regressions"
  | "staleWrites"
  | "lists"
  | "unlikeJournal";

/** One broken promise. */
export interface Violation {
  kind: ViolationKind;
  /** Id of the request, plan or step. */
  id: string;
  expected: string;
  found: string;
}
