/**
 * The events of a journal: what happened to a request and its plans (docs/architecture.md, Journal).
 *
 * 1. The list is closed: writers and readers refuse any other event.
 * 2. An event contains what happened and everything that a reader needs. `fold` derives the rest.
 * 3. Events of one entry are durable together, and happened in this order.
 */
import {
  JsonObjectSchema,
  JsonValueSchema,
  PlanStatusSchema,
  StepStatusSchema,
  WaitReasonSchema,
} from "@planwright/plan";
import { z } from "zod";
import { EFFECTS } from "../state/effect.ts";

/*
 * The events of planning: what planners and clients did before a plan, or another version of it, is stored.
 */

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

const PlanIdText = z.string().min(1);
/** Of a step or an item: `stepId` or `stepId[3]`. */
const UnitKey = z.string().min(1);
const Epoch = z.int().min(1);

const StepErrorSchema = z.strictObject({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  data: JsonValueSchema.optional(),
  /** Size of the data, as JSON text in UTF-8, in bytes. Absent: there is none. */
  dataBytes: z.int().min(0).optional(),
});

/** Reference to an output that is too large for an entry. */
const OutputRefSchema = z.strictObject({
  id: z.string(),
  /** As JSON text in UTF-8, in bytes. */
  sizeBytes: z.int().min(0),
  /** Number of documents in which it is stored. */
  parts: z.int().min(1),
  /** The beginning of the text. */
  preview: z.string().optional(),
  /** The text is the tool's, not ours. */
  isOwnText: z.literal(true).optional(),
});

/** Arguments of a call; only size and preview when they are too large for an entry. */
const ArgumentsSchema = z.strictObject({
  /** As JSON text in UTF-8, in bytes. */
  sizeBytes: z.int().min(0),
  /** Absent: too large, or the reader left it out. */
  value: JsonObjectSchema.optional(),
  /** The beginning of their text, when they are too large. */
  preview: z.string().optional(),
});

/** Who settled a call in doubt, and how. */
const SettledSchema = z.strictObject({
  by: z.string(),
  resolution: z.enum(["completed", "failed", "retry"]),
});

/**
 * A call that an earlier version of the plan sent under a key, and that may have acted: it was not answered, or
 * was answered by an error that leaves that open (`isAnswered`).
 */
const UnansweredCallSchema = z.strictObject({
  key: UnitKey,
  planId: PlanIdText,
  argsHash: z.string(),
  /** It was answered by an error that leaves open whether it acted; it is sent again under the same key. */
  isAnswered: z.literal(true).optional(),
});

/**
 * The client or operator who asked for a control, and when. The owner of the plan writes it with the event.
 * Absent: the event has an entry of its own, with its author and time.
 */
const AskedSchema = z.strictObject({
  /** Number of the control of its plan: a control is applied once. */
  id: z.int().min(1),
  by: z.string(),
  at: z.date(),
});
/** See {@link AskedSchema}. */
const asked = AskedSchema.optional();

