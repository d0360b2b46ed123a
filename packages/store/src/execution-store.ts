import { type StepRecord, unitKeysOf } from "@planwright/engine";
import { isTerminalStepStatus, type Plan, type PlanId, type RequestStatus } from "@planwright/plan";
import type { Document } from "mongodb";
import type { Collections } from "./collections.ts";
import type { AttemptDocument, FinishCommand, PlanDocument, StepDocument } from "./documents.ts";
import { LeaseLostError } from "./errors.ts";
import { createGroupCommit, type GroupCommit } from "./group-commit.ts";
import { FIRST_EPOCH, newStep } from "./new-documents.ts";
import type { ServerClock } from "./server-clock.ts";
import { toStepRecord } from "./step-record.ts";
import type { AttemptEnd, ExecutionStore, Intent, NotedChange, PlanClaim } from "./store.ts";
import { publishTools } from "./tool-catalogue.ts";

/** What executing needs. */
export interface ExecutionStoreParts {
  collections: Collections;
  clock: ServerClock;
  /** How long an executor may be silent, in milliseconds. */
  leaseMs: number;
  /** Longest a plan may take from its first claim, in milliseconds. */
  planTimeoutMs: number;
  /** Distinguishes the writes of this process. */
  owner: string;
}

/** How a plan's end reads on its request. */
const REQUEST_STATUS: Record<FinishCommand["status"], RequestStatus> = {
  COMPLETED: "COMPLETED",
  PARTIAL: "PARTIAL",
  FAILED: "FAILED",
  EXPIRED: "FAILED",
  CANCELLED: "CANCELLED",
};

/** Outputs above this size stay with their steps alone; a plan document has to stay small. */
const MAX_PLAN_OUTPUT_CHARS = 262_144;
/** A request that says EXECUTING this long after its plan ended lost its executor between the two writes. */
const RECONCILE_AFTER_MS = 15_000;

