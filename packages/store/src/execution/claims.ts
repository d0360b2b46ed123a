/**
 * Who may write a plan (DESIGN §6).
 *
 * 1. A claim raises the plan's epoch in one conditional write by MongoDB's own clock; only one claimer's condition holds.
 * 2. Claiming stamps the epoch on every unfinished unit before anything is read of them: whoever held the plan before
 *    matches nothing from then on, and what the claim reads can no longer change under it.
 * 3. `validUntil` is counted from before the claim or renewal was sent, on this process's monotonic clock: it always ends
 *    before the lease does.
 */
import type { Plan, PlanId } from "@planwright/plan";
import type { Document } from "mongodb";
import { isDue, isDueNow } from "../collections.ts";
import type { PlanDocument, StepDocument } from "../documents.ts";
import { FIRST_EPOCH, newSteps } from "../new-documents.ts";
import { readOutputTexts } from "../outputs/output-store.ts";
import { outputRefsOf, toStepRecord } from "../step-record.ts";
import type { ExecutionStore, PlanClaim } from "../store.ts";
import type { ExecutionContext } from "./context.ts";
import { insertMissingUnits } from "./insert-units.ts";

/** States in which a plan may be claimed. */
const CLAIMABLE = ["QUEUED", "RUNNING", "WAITING", "PAUSED", "CANCELLING"];

/** The share of a lease that claiming may take; beyond, it is renewed before anything begins. */
const FRESH_SHARE = 0.5;

/** The part of the store that gives and keeps leases. */
export function createClaims(
  context: ExecutionContext,
): Pick<ExecutionStore, "claimPlan" | "renewLeases" | "noteOutlived" | "findClaimable"> {
  const { collections, group, clock, leaseMs, planTimeoutMs } = context;
  const { plans, steps } = collections;
  const leaseEnd = { $add: ["$$NOW", leaseMs] };

  function claimFields(owner: string): Document {
    const epoch = { $add: ["$epoch", 1] };
    return {
      epoch,
      lease: { owner, epoch, expiresAt: leaseEnd },
      takenFrom: { $ifNull: ["$lease.owner", null] },
      dueAt: leaseEnd,
      status: { $cond: [{ $in: ["$status", ["QUEUED", "WAITING"]] }, "RUNNING", "$status"] },
      waitReason: null,
      startedAt: { $ifNull: ["$startedAt", "$$NOW"] },
      deadlineAt: { $ifNull: ["$deadlineAt", { $add: ["$$NOW", planTimeoutMs] }] },
      claimsWithoutProgress: { $add: ["$claimsWithoutProgress", 1] },
      updatedAt: "$$NOW",
    };
  }

  /** The units, fenced off from earlier owners. Nobody has touched those of a fresh plan: they are as the plan makes them. */
  async function unitsOf(plan: PlanDocument & { plan: Plan }): Promise<StepDocument[]> {
    if (plan.epoch === FIRST_EPOCH && plan.isFresh) return newSteps(plan, plan.plan);
    const ofPlan = { tenant: plan.tenant, planId: plan._id };
    await insertMissingUnits(context, plan);
    // Upwards alone: a claimer that stood still since its claim takes nothing away from whoever came after it.
    await steps.updateMany(
      { ...ofPlan, finishedAt: null, epoch: { $lt: plan.epoch } },
      { $set: { epoch: plan.epoch } },
    );
    return steps.find(ofPlan).sort({ position: 1, item: 1 }).toArray();
  }

  /** A claim that finds more finished units than the one before has seen progress: the plan is not poison. */
  async function noteProgress(plan: PlanDocument, units: readonly StepDocument[]): Promise<void> {
    // Units that an end as poisoned has closed do not count: who cut that end off does not bring the plan back to life.
    const progress = units.filter(
      ({ finishedAt, error }) => finishedAt !== null && error?.code !== "POISONED",
    ).length;
    if (plan.epoch === FIRST_EPOCH || progress <= plan.progressSeen) return;
    plan.claimsWithoutProgress = 1;
    await plans.updateOne(
      { _id: plan._id, "lease.epoch": plan.epoch },
      { $set: { progressSeen: progress, claimsWithoutProgress: 1 } },
    );
  }

  /** False when somebody else holds the plan by now. Of a claim that is ending, the last write says it. */
  async function renew(claim: PlanClaim): Promise<boolean> {
    const sentAt = clock.monotonic();
    const isHeld = await group.update({
      collection: "plans",
      id: claim.plan._id,
      condition: { "lease.epoch": claim.epoch },
      expressions: { "lease.expiresAt": leaseEnd, dueAt: leaseEnd, updatedAt: "$$NOW" },
    });
    if (isHeld) claim.validUntil = sentAt + leaseMs;
    return isHeld || claim.isEnding;
  }

  return {
    async claimPlan(planId, owner) {
      const sentAt = clock.monotonic();
      const plan = await group.updateAndRead({
        collection: "plans",
        id: planId,
        condition: { status: { $in: CLAIMABLE }, $expr: isDueNow("dueAt") },
        expressions: claimFields(owner),
      });
      // Another owner by now: reading took longer than the lease.
      if (!plan || !hasPlan(plan) || plan.lease?.owner !== owner) return null;
      clock.observe(plan.updatedAt, sentAt);
      const units = await unitsOf(plan);
      const refs = outputRefsOf(units);
      const [outputs] = await Promise.all([
        readOutputTexts(collections, plan.tenant, refs),
        noteProgress(plan, units),
      ]);
      const claim: PlanClaim = {
        plan,
        epoch: plan.epoch,
        owner,
        steps: new Map(units.map((unit) => [unit.key, unit])),
        records: units.map((unit) => toStepRecord(unit, outputs)),
        isEnding: false,
        noted: new Map(),
        validUntil: sentAt + leaseMs,
      };
      // A plan that took long to read would be lost before its first call, again and again.
      const isFresh = clock.monotonic() - sentAt < leaseMs * FRESH_SHARE;
      return isFresh || (await renew(claim)) ? claim : null;
    },

    async renewLeases(claims) {
      const renewed = await Promise.all(claims.map(renew));
      return claims.filter((_, index) => renewed[index] !== true);
    },

    async noteOutlived(claims) {
      await Promise.all(
        claims.map(({ planId, epoch }) =>
          group.update({
            collection: "plans",
            id: planId,
            condition: {
              finishedAt: null,
              claimsWithoutProgress: { $gt: 0 },
              // Sent again after its answer was lost it does nothing, whoever has written to the plan since.
              $or: [{ outlivedEpoch: null }, { outlivedEpoch: { $lt: epoch } }],
            },
            expressions: {
              claimsWithoutProgress: { $add: ["$claimsWithoutProgress", -1] },
              outlivedEpoch: epoch,
            },
          }),
        ),
      );
    },

    async findClaimable(limit) {
      const due = await plans
        .find({ dueAt: isDue(new Date(clock.now())) }, { projection: { _id: 1 } })
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray();
      return due.map((plan): PlanId => plan._id);
    },
  };
}

function hasPlan(document: PlanDocument): document is PlanDocument & { plan: Plan } {
  return document.plan !== null;
}