const EVENT_SCHEMAS = [
  /**
   * A version of the plan is stored. Carried units keep their state from the previous version and are never
   * called again; all other units begin anew.
   */
  z.strictObject({
    type: z.literal("plan.stored"),
    planId: PlanIdText,
    version: z.int().min(1),
    isValid: z.boolean(),
    carried: z.array(UnitKey),
    /**
     * Steps whose carried units, with those of their items, come from another version than the previous one,
     * or from another step. Absent: none.
     */
    moved: z.array(z.strictObject({ stepId: z.string(), planId: PlanIdText, from: z.string() })).optional(),
    /** Steps that may repeat an effect: the writer of the entry named them. Absent: none. */
    accepted: z.array(z.string()).optional(),
    /** Carried units whose state is the decision of an operator. */
    settled: z.array(SettledSchema.extend({ key: UnitKey })),
    /** Calls under a key of units that begin anew, which may have acted; also answered ones, despite the name. */
    unanswered: z.array(UnansweredCallSchema),
    /**
     * Units that begin anew although an earlier call of them, in this plan, acted or may have acted: the writer
     * of the entry accepted the repeat, or gave other arguments. Absent: none.
     */
    repeats: z
      .array(
        z.strictObject({
          key: UnitKey,
          planId: PlanIdText,
          hasOtherArguments: z.boolean(),
          /** It has completed. Absent: it failed and may have acted. */
          isDone: z.literal(true).optional(),
        }),
      )
      .optional(),
  }),
  /** A client requests execution of the plan. */
  z.strictObject({ type: z.literal("execution.asked") }),
  /** A worker owns the request from this entry on: later appends of its predecessors are refused. */
  z.strictObject({
    type: z.literal("lease.taken"),
    worker: z.string(),
    epoch: Epoch,
    /** The previous owner that did not release it; null when it had no owner. */
    from: z.string().nullable(),
  }),
  /**
   * The owner releases the request: there is nothing to do now (WAITING, PAUSED), or another worker has to
   * continue (QUEUED).
   */
  z.strictObject({
    type: z.literal("lease.released"),
    status: PlanStatusSchema.extract(["WAITING", "PAUSED", "QUEUED"]),
    waitReason: WaitReasonSchema.nullable(),
    /** When a worker has to claim it again; null: not before a control. */
    dueAt: z.date().nullable(),
  }),
  /** A call is about to be sent. One call may serve several items of a list. */
  z.strictObject({
    type: z.literal("attempt.started"),
    attemptId: z.string(),
    /** From 1. */
    attempt: z.int().min(1),
    stepId: z.string(),
    units: z.array(UnitKey).min(1),
    tool: z.string(),
    effectClass: z.enum(["K", "R", "V", "U"]),
    /** The call may have an effect: its tool has side effects, and the call is not a look-up. */
    mayAct: z.boolean(),
    /** The call asks the lookup tool for the result of an earlier call. */
    isLookup: z.literal(true).optional(),
    /** By its contract, what the tool reports as an error did not happen. Absent: that is not known. */
    errors: z.literal("no-effect").optional(),
    argsHash: z.string(),
    /** For several items: SHA-256 of the arguments of each, in the order of `units`. */
    itemHashes: z.array(z.string()).optional(),
    /** The idempotency key, when it is not `{planId}/{the only unit}`. */
    sentKey: z.string().optional(),
    arguments: ArgumentsSchema,
    at: z.date(),
  }),
  /** A call has ended or was abandoned. */
  z.strictObject({
    type: z.literal("attempt.ended"),
    attemptId: z.string(),
    units: z.array(UnitKey).min(1),
    outcome: z.enum(["completed", "failed", "aborted", "unknown"]),
    error: StepErrorSchema.nullable(),
    at: z.date(),
    /** In milliseconds of the worker's monotonic clock. */
    durationMs: z.number().min(0),
    /** Nothing was sent because the server could not be reached. */
    isUnsent: z.literal(true).optional(),
    /** What is known about the effect of the call; absent for a call that cannot have one. */
    effect: z.enum(EFFECTS).optional(),
  }),
  /** The items of a list are fixed: new items begin as PENDING. */
  z.strictObject({ type: z.literal("items.expanded"), stepId: z.string(), count: z.int().min(1) }),
  /**
   * Items of a list end without an output: each from `from` to `to` that has not ended yet. An item can also end by an
   * event of its own, which in older journals is the only way.
   */
  z.strictObject({
    type: z.literal("items.closed"),
    stepId: z.string(),
    /** Positions in the list: the first and the last item. */
    from: z.int().min(0),
    to: z.int().min(0),
    status: StepStatusSchema.extract(["CANCELLED", "SKIPPED"]),
    error: StepErrorSchema.optional(),
  }),
  /** The complete new state of a step or an item, except its attempts. */
  z.strictObject({
    type: z.literal("step.changed"),
    key: UnitKey,
    stepId: z.string(),
    /** Position in the list, for an item. */
    item: z.int().min(0).optional(),
    status: StepStatusSchema,
    /** Output of a completed unit, or `outputRef`. */
    output: JsonValueSchema.optional(),
    outputRef: OutputRefSchema.optional(),
    /** Size of an output in this event, as JSON text in UTF-8, in bytes. */
    outputBytes: z.int().min(0).optional(),
    /** The output's JSON text as the tool wrote it. */
    outputText: z.union([z.string(), z.number()]).optional(),
    error: StepErrorSchema.optional(),
    warnings: z.array(z.string()).optional(),
    waitReason: WaitReasonSchema.optional(),
    nextAttemptAt: z.date().optional(),
    /** When the approval that the unit waits for expires. Absent in older journals. */
    expiresAt: z.date().optional(),
    /** A call that may have an effect was sent, and no answer has settled it. */
    mayHaveActed: z.literal(true).optional(),
    approved: z.literal(true).optional(),
    /** An operator settled the unit after the plan had ended. */
    resolvedBy: SettledSchema.optional(),
    /** The completed unit of an earlier version that made the same call: it was not made again. */
    carriedFrom: z.strictObject({ planId: PlanIdText, key: UnitKey }).optional(),
    /** What to approve, for a unit that waits for approval. */
    toApprove: z
      .strictObject({ arguments: ArgumentsSchema, argsHash: z.string(), approvalHash: z.string() })
      .optional(),
  }),
  /** An operator approves or refuses a call: only the call with this hash. */
  z.strictObject({
    type: z.literal("approval.given"),
    stepId: z.string(),
    approved: z.boolean(),
    approvalHash: z.string(),
    reason: z.string().nullable(),
    asked,
  }),
  /** An operator settles a call in doubt: only this attempt. */
  z.strictObject({
    type: z.literal("doubt.resolved"),
    key: UnitKey,
    attempt: z.int().min(0),
    resolution: z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("completed"), output: JsonValueSchema }),
      z.strictObject({ type: z.literal("failed"), error: StepErrorSchema }),
      z.strictObject({ type: z.literal("retry") }),
    ]),
    asked,
  }),
  z.strictObject({ type: z.literal("cancel.asked"), asked }),
  z.strictObject({ type: z.literal("pause.asked"), asked }),
  z.strictObject({ type: z.literal("resume.asked"), asked }),
  /** The request is removed with all its records, because it ended long ago. No entry follows. */
  z.strictObject({ type: z.literal("removal.began") }),
  /**
   * The plan has ended. Contains the requested outputs, unless they are too large for an entry: then they are
   * stored only with their steps.
   */
  z.strictObject({
    type: z.literal("plan.ended"),
    status: PlanStatusSchema.extract([
      "COMPLETED",
      "PARTIAL",
      "FAILED",
      "CANCELLED",
      "EXPIRED",
      "SUPERSEDED",
    ]),
    outputs: JsonObjectSchema.nullable(),
    error: StepErrorSchema.nullable(),
  }),
  ...PLANNING_EVENT_SCHEMAS,
] as const;

