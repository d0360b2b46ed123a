import { isDeepStrictEqual } from "node:util";
import { EFFECTS } from "@planwright/engine";
import {
  ENDED_REQUEST_STATUSES,
  isTerminalPlanStatus,
  isTerminalStepStatus,
  isUnheldPlanStatus,
  JsonValueSchema,
  PlanSchema,
  PlanStatusSchema,
  RequestStatusSchema,
  StepStatusSchema,
} from "@planwright/plan";
import type { JournalDocument } from "@planwright/store";
import type { LedgerEntry, LoggedCall } from "@planwright/testing";
import { z } from "zod";

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
export interface ClientControl {
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
  changes: readonly PlanChange[];
  /** Every effect, in order. */
  ledger: readonly LedgerEntry[];
  /** Every call that the tools received, in order, with their answers. */
  calls: readonly LoggedCall[];
  /** Versions that clients asked for, in order. A call without an answer is sent again under the same key. */
  asked: readonly AskedVersion[];
  /** Controls that clients sent to running requests. */
  controls: readonly ClientControl[];
  /** Readings of clients, in order for each request; repeated equal readings are left out. */
  readings: readonly SeenReading[];
  /** Regressions that clients saw, and ids that the API did not know. */
  seen: readonly BrokenPromise[];
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
export interface BrokenPromise {
  kind: ViolationKind;
  /** Id of the request, plan or step. */
  id: string;
  expected: string;
  found: string;
}

/** The state of one request as a client read it. */
export const ReadingSchema = z.object({
  status: z.string(),
  planId: z.string(),
  error: z.object({ code: z.string() }).nullable(),
  plan: z
    .object({
      status: PlanStatusSchema,
      waitReason: z.string().nullable(),
      error: z.object({ code: z.string() }).nullable(),
      steps: z.array(
        z.object({
          key: z.string(),
          status: StepStatusSchema,
          output: JsonValueSchema.nullable(),
          /** Identifies the call that waits for approval. */
          approvalHash: z.string().nullish(),
          /** Present when the client asked for them. */
          attempts: z.array(z.object({ attempt: z.number() })).optional(),
        }),
      ),
    })
    .nullable(),
});
export type Reading = z.output<typeof ReadingSchema>;

/**
 * Statuses in the order in which a request passes through them, which is the order of the lifecycle table.
 */
const REQUEST_ORDER: readonly string[] = RequestStatusSchema.options;
const FINAL_REQUESTS: ReadonlySet<string> = new Set(ENDED_REQUEST_STATUSES);

/** True when the request changes no more by itself: it has ended, or its plan waits for an operator. */
export function isSettled({ status, plan }: Reading): boolean {
  return FINAL_REQUESTS.has(status) || (plan?.status === "WAITING" && plan.waitReason === "in doubt");
}

/**
 * Descriptions of everything that went back from one reading of a request to the next; empty without a
 * regression. Pure.
 */
export function regressionsBetween(before: Reading, after: Reading): string[] {
  const found: string[] = [];
  if (after.planId !== before.planId) found.push(`plan id changed from ${before.planId} to ${after.planId}`);
  const isBack = REQUEST_ORDER.indexOf(after.status) < REQUEST_ORDER.indexOf(before.status);
  if (after.status !== before.status && (FINAL_REQUESTS.has(before.status) || isBack)) {
    found.push(`request went from ${before.status} to ${after.status}`);
  }
  if (before.plan === null) return found;
  if (after.plan === null) return [...found, "the plan was there and is gone"];
  if (isTerminalPlanStatus(before.plan.status) && after.plan.status !== before.plan.status) {
    found.push(`plan went from ${before.plan.status} to ${after.plan.status}`);
  }
  const stepsAfter = new Map(after.plan.steps.map((step) => [step.key, step]));
  for (const step of before.plan.steps) {
    const next = stepsAfter.get(step.key);
    if (next === undefined) found.push(`step ${step.key} was there and is gone`);
    else if (!isTerminalStepStatus(step.status)) {
      if (next.status === "PENDING" && step.status === "RUNNING")
        found.push(`step ${step.key} went from RUNNING to PENDING`);
    } else if (next.status !== step.status) {
      found.push(`step ${step.key} went from ${step.status} to ${next.status}`);
    } else if (!isDeepStrictEqual(next.output, step.output)) {
      found.push(`step ${step.key} has another output than before`);
    }
  }
  return found;
}

/**
 * One event of the change stream, reduced to what the oracle needs: the change of a document, or of a step by
 * a journal entry. Lists of changes are in the order of the writes.
 */
export interface PlanChange {
  /** When MongoDB made the write, in Unix milliseconds. */
  at: number;
  collection: "requests" | "plans" | "steps";
  id: string;
  type: "insert" | "update" | "delete" | "invalid";
  /** Names of the changed fields, dotted; all fields for an insert. */
  fields: readonly string[];
  /** Present when the write changed it. */
  status?: string | undefined;
  /** `epoch` of a plan or step; present when the write changed it. */
  epoch?: number | undefined;
  /** Of a plan: the new owner of its lease; present when a worker took the lease. */
  owner?: string | undefined;
  /** Of a step: the worker that wrote the entry; absent for changes by an operator or another version. */
  writer?: string | undefined;
  /** Of a step: true when it was carried over from an earlier version of the plan. */
  isCarried?: boolean | undefined;
  /** Why a journal entry does not fit the entries before it. */
  reason?: string | undefined;
}

/** Number of plans that each process holds after the last change, by its pid. Pure. */
export function plansHeld(changes: readonly PlanChange[]): Map<number, number> {
  const holders = new Map<string, number>();
  for (const change of changes) {
    if (change.collection !== "plans") continue;
    if (change.owner !== undefined) holders.set(change.id, pidOf(change.owner));
    if (isReleased(change)) holders.delete(change.id);
  }
  const counts = new Map<number, number>();
  for (const pid of holders.values()) counts.set(pid, (counts.get(pid) ?? 0) + 1);
  return counts;
}

/** True when no executor holds the plan after this change: it has ended, waits, or is queued again. */
function isReleased({ status }: PlanChange): boolean {
  if (status === undefined) return false;
  return isUnheldPlanStatus(PlanStatusSchema.parse(status));
}

/** The pid of an owner, whose name is `{host}:{pid}:{random}`. */
function pidOf(owner: string): number {
  return Number(owner.split(":").at(-2));
}

/** A process that was killed. */
interface KilledProcess {
  pid: number;
  /** Unix milliseconds. */
  at: number;
}

/** What became of the plans that killed executors held. */
interface Recoveries {
  /** Number of these plans; one counts again when its next executor is killed too. */
  inFlight: number;
  /**
   * From the kill until another executor claimed the plan, in milliseconds, ascending. A plan whose end was being
   * written when the process died needs no executor and has no time.
   */
  times: number[];
}

/** Reads the recoveries from the changes of plans, in their order. Pure. */
export function recoveriesOf(changes: readonly PlanChange[], kills: readonly KilledProcess[]): Recoveries {
  const times: number[] = [];
  let inFlight = 0;
  /** Current owners, by plan id. */
  const held = new Map<string, { owner: string; epoch: number }>();
  /** Deaths of owners, by plan id. */
  const orphaned = new Map<string, { epoch: number; at: number }>();
  const deaths = kills.toSorted((a, b) => a.at - b.at);
  let next = 0;

  function orphanPlansOfDead(until: number): void {
    for (let death = deaths[next]; death !== undefined && death.at <= until; death = deaths[next]) {
      for (const [id, { owner, epoch }] of held) {
        if (pidOf(owner) !== death.pid) continue;
        orphaned.set(id, { epoch, at: death.at });
        inFlight += 1;
      }
      next += 1;
    }
  }

  for (const change of changes) {
    const { collection, id, at, epoch, owner } = change;
    orphanPlansOfDead(at);
    if (collection !== "plans") continue;
    const orphan = orphaned.get(id);
    if (orphan !== undefined && epoch !== undefined && epoch > orphan.epoch) {
      times.push(at - orphan.at);
      orphaned.delete(id);
    }
    if (owner !== undefined && epoch !== undefined) held.set(id, { owner, epoch });
    if (isReleased(change)) {
      held.delete(id);
      orphaned.delete(id);
    }
  }
  return { inFlight, times: times.toSorted((a, b) => a - b) };
}

/** The value below which this share of the sorted values is; null for an empty list. */
export function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}