/** Claiming plans and writing what happens to them, fenced by the epoch. */
export function createExecutionStore(parts: ExecutionStoreParts): ExecutionStore & { idle(): Promise<void> } {
  const { collections, clock, leaseMs, planTimeoutMs, owner: processOwner } = parts;
  const { requests, plans, steps, tools } = collections;
  // A step's terminal state never changes, whoever asks: finishedAt is part of the fence.
  const stepWrites: GroupCommit = createGroupCommit(steps, {
    fence: (epoch) => ({ epoch, finishedAt: null }),
    owner: processOwner,
  });

  async function claimPlan(planId: PlanId, owner: string): Promise<PlanClaim | null> {
    const sentAt = performance.now();
    const plan = await plans.findOneAndUpdate(
      {
        _id: planId,
        status: { $in: ["QUEUED", "RUNNING", "WAITING", "PAUSED"] },
        $expr: { $and: [{ $ne: ["$dueAt", null] }, { $lte: ["$dueAt", "$$NOW"] }] },
      },
      [
        {
          $set: {
            epoch: { $add: ["$epoch", 1] },
            lease: {
              owner,
              epoch: { $add: ["$epoch", 1] },
              expiresAt: { $add: ["$$NOW", leaseMs] },
            },
            dueAt: { $add: ["$$NOW", leaseMs] },
            status: { $cond: [{ $in: ["$status", ["QUEUED", "WAITING"]] }, "RUNNING", "$status"] },
            waitReason: null,
            startedAt: { $ifNull: ["$startedAt", "$$NOW"] },
            deadlineAt: { $ifNull: ["$deadlineAt", { $add: ["$$NOW", planTimeoutMs] }] },
            claimsWithoutProgress: { $add: ["$claimsWithoutProgress", 1] },
            updatedAt: "$$NOW",
          },
        },
      ],
      { returnDocument: "after" },
    );
    if (!plan || !hasPlan(plan)) return null;
    clock.observe(plan.updatedAt, sentAt);
    // Stamping fences off whoever held the plan before; the first claim finds its epoch already there.
    if (plan.epoch > FIRST_EPOCH) {
      await steps.updateMany({ planId, finishedAt: null }, { $set: { epoch: plan.epoch } });
    }
    const documents = await steps.find({ planId }).sort({ position: 1, item: 1 }).toArray();
    const found = new Map(documents.map((document) => [document.key, document]));
    await noteProgress(plan, documents);
    return {
      plan,
      epoch: plan.epoch,
      owner,
      steps: found,
      records: documents.map(toStepRecord),
      noted: new Map(),
      validUntil: sentAt + leaseMs,
    };
  }

  /** A claim that finds more finished units, or attempts, than the one before has seen progress: the plan is not poison. */
  async function noteProgress(plan: PlanDocument, documents: readonly StepDocument[]): Promise<void> {
    const progress = documents.filter((document) => document.finishedAt !== null).length;
    if (plan.epoch === FIRST_EPOCH || progress <= plan.progressSeen) return;
    plan.claimsWithoutProgress = 1;
    await plans.updateOne(
      { _id: plan._id, "lease.epoch": plan.epoch },
      { $set: { progressSeen: progress, claimsWithoutProgress: 1 } },
    );
  }

  /** One fenced update of the plan itself. */
  async function updatePlan(claim: PlanClaim, set: Document): Promise<void> {
    const result = await plans.updateOne({ _id: claim.plan._id, "lease.epoch": claim.epoch }, [
      { $set: { ...set, updatedAt: "$$NOW" } },
    ]);
    if (result.matchedCount === 0) throw new LeaseLostError({ id: claim.plan._id, epoch: claim.epoch });
  }

  /** Writes fields of a unit's document and keeps the claim's copy current. */
  function writeStep(claim: PlanClaim, document: StepDocument, set: Partial<StepDocument>): Promise<void> {
    const isNew = !claim.steps.has(document.key);
    if (isNew) claim.steps.set(document.key, document);
    const noted = claim.noted.get(document.key)?.change;
    claim.noted.delete(document.key);
    const change = { ...noted, ...set, updatedAt: new Date(clock.now()) };
    Object.assign(document, change);
    return stepWrites.write({
      id: document._id,
      epoch: claim.epoch,
      set: change,
      insert: isNew ? document : undefined,
    });
  }

  return {
    claimPlan,
    now: () => clock.now(),
    idle: () => stepWrites.idle(),

    async renewLease(claim) {
      const sentAt = performance.now();
      const plan = await plans.findOneAndUpdate(
        { _id: claim.plan._id, "lease.epoch": claim.epoch },
        [
          {
            $set: {
              "lease.expiresAt": { $add: ["$$NOW", leaseMs] },
              dueAt: { $add: ["$$NOW", leaseMs] },
              updatedAt: "$$NOW",
            },
          },
        ],
        { returnDocument: "after", projection: { cancelRequestedAt: 1, updatedAt: 1 } },
      );
      if (!plan) return { state: "lost" };
      claim.validUntil = sentAt + leaseMs;
      clock.observe(plan.updatedAt, sentAt);
      return { state: "held", cancelRequested: plan.cancelRequestedAt !== null };
    },

    async findClaimable(limit) {
      const due = await plans
        .find({ dueAt: { $lte: new Date(clock.now()) } }, { projection: { _id: 1 } })
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray();
      return due.map((plan): PlanId => plan._id);
    },

    async findCancelRequested(planIds) {
      if (planIds.length === 0) return [];
      const found = await plans
        .find({ _id: { $in: [...planIds] }, cancelRequestedAt: { $ne: null } }, { projection: { _id: 1 } })
        .toArray();
      return found.map((plan): PlanId => plan._id);
    },

    async writeIntents(claim, intents) {
      const writes = intents.flatMap((intent) => begin(claim, intent));
      await Promise.all(writes.map(({ document, change }) => writeStep(claim, document, change)));
    },

    noteIntents(claim, intents) {
      for (const intent of intents) {
        for (const { document, change } of begin(claim, intent)) {
          claim.noted.set(document.key, { document, change });
          Object.assign(document, change);
        }
      }
    },

    async writeNoted(claim) {
      await Promise.all([...claim.noted.values()].map(({ document }) => writeStep(claim, document, {})));
    },

    async writeRecords(claim, records, ends) {
      const endOf = new Map(ends.map((end) => [end.key, end]));
      await Promise.all(
        records.map((record) => {
          const document = unitOf(claim, record.key, record.stepId);
          return writeStep(claim, document, toChange(document, record, endOf.get(record.key), clock.now()));
        }),
      );
    },

    async releasePlan(claim, to) {
      await updatePlan(
        claim,
        to.status === "QUEUED"
          ? { status: "QUEUED", lease: null, dueAt: "$$NOW", waitReason: null, claimsWithoutProgress: 0 }
          : {
              // Paused and cancelling plans keep their word; only RUNNING becomes WAITING.
              status: { $cond: [{ $eq: ["$status", "RUNNING"] }, "WAITING", "$status"] },
              lease: null,
              // A wish to cancel that came while the plan was held is not slept over.
              dueAt: {
                $cond: [
                  { $ne: ["$cancelRequestedAt", null] },
                  "$$NOW",
                  to.dueAtMs === null ? null : new Date(to.dueAtMs),
                ],
              },
              waitReason: to.reason,
              claimsWithoutProgress: 0,
            },
      );
    },

    async finishPlan(claim, finish) {
      const outputs = JSON.stringify(finish.outputs).length <= MAX_PLAN_OUTPUT_CHARS ? finish.outputs : null;
      await updatePlan(claim, {
        status: finish.status,
        lease: null,
        dueAt: null,
        waitReason: null,
        counts: { $literal: countSteps(claim) },
        outputs: { $literal: outputs },
        error: { $literal: finish.error ?? null },
        finishedAt: "$$NOW",
      });
      await requests.updateOne({ _id: claim.plan.requestId, planId: claim.plan._id }, [
        { $set: { status: REQUEST_STATUS[finish.status], updatedAt: "$$NOW" } },
      ]);
    },

    async reconcileRequests() {
      const stale = await requests
        .aggregate<{ _id: string; planId: PlanId; status: FinishCommand["status"] }>([
          { $match: { status: "EXECUTING", updatedAt: { $lt: new Date(clock.now() - RECONCILE_AFTER_MS) } } },
          { $sort: { updatedAt: 1 } },
          { $limit: 1_000 },
          { $lookup: { from: "plans", localField: "planId", foreignField: "_id", as: "plan" } },
          { $unwind: "$plan" },
          { $match: { "plan.status": { $in: Object.keys(REQUEST_STATUS) } } },
          { $project: { planId: 1, status: "$plan.status" } },
        ])
        .toArray();
      if (stale.length === 0) return 0;
      const result = await requests.bulkWrite(
        stale.map(({ _id, planId, status }) => ({
          updateOne: {
            filter: { _id, planId, status: "EXECUTING" },
            update: { $set: { status: REQUEST_STATUS[status], updatedAt: new Date(clock.now()) } },
          },
        })),
        { ordered: false },
      );
      return result.modifiedCount;
    },

    publishTools: (server, offered) => publishTools(collections, server, offered, new Date(clock.now())),
    async keepOnlyServers(servers) {
      await tools.deleteMany({ server: { $nin: [...servers] } });
    },
  };

  /** What the beginning of an attempt changes on each unit that the call serves. */
  function begin(claim: PlanClaim, { call, attemptId, argsHash }: Intent): NotedChange[] {
    const startedAt = new Date(clock.now());
    return unitKeysOf(call).map((key) => {
      const document = unitOf(claim, key, call.stepId);
      const attempt: AttemptDocument = {
        attempt: call.attempt,
        attemptId,
        executor: claim.owner,
        startedAt,
        endedAt: null,
        durationMs: null,
        outcome: null,
        error: null,
      };
      const change: Partial<StepDocument> = {
        status: "RUNNING",
        attempts: [...document.attempts, attempt],
        effectClass: call.effectClass,
        arguments: call.arguments,
        argsHash,
        waitReason: null,
        nextAttemptAt: null,
        startedAt: document.startedAt ?? startedAt,
      };
      return { document, change };
    });
  }

  function unitOf(claim: PlanClaim, key: string, stepId: string): StepDocument {
    return claim.steps.get(key) ?? claim.noted.get(key)?.document ?? newUnit(claim, key, stepId);
  }

  /** An item takes its place and its tool from its step, which is there since the plan is. */
  function newUnit(claim: PlanClaim, key: string, stepId: string): StepDocument {
    const step = claim.steps.get(stepId);
    const item = /\[(\d+)\]$/.exec(key)?.[1];
    return newStep(claim.plan, {
      key,
      stepId,
      item: item === undefined ? null : Number(item),
      position: step?.position ?? -1,
      tool: step?.tool ?? "",
      epoch: claim.epoch,
      waitReason: null,
    });
  }
}

