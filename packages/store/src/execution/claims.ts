/**
 * Who may write a plan (DESIGN §6).
 *
 * 1. A claim raises the plan's epoch in one conditional write by MongoDB's own clock; only one claimer's condition holds.
 * 2. Where the lease was not released the claimer appends `lease.taken` before anything else: from then on an executor that held the
 *    plan before appends nothing, and what the claim has read can no longer change under it.
 * 3. A lease holds as long as its worker lives (`workers/worker-store.ts`): it has no time of its own, and is never renewed. What a worker holds
 *    without working on it, it gives up itself.
 */
import {
  emptyRequest,
  type FoldedPlan,
  type FoldedUnit,
  fold,
  recordsOf,
  type StepRecord,
} from "@planwright/engine";
import { type Plan, type PlanId, STARTED_PLAN_STATUSES, UNHELD_PLAN_STATUSES } from "@planwright/plan";
import type { Document } from "mongodb";
import { IS_HELD, isDue, isDueNow } from "../database/collections.ts";
import { readEnd, tellEnd } from "../heads/plan-end.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { withValues } from "../journal/unit-values.ts";
import { LeaseLostError } from "../records/errors.ts";
import { FIRST_EPOCH } from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { type ClaimJournal, openClaimJournal } from "./claim-journal.ts";
import type { ExecutionStore, HeldPlan, PlanClaim } from "./execution-store.ts";
import { tellPlan } from "./tell-plan.ts";

/** Bytes of outputs that a claim reads; the others are read when something needs them. */
const CLAIMED_OUTPUT_BYTES = 1_048_576;

/** The part of the store that gives leases, and finds leases under which no work is done. */
export function createClaims(
  context: StoreDependencies,
): Pick<
  ExecutionStore,
  "claimPlan" | "findHeldPlans" | "releaseUnheldPlans" | "recordSurvivedClaims" | "findClaimable"
