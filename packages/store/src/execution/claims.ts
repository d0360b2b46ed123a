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
  type PlanId,
  STARTED_PLAN_STATUSES,
  type StepStatus,
  UNHELD_PLAN_STATUSES,
  type WaitReason,
} from "@planwright/plan";
import type { Document } from "mongodb";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { withValues } from "../journal/unit-reads.ts";
import type { LeaseTable } from "../leases/lease-table.ts";
import { endWrites, readEnd } from "../plans/plan-end.ts";
import { controlsAfter, needsFields, needsOf, summaryOf } from "../plans/plan-needs.ts";
import { LeaseLostError } from "../records/errors.ts";
import { FIRST_EPOCH } from "../records/new-documents.ts";
import { hasPlan, type PlanDocument, type PlannedDocument } from "../records/plan-document.ts";
import { settleLateControls } from "../requests/resolve.ts";
import { type ClaimJournal, openClaimJournal } from "./claim-journal.ts";

/** Bytes of outputs that a claim reads; the others are read when they are needed. */
const CLAIMED_OUTPUT_BYTES = 1_048_576;

/** The part of the store that gives plans to executors. */
export function createClaims(context: StoreDependencies, leases: LeaseTable<"plans">) {
  const { acceptedHere, collections, journal, unitReads, planTimeoutMs } = context;
  const { plans } = collections;
  const rules = {
    condition: { status: { $in: STARTED_PLAN_STATUSES } },
    expressions: {
      status: { $cond: [{ $in: ["$status", UNHELD_PLAN_STATUSES] }, "RUNNING", "$status"] },
      waitReason: null,
      startedAt: { $ifNull: ["$startedAt", "$$NOW"] },
      deadlineAt: { $ifNull: ["$deadlineAt", { $add: ["$$NOW", planTimeoutMs] }] },
    },
  };

  /** The journal and the records for the new owner; null for a plan that has ended. */
  async function openJournal(
    plan: PlanDocument,
    owner: string,
  ): Promise<Pick<PlanClaim, "journal" | "records" | "waited"> | null> {
    const { _id: planId, requestId, tenant, epoch, takenFrom = null } = plan;
    const { controls } = plan;
    const claimed = { journal, requestId, tenant, planId, owner, epoch, takenFrom, controls };
    // The controls of a plan that an earlier version of Planwright stored are in its journal, not in its document.
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

  /** Updates the documents of a plan that its last owner ended. False for a plan that has not ended. */
  async function completeEarlierEnd(plan: PlanDocument, found: FoldedPlan | undefined): Promise<boolean> {
    const ended = await readEnd(journal, plan.requestId, found);
    if (!ended) return false;
    await context.group.writeInOrder(...endWrites(plan, ended));
    return true;
  }

  /** The records that the engine starts with, with those small outputs that fit {@link CLAIMED_OUTPUT_BYTES}. */
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

  /** More finished units than at the claim before are progress: the plan is not POISONED. */
  async function noteProgress(plan: PlanDocument, units: Iterable<FoldedUnit>): Promise<void> {
    if (plan.epoch === FIRST_EPOCH) return;
    // Units that were ended as POISONED do not count, so that a crash during that end does not reset the
    // claims.
    const progress = [...units].filter(
      ({ finishedAt, error }) => finishedAt !== null && error?.code !== "POISONED",
    ).length;
    if (progress <= plan.progressSeen) return;
    plan.claims = 1;
    const lostAtProgress = typeof plan.takenFrom === "string" ? 1 : 0;
    await plans.updateOne(
      { _id: plan._id, "lease.epoch": plan.epoch },
      { $set: { progressSeen: progress, claims: 1, lostAtProgress } },
    );
  }

  /** Moves the deadline by the time in which only a person could continue. It follows the journal. */
  async function moveDeadline(plan: PlanDocument, folded: FoldedPlan | undefined): Promise<void> {
    const { startedAt, deadlineAt } = plan;
    if (!folded || !startedAt || !deadlineAt || folded.waits.length === 0) return;
    const timeoutMs = plan.timeoutMs ?? deadlineAt.getTime() - startedAt.getTime();
    const moved = deadlineOf(folded, { startedAt, timeoutMs });
    if (moved.getTime() === deadlineAt.getTime()) return;
    const set = { deadlineAt: moved, timeoutMs };
    Object.assign(plan, set);
    await context.group.write({ ...held({ plan, epoch: plan.epoch }), set });
  }

  /** Opens a claim whose lease was taken; null when another executor holds the plan by now. */
  async function openClaim(plan: PlannedDocument, owner: string): Promise<PlanClaim | null> {
    try {
      const opened = await openJournal(plan, owner);
      if (!opened) return null;
      await noteProgress(plan, opened.journal.units());
      await moveDeadline(plan, opened.journal.plan());
      const claim: PlanClaim = { plan, epoch: plan.epoch, owner, ...opened };
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

  /** The plan if it was stored as claimed by this owner. An owner that was declared dead since has lost it. */
  function takeAccepted(planId: PlanId, owner: string): PlanDocument | null {
    const accepted = acceptedHere.get(planId);
    acceptedHere.delete(planId);
    return accepted?.lease?.owner === owner ? accepted : null;
  }

  return {
    /**
     * Claims a plan that is due and that no executor holds, or that was stored as claimed by this one; null when
     * there is nothing to do.
     */
    async claimPlan(planId: PlanId, owner: string): Promise<PlanClaim | null> {
      const plan = takeAccepted(planId, owner) ?? (await leases.claim(planId, owner, rules));
      if (!plan) await settleLateControls(context, planId);
      if (!plan || !hasPlan(plan)) return null;
      const claim = await openClaim(plan, owner);
      // Another executor took the plan before any work was done: the plan did not kill this executor.
      if (!claim) await leases.recordSurvived([{ id: plan._id, epoch: plan.epoch }]);
      return claim;
    },
  };
}

/** The document of a plan, as long as this claim holds it. */
export function held({ plan, epoch }: { plan: PlanDocument; epoch: number }) {
  return { collection: "plans" as const, id: plan._id, condition: { "lease.epoch": epoch } };
}

/** How long a claimed plan waited: the last entry of a plan that waits is that of its release. Pure. */
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

/** A claim on a plan: its durable state, and the epoch that fences every write. */
export interface PlanClaim {
  plan: PlannedDocument;
  epoch: number;
  owner: string;
  journal: ClaimJournal;
  /** The units at the claim. Large outputs are absent, and small ones beyond 1 MiB together. */
  records: StepRecord[];
  /**
   * How long the plan waited until this claim, and for what: since it was queued ("no worker"), or since an
   * executor released it. Null for a plan that was taken from a dead executor.
   */
  waited: { reason: WaitReason; ms: number } | null;
}

/**
 * Updates `needs`, `approvalUntil`, `undecided`, `items` and `mayHaveActed` of the plan if they have changed. They
 * follow the journal: after a crash the next claim updates them.
 * @param changed - units that have changed since the last update. Default: all
 */
export async function updatePlanSummary(
  { group, clock }: StoreDependencies,
  { plan, epoch, journal }: PlanClaim,
  changed: readonly { status: StepStatus; item?: number | undefined }[] = [...journal.units()],
): Promise<void> {
  const { needs: needsBefore = [], items: itemsBefore = 0, mayHaveActed: actedBefore = 0 } = plan;
  const needsNothing = needsBefore.length === 0 && needsOf(changed).length === 0;
  const isKnown = ({ status, item = -1 }: { status: StepStatus; item?: number | undefined }) =>
    item < itemsBefore && status !== "FAILED" && status !== "CANCELLED";
  if (needsNothing && actedBefore === 0 && changed.every(isKnown)) return;
  const summary = summaryOf(journal.units(), journal.plan());
  const { needs, items, mayHaveActed, approvalUntil: until } = summary;
  const undecided = undecidedNow({ plan, journal }, summary);
  const isSame =
    items === itemsBefore &&
    mayHaveActed === actedBefore &&
    needs.join() === needsBefore.join() &&
    until?.getTime() === plan.approvalUntil?.getTime() &&
    JSON.stringify(undecided) === JSON.stringify(plan.undecided);
  if (isSame) return;
  const set = {
    ...needsFields(plan, needs, new Date(clock.now())),
    ...((until || plan.approvalUntil) && { approvalUntil: until }),
    ...(undecided && { undecided }),
    items,
    ...((mayHaveActed > 0 || actedBefore > 0) && { mayHaveActed }),
  };
  Object.assign(plan, set);
  await group.write({ ...held({ plan, epoch }), set });
}

/** The units that wait for a decision; undefined as long as there was none. */
function undecidedNow(
  { plan, journal }: Pick<PlanClaim, "plan" | "journal">,
  { undecided: units } = summaryOf(journal.units(), journal.plan()),
): PlanDocument["undecided"] {
  const controlSeq = journal.plan()?.controlSeq;
  if (controlSeq === undefined || (units.length === 0 && !plan.undecided)) return undefined;
  return { controlSeq, units };
}

/** Removes controls with nothing left to do; `undecided` has to take them into account from then on. */
export function withoutSettledControls({ plan, journal }: Pick<PlanClaim, "plan" | "journal">): Document {
  const undecided = undecidedNow({ plan, journal });
  return {
    controls: controlsAfter(journal.settled()),
    ...(undecided && { undecided: { $literal: undecided } }),
  };
}
