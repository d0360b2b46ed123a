/**
 * The events of planning: what planners, and the clients that they plan for, have done before there is a
 * plan, or another version of it.
 */
import { z } from "zod";

/** What one model call takes, or may take. */
const SpendingSchema = z.strictObject({
  modelCalls: z.int().min(0),
  tokens: z.number().min(0),
  /** Of models whose price is known. */
  costUsd: z.number().min(0),
});

/** Why something did not come out. */
const ReasonSchema = z.strictObject({ code: z.string(), message: z.string() });

/** See `JournalEventSchema`: these are part of it. */
export const PLANNING_EVENT_SCHEMAS = [
  /** A planner owns planning from here on: what its predecessors append is refused. */
  z.strictObject({
    type: z.literal("planning.began"),
    worker: z.string(),
    /** Of planning alone: higher than that of every planner before. */
    epoch: z.int().min(1),
    /** The first plan, another version after a failure, or the results in words. */
    work: z.enum(["plan", "replan", "answer"]),
    /** The planner that did not release it; null when none held it. */
    from: z.string().nullable(),
  }),
  /**
   * A model is about to be asked. What is reserved for it counts against the limits of the request until it
   * has answered.
   */
  z.strictObject({
    type: z.literal("model.called"),
    callId: z.string(),
    purpose: z.enum(["draft", "repair", "fast-path", "replan", "answer"]),
    model: z.string(),
    reserved: SpendingSchema,
  }),
  /**
   * A model has answered, or failed: told by who asked it, also after its planning was given to another
   * planner.
   */
  z.strictObject({
    type: z.literal("model.answered"),
    callId: z.string(),
    spent: SpendingSchema,
    error: ReasonSchema.nullable(),
  }),
  /** The planner needs to know something. */
  z.strictObject({
    type: z.literal("question.asked"),
    questions: z.array(z.strictObject({ id: z.string(), question: z.string() })).min(1),
  }),
  /** A user has answered. Planning continues when no question is open. */
  z.strictObject({
    type: z.literal("answer.given"),
    answers: z.array(z.strictObject({ questionId: z.string(), answer: z.string() })).min(1),
    /**
     * The plan that was drafted is given up: the planner begins anew, and asks nothing more of what it asked.
     */
    givesUpDraft: z.boolean(),
  }),
  /** A client wants the plan that is being made executed as soon as it is stored. */
  z.strictObject({ type: z.literal("execution.planned") }),
  /** A client asks for another plan in place of one that has ended. */
  z.strictObject({
    type: z.literal("replan.asked"),
    /** What is to be done differently. */
    note: z.string().nullable(),
    /** Execute the new version as soon as it is stored. */
    execute: z.boolean(),
  }),
  /** Planning has ended without a plan that can run. */
  z.strictObject({ type: z.literal("planning.failed"), error: ReasonSchema }),
  /** A client has ended planning. */
  z.strictObject({ type: z.literal("planning.cancelled") }),
  /** The results are written in words, which are kept with the request; or the reason why they are not. */
  z.strictObject({ type: z.literal("results.told"), error: ReasonSchema.nullable() }),
] as const;