/** An event of a request or of one of its plans. */
export const JournalEventSchema = z.discriminatedUnion("type", EVENT_SCHEMAS);
/** See {@link JournalEventSchema}. */
export type JournalEvent = z.infer<typeof JournalEventSchema>;

/** The event with this type. */
export type EventOf<Type extends JournalEvent["type"]> = Extract<JournalEvent, { type: Type }>;

/** What a client or operator asks of a started plan. */
export type ControlEvent = EventOf<
  "approval.given" | "doubt.resolved" | "cancel.asked" | "pause.asked" | "resume.asked"
>;

/**
 * Events that became durable together: one append to a journal. `_id` in the store is `{requestId}/{seq}`
 * with 8 digits.
 */
export const JournalEntrySchema = z.strictObject({
  requestId: z.string().min(1),
  tenant: z.string(),
  /**
   * The plan version that the events are about. For planning events the current version, which may not be
   * stored yet.
   */
  planId: PlanIdText,
  /** From 1, without gaps. */
  seq: z.int().min(1).max(99_999_999),
  /** Epoch of the owner's lease; absent for a control, which needs no lease. */
  epoch: Epoch.optional(),
  by: z.strictObject({ kind: z.enum(["api", "planner", "executor"]), id: z.string() }),
  at: z.date(),
  /** Id of the append, so that a repeated append is recognized when the answer to the first was lost. */
  writeId: z.string().min(1),
  /**
   * The client's idempotency key for this operation, as `{operation}/{SHA-256}`, and the SHA-256 of its
   * payload. Absent: the client sent none.
   */
  idempotency: z.strictObject({ key: z.string(), payloadHash: z.string() }).optional(),
  events: z.array(JournalEventSchema).min(1),
});
/** See {@link JournalEntrySchema}. */
export type JournalEntry = z.infer<typeof JournalEntrySchema>;
