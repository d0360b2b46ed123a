/**
 * The events of a journal: what happened to a request and its plans, as all readers see it (DESIGN §6).
 *
 * 1. The list is closed: what is not in it is refused, by who writes and by who reads.
 * 2. An event says what happened and everything that a reader needs to know of it. What follows from it is
 *    derived by `fold`.
 * 3. Events of one entry are durable together, and happened in their order.
 */
import {
  JsonObjectSchema,
  JsonValueSchema,
  PlanStatusSchema,
  StepStatusSchema,
  WaitReasonSchema,
} from "@planwright/plan";
import { z } from "zod";
import { PLANNING_EVENT_SCHEMAS } from "./planning-events.ts";

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

/** Where an output is that is too large for an entry. */
const OutputRefSchema = z.strictObject({
  id: z.string(),
  /** As JSON text in UTF-8, in bytes. */
  sizeBytes: z.int().min(0),
  /** Documents that it takes. */
  parts: z.int().min(1),
  /** The beginning of the text. */
  preview: z.string().optional(),
  /** The text is the tool's own, not ours. */
  isOwnText: z.literal(true).optional(),
});

/** Arguments of a call, or what is kept of those that are too large for an entry. */
const ArgumentsSchema = z.strictObject({
  /** As JSON text in UTF-8, in bytes. */
  sizeBytes: z.int().min(0),
  /** Absent: too large, or left out by who read the entry. */
  value: JsonObjectSchema.optional(),
  /** The beginning of the text of what is too large. */
  preview: z.string().optional(),
});

/** Who settled a doubt, and how. */
const SettledSchema = z.strictObject({
  by: z.string(),
  resolution: z.enum(["completed", "failed", "retry"]),
});

/** A call that an earlier version of the plan sent under a key, and that was not answered. */
const UnansweredCallSchema = z.strictObject({ key: UnitKey, planId: PlanIdText, argsHash: z.string() });

