/**
 * Claims of plans. If the lease was not released, the claimer first appends `lease.taken`. From
 * then on appends of the executor that held the plan before fail, and the state that the claim has read is
 * final.
 */

import {
  deadlineOf,
  emptyRequest,
  type FoldedPlan,
  type FoldedRequest,
  type FoldedUnit,
  fold,
  recordsOf,
  type StepRecord,
} from "@planwright/engine";
import {
  isForPerson,
  type Plan,
  type PlanId,
  STARTED_PLAN_STATUSES,
  UNHELD_PLAN_STATUSES,
} from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { withValues } from "../journal/unit-reads.ts";
import type { LeaseTable } from "../leases/lease-table.ts";
import { endWrites, readEnd } from "../plans/plan-end.ts";
import { LeaseLostError } from "../records/errors.ts";
import { FIRST_EPOCH } from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { createSettleLateControls } from "../requests/resolve.ts";
import { type ClaimJournal, openClaimJournal } from "./claim-journal.ts";
import type { PlanClaim } from "./execution-store.ts";
import { updatePlanSummary } from "./update-plan-summary.ts";

/** Bytes of outputs that a claim reads; the others are read when they are needed. */
const CLAIMED_OUTPUT_BYTES = 1_048_576;

/** The part of the store that gives plans to executors. */
export function createClaims(context: StoreDependencies, leases: LeaseTable<"plans">) {
  const { collections, journal, unitReads, planTimeoutMs } = context;
  const { plans } = collections;
  const settleLateControls = createSettleLateControls(context);
  const rules = {
    condition: { status: { $in: STARTED_PLAN_STATUSES } },
    expressions: {
      status: { $cond: [{ $in: ["$status", UNHELD_PLAN_STATUSES] }, "RUNNING", "$status"] },
      waitReason: null,
      startedAt: { $ifNull: ["$startedAt", "$$NOW"] },
      deadlineAt: { $ifNull: ["$deadlineAt", { $add: ["$$NOW", planTimeoutMs] }] },
    },
  };

  /**
   * The journal for the new owner, and the records in it; null for a plan that has ended. The journal of a plan
   * that was never claimed has no events of it.
   */
  async function openJournal(plan: PlanDocument, owner: string): Promise<OpenedJournal | null> {
    const { _id: planId, requestId, tenant, epoch, takenFrom = null } = plan;
    const { controls } = plan;
    const claimed = { journal, requestId, tenant, planId, owner, epoch, takenFrom, controls };
    const isNew = epoch === FIRST_EPOCH && plan.isFresh && (plan.controlSeq === 0 || plan.controls);
    const entries = isNew ? [] : await journal.readWithoutValues(requestId);
    const state = fold(emptyRequest(requestId), entries);
    const waited = waitOf(plan, state);
    if (await completeEarlierEnd(plan, state.plans.get(planId))) return null;
    const opened = openClaimJournal({ ...claimed, state });
    // With the controls that waited for an owner. The entry also ends the wait for a person, at a time that every
    // later fold finds.
    const wait = state.plans.get(planId)?.waits.at(-1);
    const hasWaited = wait?.until === null && isForPerson(wait.reason);
    if (takenFrom !== null || hasWaited || opened.asked().length > 0) await opened.append([]);
    // After `lease.taken`: until then the previous owner may have appended.
    const found = state.plans.get(planId);
    return { journal: opened, records: found ? await recordsFrom(found, requestId) : [], waited };
  }

  /**
   * True for a plan that its last owner ended. If that owner died before it updated the documents, they are
   * updated here.
   */
  async function completeEarlierEnd(plan: PlanDocument, found: FoldedPlan | undefined): Promise<boolean> {
    const ended = await readEnd(journal, plan.requestId, found);
    if (!ended) return false;
    await context.group.setInOrder(...endWrites(plan, ended));
    return true;
  }

  /**
   * The records that the engine starts with, with those small outputs that fit {@link CLAIMED_OUTPUT_BYTES}.
   */
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
    return withoutPartialLists(recordsOf({ ...plan, units }));
  }

  /**
   * When a claim finds more finished units than the claim before, there is progress: the plan is not
   * POISONED.
   */
  async function noteProgress(plan: PlanDocument, units: Iterable<FoldedUnit>): Promise<void> {
    // Units that were ended as POISONED do not count, so that a crash during that end does not reset the
    // claims.
    const progress = [...units].filter(
      ({ finishedAt, error }) => finishedAt !== null && error?.code !== "POISONED",
    ).length;
    if (plan.epoch === FIRST_EPOCH || progress <= plan.progressSeen) return;
    plan.claims = 1;
    const lostAtProgress = typeof plan.takenFrom === "string" ? 1 : 0;
    await plans.updateOne(
      { _id: plan._id, "lease.epoch": plan.epoch },
      { $set: { progressSeen: progress, claims: 1, lostAtProgress } },
    );
  }

  /**
   * Moves the deadline in the document by the time in which only a person could continue the plan. It follows
   * the journal: after a crash the next claim moves it.
   */
  async function moveDeadline(plan: PlanDocument, folded: FoldedPlan | undefined): Promise<void> {
    const { startedAt, deadlineAt } = plan;
    if (!folded || !startedAt || !deadlineAt || folded.waits.length === 0) return;
    const timeoutMs = plan.timeoutMs ?? deadlineAt.getTime() - startedAt.getTime();
    const moved = deadlineOf(folded, { startedAt, timeoutMs });
    if (moved.getTime() === deadlineAt.getTime()) return;
    const set = { deadlineAt: moved, timeoutMs };
    Object.assign(plan, set);
    const condition = { "lease.epoch": plan.epoch };
    await context.group.set({ collection: "plans", id: plan._id, condition, set });
  }

  /** Opens a claim whose lease was taken; null when another executor holds the plan by now. */
  async function openClaim(plan: PlanDocument & { plan: Plan }, owner: string): Promise<PlanClaim | null> {
    try {
      const journalAndRecords = await openJournal(plan, owner);
      if (!journalAndRecords) return null;
      const { journal: opened, records, waited } = journalAndRecords;
      await noteProgress(plan, opened.units());
      await moveDeadline(plan, opened.plan());
      const claim: PlanClaim = {
        plan,
        epoch: plan.epoch,
        owner,
        journal: opened,
        records,
        waited,
      };
      await updatePlanSummary(context, claim);
      return claim;
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      // The last owner may have ended the plan while it was claimed.
      const now = fold(emptyRequest(plan.requestId), await journal.readWithoutValues(plan.requestId));
      await completeEarlierEnd(plan, now.plans.get(plan._id));
      return null;
    }
  }

  return {
    /**
     * Claims a plan that is due and that no executor holds, by raising its epoch; null when there is nothing
     * to do.
     */
    async claimPlan(planId: PlanId, owner: string): Promise<PlanClaim | null> {
      const plan = await leases.claim(planId, owner, rules);
      if (!plan) await settleLateControls(planId);
      if (!plan || !hasPlan(plan)) return null;
      const claim = await openClaim(plan, owner);
      // Another executor took the plan before any work was done: the plan did not kill this executor.
      if (!claim) await leases.recordSurvived([{ id: plan._id, epoch: plan.epoch }]);
      return claim;
    },
  };
}