> {
  const { collections, group, journal, unitReads, clock, planTimeoutMs } = context;
  const { plans } = collections;

  function claimFields(owner: string): Document {
    const epoch = { $add: ["$epoch", 1] };
    return {
      epoch,
      lease: { owner, epoch },
      takenFrom: { $ifNull: ["$lease.owner", null] },
      dueAt: null,
      status: { $cond: [{ $in: ["$status", UNHELD_PLAN_STATUSES] }, "RUNNING", "$status"] },
      waitReason: null,
      startedAt: { $ifNull: ["$startedAt", "$$NOW"] },
      deadlineAt: { $ifNull: ["$deadlineAt", { $add: ["$$NOW", planTimeoutMs] }] },
      claimsWithoutProgress: { $add: ["$claimsWithoutProgress", 1] },
      updatedAt: "$$NOW",
    };
  }

  /** The journal from here on, and what it says; null for a plan that has ended. The journal of a plan that was never claimed tells nothing of it. */
  async function openJournal(plan: PlanDocument, owner: string): Promise<OpenedJournal | null> {
    const { _id: planId, requestId, tenant, epoch, takenFrom = null } = plan;
    const claimed = { journal, requestId, tenant, planId, owner, epoch, takenFrom };
    if (epoch === FIRST_EPOCH && plan.isFresh && plan.controlSeq === 0)
      return { journal: openClaimJournal(claimed), records: [] };
    const state = fold(emptyRequest(requestId), await journal.readWithoutValues(requestId));
    if (await tellEarlierEnd(plan, state.plans.get(planId))) return null;
    const opened = openClaimJournal({ ...claimed, state });
    if (takenFrom !== null) await opened.append([]);
    // After the fence: until then the owner before may have appended.
    const found = state.plans.get(planId);
    return { journal: opened, records: found ? await recordsFrom(found, requestId) : [] };
  }

  /** True for a plan that its last owner ended. Documents that lag, since that owner died, are completed. */
  async function tellEarlierEnd(plan: PlanDocument, found: FoldedPlan | undefined): Promise<boolean> {
    const ended = await readEnd(journal, plan.requestId, found);
    if (!ended) return false;
    await tellEnd(context, plan, ended);
    return true;
  }

  /** The records that the engine starts with, and those of the small outputs that fit {@link CLAIMED_OUTPUT_BYTES}. */
  async function recordsFrom(plan: FoldedPlan, requestId: string): Promise<StepRecord[]> {
    let room = CLAIMED_OUTPUT_BYTES;
    const fitting = [...plan.units.values()].filter(({ status, outputRef, outputBytes }) => {
      if (status !== "COMPLETED" || outputRef || outputBytes === undefined || outputBytes > room)
        return false;
      room -= outputBytes;
      return true;
    });
    const wanted = fitting.map((unit) => ({ requestId, unit }));
    const read = await withValues(unitReads.log, wanted, { output: true });
    const units = new Map([...plan.units, ...read.map((unit) => [unit.key, unit] as const)]);
    return whollyRead(recordsOf({ ...plan, units }));
  }

  /** A claim that finds more finished units than the one before has seen progress: the plan is not poison. */
  async function noteProgress(plan: PlanDocument, units: Iterable<FoldedUnit>): Promise<void> {
    // Units that an end as POISONED has closed do not count, so a crash during that end does not revive the plan.
    const progress = [...units].filter(
      ({ finishedAt, error }) => finishedAt !== null && error?.code !== "POISONED",
    ).length;
    if (plan.epoch === FIRST_EPOCH || progress <= plan.progressSeen) return;
    plan.claimsWithoutProgress = 1;
    await plans.updateOne(
      { _id: plan._id, "lease.epoch": plan.epoch },
      { $set: { progressSeen: progress, claimsWithoutProgress: 1 } },
    );
  }

  /** A claim that was given, with what is known of the plan; null when another executor holds the plan by now. */
  async function begun(plan: PlanDocument & { plan: Plan }, owner: string): Promise<PlanClaim | null> {
    try {
      const begun = await openJournal(plan, owner);
      if (!begun) return null;
      const { journal: opened, records } = begun;
      await noteProgress(plan, opened.units());
      const claim: PlanClaim = {
        plan,
        epoch: plan.epoch,
        owner,
        journal: opened,
        records,
      };
      await tellPlan(context, claim);
      return claim;
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      // Its last owner may have ended it while it was claimed.
      const now = fold(emptyRequest(plan.requestId), await journal.readWithoutValues(plan.requestId));
      await tellEarlierEnd(plan, now.plans.get(plan._id));
      return null;
    }
  }

  /** Each claim is subtracted from the count once, however often this is repeated. */
  async function recordSurvivedClaims(claims: readonly HeldPlan[]): Promise<void> {
    await Promise.all(
      claims.map(({ planId, epoch }) =>
        group.update({
          collection: "plans",
          id: planId,
          condition: {
            finishedAt: null,
            claimsWithoutProgress: { $gt: 0 },
            // Sent again after its answer was lost it does nothing, whichever process has written to the plan since.
            $or: [{ outlivedEpoch: null }, { outlivedEpoch: { $lt: epoch } }],
          },
          expressions: {
            claimsWithoutProgress: { $add: ["$claimsWithoutProgress", -1] },
            outlivedEpoch: epoch,
          },
        }),
      ),
    );
  }

  return {
    async claimPlan(planId, owner) {
      const sentAt = clock.monotonic();
      const plan = await group.updateAndRead({
        collection: "plans",
        id: planId,
        condition: { status: { $in: STARTED_PLAN_STATUSES }, $expr: isDueNow("dueAt") },
        expressions: claimFields(owner),
      });
      // Another owner by now: reading took longer than the lease.
      if (!plan || !hasPlan(plan) || plan.lease?.owner !== owner) return null;
      clock.observe(plan.updatedAt, sentAt);
      const claim = await begun(plan, owner);
      // Another executor took it before anything was done: the plan did not end this claim.
      if (!claim) await recordSurvivedClaims([{ planId: plan._id, epoch: plan.epoch }]);
      return claim;
    },

    async findHeldPlans(owner) {
      const held = await plans
        .find(
          { "lease.owner": { $eq: owner, ...IS_HELD }, dueAt: null },
          { projection: { "lease.epoch": 1 } },
        )
        .toArray();
      return held.map(({ _id: planId, lease }) => ({ planId, epoch: lease?.epoch ?? 0 }));
    },

    async releaseUnheldPlans(held) {
      await Promise.all(
        held.map(({ planId, epoch }) =>
          group.update({
            collection: "plans",
            id: planId,
            condition: { "lease.epoch": epoch, dueAt: null },
            expressions: { dueAt: "$$NOW" },
          }),
        ),
      );
    },

    recordSurvivedClaims,

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

/** The journal of a plan that is claimed, and what the engine begins with. */
interface OpenedJournal {
  journal: ClaimJournal;
  records: StepRecord[];
}

/** Of a list whose items' texts are not all here nothing is: its output is read with them. */
function whollyRead(records: readonly StepRecord[]): StepRecord[] {
  const isAbsent = ({ item, output, outputBytes }: StepRecord): boolean =>
    item !== undefined && output === undefined && outputBytes !== undefined;
  const withoutTexts = new Set(records.filter(isAbsent).map(({ stepId }) => stepId));
  const isKept = ({ item, stepId }: StepRecord): boolean => item !== undefined || !withoutTexts.has(stepId);
  return records.map((record) => (isKept(record) ? record : withoutOutput(record)));
}

function withoutOutput(record: StepRecord): StepRecord {
  const { output: _, outputText: __, ...kept } = record;
  return kept;
}

function hasPlan(document: PlanDocument): document is PlanDocument & { plan: Plan } {
  return document.plan !== null;
}