function hasPlan(document: PlanDocument): document is PlanDocument & { plan: Plan } {
  return document.plan !== null;
}

/** Fields that a unit's new state changes. */
function toChange(
  document: StepDocument,
  record: StepRecord,
  end: AttemptEnd | undefined,
  nowMs: number,
): Partial<StepDocument> {
  const isOver = isTerminalStepStatus(record.status);
  const startedAt = document.startedAt;
  return {
    status: record.status,
    output: record.output ?? null,
    error: record.error ?? null,
    warnings: record.warnings ?? document.warnings,
    waitReason: record.waitReason ?? null,
    approved: record.approved ?? document.approved,
    nextAttemptAt: record.nextAttemptAt === undefined ? null : new Date(record.nextAttemptAt),
    ...(end ? { attempts: document.attempts.map((attempt) => closeAttempt(attempt, end)) } : {}),
    ...(isOver ? { finishedAt: new Date(nowMs) } : {}),
    ...(isOver && startedAt ? { durationMs: Math.max(0, nowMs - startedAt.getTime()) } : {}),
  };
}

function closeAttempt(attempt: AttemptDocument, end: AttemptEnd): AttemptDocument {
  if (attempt.attemptId !== end.attemptId) return attempt;
  const { outcome, error, durationMs } = end;
  return { ...attempt, endedAt: new Date(end.endedAtMs), outcome, error, durationMs };
}

/** Steps by status; items of a forEach are part of their step. */
function countSteps(claim: PlanClaim): { [status: string]: number } {
  const counts: { [status: string]: number } = {};
  for (const document of claim.steps.values()) {
    if (document.item !== null) continue;
    counts[document.status] = (counts[document.status] ?? 0) + 1;
  }
  return counts;
}