/** The journal of a claimed plan, and the records that the engine starts with. */
interface OpenedJournal extends Pick<PlanClaim, "records" | "waited"> {
  journal: ClaimJournal;
}

/**
 * How long a claimed plan waited. A plan that waits gets no entries, except decisions: its last entry is that of
 * its release. Pure.
 */
function waitOf(
  { _id, queuedAt, updatedAt: claimedAt, takenFrom }: PlanDocument,
  { plans, at }: FoldedRequest,
): PlanClaim["waited"] {
  if (typeof takenFrom === "string") return null;
  const found = plans.get(_id);
  const since = found?.startedAt ? at : queuedAt;
  if (!since) return null;
  return {
    reason: found?.waitReason ?? "no worker",
    ms: Math.max(0, claimedAt.getTime() - since.getTime()),
  };
}

/** Removes the output of each list with items whose outputs were not read: it is read with them later. */
function withoutPartialLists(records: readonly StepRecord[]): StepRecord[] {
  const isUnread = ({ item, output, outputBytes }: StepRecord): boolean =>
    item !== undefined && output === undefined && outputBytes !== undefined;
  const partialLists = new Set(records.filter(isUnread).map(({ stepId }) => stepId));
  const isKept = ({ item, stepId }: StepRecord): boolean => item !== undefined || !partialLists.has(stepId);
  return records.map((record) => (isKept(record) ? record : withoutOutput(record)));
}

function withoutOutput(record: StepRecord): StepRecord {
  const { output: _, outputText: __, ...kept } = record;
  return kept;
}

function hasPlan(document: PlanDocument): document is PlanDocument & { plan: Plan } {
  return document.plan !== null;
}
