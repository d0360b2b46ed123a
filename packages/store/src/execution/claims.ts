/**
 * Claims of plans (DESIGN §6). Where the lease was not released the claimer appends `lease.taken` before
 * anything else: from then on an executor that held the plan before appends nothing, and what the claim has
 * read can no longer change under it.
 */
import {
  emptyRequest,
  type FoldedPlan,
  type FoldedUnit,
  fold,
  recordsOf,
  type StepRecord,
} from "@planwright/engine";
import { type Plan, STARTED_PLAN_STATUSES, UNHELD_PLAN_STATUSES } from "@planwright/plan";
import { readEnd, tellEnd } from "../heads/plan-end.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { withValues } from "../journal/unit-values.ts";
import type { LeaseTable } from "../leases/lease-table.ts";
import { LeaseLostError } from "../records/errors.ts";
import { FIRST_EPOCH } from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { type ClaimJournal, openClaimJournal } from "./claim-journal.ts";
import type { ExecutionStore, PlanClaim } from "./execution-store.ts";
import { tellPlan } from "./tell-plan.ts";

/** Bytes of outputs that a claim reads; the others are read when something needs them. */
const CLAIMED_OUTPUT_BYTES = 1_048_576;

/** The part of the store that gives plans to executors. */
export function createClaims(
  context: StoreDependencies,
  leases: LeaseTable<"plans">,
): Pick<ExecutionStore, "claimPlan"> {
  const { collections, journal, unitReads, planTimeoutMs } = context;
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

  /**
   * The journal from here on, and what it says; null for a plan that has ended. The journal of a plan that
   * was never claimed tells nothing of it.
   */
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

  /**
   * The records that the engine starts with, and those of the small outputs that fit
   * {@link CLAIMED_OUTPUT_BYTES}.
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
    return whollyRead(recordsOf({ ...plan, units }));
  }

  /** A claim that finds more finished units than the one before has seen progress: the plan is not poison. */
  async function noteProgress(plan: PlanDocument, units: Iterable<FoldedUnit>): Promise<void> {
    // Units that an end as POISONED has closed do not count, so a crash during that end does not revive the
    // plan.
    const progress = [...units].filter(
      ({ finishedAt, error }) => finishedAt !== null && error?.code !== "POISONED",
    ).length;
    if (plan.epoch === FIRST_EPOCH || progress <= plan.progressSeen) return;
    plan.claims = 1;
    await plans.updateOne(
      { _id: plan._id, "lease.epoch": plan.epoch },
      { $set: { progressSeen: progress, claims: 1 } },
    );
  }

  /**
   * A claim that was given, with what is known of the plan; null when another executor holds the plan by now.
   */
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

  return {
    async claimPlan(planId, owner) {
      const plan = await leases.claim(planId, owner, rules);
      if (!plan || !hasPlan(plan)) return null;
      const claim = await begun(plan, owner);
      // Another executor took it before anything was done: the plan did not end this claim.
      if (!claim) await leases.recordSurvived([{ id: plan._id, epoch: plan.epoch }]);
      return claim;
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