const EVENT_SCHEMAS = [
  /**
   * A version of the plan is stored. Units that it carries over are as they were in the version before, and
   * are never called again; all others begin anew.
   */
  z.strictObject({
    type: z.literal("plan.stored"),
    planId: PlanIdText,
    version: z.int().min(1),
    isValid: z.boolean(),
    carried: z.array(UnitKey),
    /** Of those carried over, the ones whose state rests on the decision of an operator. */
    settled: z.array(SettledSchema.extend({ key: UnitKey })),
    /** Of units that begin anew. */
    unanswered: z.array(UnansweredCallSchema),
  }),
  /** A client wants the plan executed. */
  z.strictObject({ type: z.literal("execution.asked") }),
  /** A worker owns the request from here on: what its predecessors append is refused. */
  z.strictObject({
    type: z.literal("lease.taken"),
    worker: z.string(),
    epoch: Epoch,
    /** The owner that did not release it; null when no worker held it. */
    from: z.string().nullable(),
  }),
  /**
   * The owner releases the request: there is nothing to do now (WAITING, PAUSED), or another worker is to
   * continue (QUEUED).
   */
  z.strictObject({
    type: z.literal("lease.released"),
    status: PlanStatusSchema.extract(["WAITING", "PAUSED", "QUEUED"]),
    waitReason: WaitReasonSchema.nullable(),
    /** When it is to be looked at again; null: not before a control. */
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
    /** The call may have an effect: its tool has side effects, and it is no look-up. */
    mayAct: z.boolean(),
    /** It asks for the result of an earlier call, instead of calling again. */
    isLookup: z.literal(true).optional(),
    argsHash: z.string(),
    arguments: ArgumentsSchema,
    at: z.date(),
  }),
  /** A call has ended, or was given up. */
  z.strictObject({
    type: z.literal("attempt.ended"),
    attemptId: z.string(),
    units: z.array(UnitKey).min(1),
    outcome: z.enum(["completed", "failed", "aborted", "unknown"]),
    error: StepErrorSchema.nullable(),
    at: z.date(),
    /** By the worker's monotonic clock, in milliseconds. */
    durationMs: z.number().min(0),
    /** Nothing was sent: the server could not be reached. */
    isUnsent: z.literal(true).optional(),
  }),
  /** The items of a list are known, and fixed: those that are not there yet begin as PENDING. */
  z.strictObject({ type: z.literal("items.expanded"), stepId: z.string(), count: z.int().min(1) }),
  /** A step or an item has another state, or knows more about itself. */
  z.strictObject({
    type: z.literal("step.changed"),
    key: UnitKey,
    stepId: z.string(),
    /** Of an item, its position in the list. */
    item: z.int().min(0).optional(),
    status: StepStatusSchema,
    /** Of a completed one: its output, or where that is. */
    output: JsonValueSchema.optional(),
    outputRef: OutputRefSchema.optional(),
    /** Size of an output that is here, as JSON text in UTF-8, in bytes. */
    outputBytes: z.int().min(0).optional(),
    /** How the tool wrote the output as JSON text. */
    outputText: z.union([z.string(), z.number()]).optional(),
    error: StepErrorSchema.optional(),
    warnings: z.array(z.string()).optional(),
    waitReason: WaitReasonSchema.optional(),
    nextAttemptAt: z.date().optional(),
    /** A call of it was sent that may have had an effect, and no answer has settled it. */
    mayHaveActed: z.literal(true).optional(),
    approved: z.literal(true).optional(),
    /** An operator settled a doubt by it, after the plan had ended. */
    resolvedBy: SettledSchema.optional(),
    /** What is to be approved, for one that waits for it. */
    toApprove: z
      .strictObject({ arguments: ArgumentsSchema, argsHash: z.string(), approvalHash: z.string() })
      .optional(),
  }),
  /** An operator says of a call whether it may be made: of the call with this hash, and of no other. */
  z.strictObject({
    type: z.literal("approval.given"),
    stepId: z.string(),
    approved: z.boolean(),
    approvalHash: z.string(),
    reason: z.string().nullable(),
  }),
  /** An operator settles a call in doubt: this attempt, and no other. */
  z.strictObject({
    type: z.literal("doubt.resolved"),
    key: UnitKey,
    attempt: z.int().min(0),
    resolution: z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("completed"), output: JsonValueSchema }),
      z.strictObject({ type: z.literal("failed"), error: StepErrorSchema }),
      z.strictObject({ type: z.literal("retry") }),
    ]),
  }),
  z.strictObject({ type: z.literal("cancel.asked") }),
  z.strictObject({ type: z.literal("pause.asked") }),
  z.strictObject({ type: z.literal("resume.asked") }),
  /**
   * The plan has ended. The requested outputs are here, unless they are too large for an entry: then they are
   * with their steps.
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

/** What can happen to a request. */
export const JournalEventSchema = z.discriminatedUnion("type", EVENT_SCHEMAS);
/** See {@link JournalEventSchema}. */
export type JournalEvent = z.infer<typeof JournalEventSchema>;

/** One of them. */
export type EventOf<Type extends JournalEvent["type"]> = Extract<JournalEvent, { type: Type }>;

/**
 * What became true together: the unit in which a journal grows. `_id` in the store is `{requestId}/{seq}`, of
 * 8 digits.
 */
export const JournalEntrySchema = z.strictObject({
  requestId: z.string().min(1),
  tenant: z.string(),
  /** The version that the events are about; for planning the current one, which may not be stored yet. */
  planId: PlanIdText,
  /** From 1, without a gap. */
  seq: z.int().min(1).max(99_999_999),
  /** Of the owner's lease; absent: a control, which needs none. */
  epoch: Epoch.optional(),
  by: z.strictObject({ kind: z.enum(["api", "planner", "executor"]), id: z.string() }),
  at: z.date(),
  /** Names the append, so that one whose answer was lost is known again. */
  writeId: z.string().min(1),
  /**
   * A client's own name for what it asked for here, as `{operation}/{SHA-256}`, and the SHA-256 of what that
   * stands for. Absent: none.
   */
  idempotency: z.strictObject({ key: z.string(), payloadHash: z.string() }).optional(),
  events: z.array(JournalEventSchema).min(1),
});
/** See {@link JournalEntrySchema}. */
export type JournalEntry = z.infer<typeof JournalEntrySchema>;
