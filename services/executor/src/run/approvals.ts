/**
 * An operator approves one hash over the plan, the step, the arguments as they will be sent, and the whole
 * descriptor of the tool. The hash is computed and shown when the step begins to wait. Before each call it is
 * computed again from what is about to be sent, so no call is made that differs from what was approved.
 */
import type { Call, EngineEvent, FoldedUnit, StepError, StepRecord } from "@planwright/engine";
import {
  canonicalDigest,
  isJsonObject,
  type JsonObject,
  sha256,
  type ToolDescriptor,
  toolDigest,
  toolOfStep,
} from "@planwright/plan";
import type { PlanClaim, UnitRecord } from "@planwright/store";
import { createPlanTools, type PlanTools } from "./plan-tools.ts";

/** Dependencies of {@link createApprovals}. */
interface ApprovalParts {
  claim: Pick<PlanClaim, "plan"> & {
    journal: { unit(key: string): Pick<FoldedUnit, "approved" | "approvalHash"> | undefined };
  };
  /** The tools that the plan runs with. */
  planTools: Pick<PlanTools, "find">;
  /** The catalogue as it is now. */
  readCatalogueNow: () => Promise<readonly ToolDescriptor[]>;
}

/** The approvals of the calls of one claimed plan. */
export interface Approvals {
  /**
   * A unit's new state. When the unit begins to wait for approval, the state includes the hash to be
   * approved.
   */
  toUnitRecord(record: StepRecord): UnitRecord;
  /**
   * Why a call must not be made; null when it needs no approval, or was approved as it is.
   * @param digest - SHA-256 of the canonical JSON of its arguments, when they are large
   */
  refusalOf(call: Call, digest?: string): Promise<StepError | null>;
}

/** Approvals of one claim. */
export function createApprovals({ claim, planTools, readCatalogueNow }: ApprovalParts): Approvals {
  /** By identity: all calls of a forEach share the object that was to be approved. */
  const hashes = new WeakMap<JsonObject, string>();

  let reading: Promise<Pick<PlanTools, "find">> | null = null;

  /** Calls that are checked at the same time share one read of the catalogue. */
  function currentTools(): Promise<Pick<PlanTools, "find">> {
    reading ??= readCatalogueNow()
      .then((catalogue) => createPlanTools(claim, catalogue))
      .finally(() => {
        reading = null;
      });
    return reading;
  }

  function hashOf(value: JsonObject): string {
    const known = hashes.get(value);
    if (known !== undefined) return known;
    const hash = canonicalDigest(value);
    hashes.set(value, hash);
    return hash;
  }

  /** @param approvable - the hash of what is approved */
  function approvalHashOf(stepId: string, approvable: string, tools: Pick<PlanTools, "find">): string {
    const step = claim.plan.plan.steps.find(({ id }) => id === stepId);
    const tool = step && tools.find(toolOfStep(step));
    const digest = tool ? toolDigest(tool) : null;
    return canonicalDigest([claim.plan._id, stepId, approvable, digest]);
  }

  /** Hashes of all that was to be approved, and of the part for this call; undefined when it needs no approval. */
  function hashesOf(call: Call, own: () => string): { all: string; part: string | undefined } | undefined {
    const { approvable, largeApprovable: large, key } = call;
    if (approvable) return { all: hashOf(approvable), part: hashOf(partOf(approvable, call)) };
    if (!large) return undefined;
    if (large === "arguments") return { all: own(), part: own() };
    const { digest, calls } = large;
    return { all: digest, part: calls && Object.hasOwn(calls, key) ? calls[key] : undefined };
  }

  return {
    toUnitRecord(record) {
      const { arguments: args, largeArguments: large, stepId } = record;
      if (large) {
        const approvalHash = approvalHashOf(stepId, large.digest, planTools);
        return { ...record, approvalHash, argsHash: large.argsHash };
      }
      if (!args) return record;
      const approvalHash = approvalHashOf(stepId, hashOf(args), planTools);
      return { ...record, approvalHash, argsHash: sha256(JSON.stringify(args)) };
    },

    async refusalOf(call, digest) {
      const { stepId } = call;
      const own = (): string => digest ?? hashOf(call.arguments);
      const hashes = hashesOf(call, own);
      if (!hashes) return null;
      const step = claim.journal.unit(stepId);
      const hash = approvalHashOf(stepId, hashes.all, await currentTools());
      const isAsApproved = step?.approved === true && step.approvalHash === hash;
      if (isAsApproved && own() === hashes.part) return null;
      return {
        code: "APPROVAL_STALE",
        message: `Nothing was called: tool ${call.tool}, or the arguments of step '${stepId}', changed after the approval was requested. Rerun the plan from this step and approve it again`,
        retryable: false,
      };
    },
  };
}

/**
 * The arguments that were to be approved for this call: all of them, or the part of one call of a forEach.
 */
function partOf(approvable: JsonObject, { key, stepId }: Call): JsonObject {
  if (key === stepId) return approvable;
  const calls = approvable["calls"];
  const part = isJsonObject(calls) && Object.hasOwn(calls, key) ? calls[key] : undefined;
  return isJsonObject(part) ? part : {};
}

/**
 * Turns the controls of clients and operators into events of the engine. Each claim makes an event of each
 * control once. A cancel, a pause and a resume apply as soon as they are known; a decision about a call only
 * when it is in the journal, behind all that its operator saw. An approval applies only to the hash that the
 * operator saw, and a resolution only to one attempt, so that an old resolution never settles a new doubt.
 */
export function createControlEvents({ journal }: Pick<PlanClaim, "journal">): (at: number) => EngineEvent[] {
  let isCancelled = false;
  let isPaused = false;
  let approvals = 0;
  let resolutions = 0;

  function wantsPause(): boolean {
    const last = journal.asked().findLast(({ type }) => type === "pause.asked" || type === "resume.asked");
    return last ? last.type === "pause.asked" : (journal.plan()?.pauseAskedAt ?? null) !== null;
  }

  return (at) => {
    const events: EngineEvent[] = [];
    const plan = journal.plan();
    const wantsCancel = plan?.cancelAskedAt || journal.asked().some(({ type }) => type === "cancel.asked");
    if (wantsCancel && !isCancelled) {
      events.push({ type: "cancel", at, reason: "Cancelled by the client" });
      isCancelled = true;
    }
    if (wantsPause() !== isPaused) {
      isPaused = !isPaused;
      events.push({ type: isPaused ? "pause" : "resume", at });
    }
    if (!plan) return events;
    for (const { stepId, approved, approvalHash, reason } of plan.approvals.slice(approvals)) {
      if (journal.unit(stepId)?.approvalHash !== approvalHash) continue;
      events.push({ type: "approval", stepId, approved, at, reason: reason ?? undefined });
    }
    approvals = plan.approvals.length;
    for (const { key, attempt, resolution } of plan.resolutions.slice(resolutions)) {
      if (journal.unit(key)?.attempts.length === attempt)
        events.push({ type: "resolve", key, resolution, at });
    }
    resolutions = plan.resolutions.length;
    return events;
  };
}
