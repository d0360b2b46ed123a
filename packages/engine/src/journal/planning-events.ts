/**
 * The events of planning: what planners and clients did before a plan, or another version of it, is stored.
 */
import { z } from "zod";

/** What one model call uses, or may use. */
const SpendingSchema = z.strictObject({
  modelCalls: z.int().min(0),
  tokens: z.number().min(0),
  /** Only of models with a known price. */
  costUsd: z.number().min(0),
});

/** Why there is no result. */
const ReasonSchema = z.strictObject({ code: z.string(), message: z.string() });

/** See `JournalEventSchema`: these are part of it. */
export const PLANNING_EVENT_SCHEMAS = [
  /** A planner owns planning from this entry on: later appends of its predecessors are refused. */
  z.strictObject({
    type: z.literal("planning.began"),
    worker: z.string(),
    /** Epoch of planning, not of execution: higher than that of every earlier planner. */
    epoch: z.int().min(1),
    /** Make the first plan, another version after a failure, or the text of the results. */
    work: z.enum(["plan", "replan", "answer"]),
    /** The previous planner that did not release it; null when it had none. */
    from: z.string().nullable(),
  }),
  /**
   * A model is about to be called. The reserved amounts count against the limits of the request until it has
   * answered.
   */
  z.strictObject({
    type: z.literal("model.called"),
    callId: z.string(),
    purpose: z.enum(["draft", "repair", "fast-path", "replan", "answer"]),
    model: z.string(),
    reserved: SpendingSchema,
  }),
  /**
   * A model has answered or failed. The planner that called it appends this, even after another planner took
   * over.
   */
  z.strictObject({
    type: z.literal("model.answered"),
    callId: z.string(),
    spent: SpendingSchema,
    error: ReasonSchema.nullable(),
  }),
  /** The planner asks the user. */
  z.strictObject({
    type: z.literal("question.asked"),
    questions: z.array(z.strictObject({ id: z.string(), question: z.string() })).min(1),
  }),
  /** A user has answered. Planning continues when no question is open. */
  z.strictObject({
    type: z.literal("answer.given"),
    answers: z.array(z.strictObject({ questionId: z.string(), answer: z.string() })).min(1),
    /** The drafted plan is abandoned: the planner begins anew, and the open questions are closed. */
    discardsDraft: z.boolean(),
  }),
  /** A client requests to execute the plan that is being made as soon as it is stored. */
  z.strictObject({ type: z.literal("execution.planned") }),
  /** A client requests another version of a plan that has ended, or a plan after planning has failed. */
  z.strictObject({
    type: z.literal("replan.asked"),
    /** What to do differently. */
    note: z.string().nullable(),
    /** Execute the new version as soon as it is stored. */
    execute: z.boolean(),
  }),
  /** The planner releases the request, because the model is away: a planner tries again when it is due. */
  z.strictObject({
    type: z.literal("planning.postponed"),
    error: ReasonSchema,
    /** When the first call without an answer failed; the model has not answered since then. */
    since: z.date(),
    /** How often the request was released since then, this time included. */
    tries: z.int().min(1),
    /** When a planner has to claim it again. */
    dueAt: z.date(),
    /** The latest time for another try; after it planning fails. */
    until: z.date(),
  }),
  /** Planning has ended without a plan that can run. */
  z.strictObject({ type: z.literal("planning.failed"), error: ReasonSchema }),
  /** A client cancels planning. */
  z.strictObject({ type: z.literal("planning.cancelled") }),
  /** The text of the results is written and stored with the request; or the error why it is not. */
  z.strictObject({ type: z.literal("answer.written"), error: ReasonSchema.nullable() }),
] as const;
