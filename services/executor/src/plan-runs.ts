import type { StepError, StepRecord } from "@planwright/engine";
import {
  type Classed,
  CodedError,
  isActing,
  isStepActive,
  type PlanId,
  type ToolDescriptor,
} from "@planwright/plan";
import {
  createLeaseKeeper,
  createOutageLog,
  createRunClock,
  type LeaseStore,
  type Logger,
} from "@planwright/runtime";
import { type ExecutionStore, type PlanClaim, StoreUnavailableError } from "@planwright/store";
import { createPlanLog, createPlanMetrics, NO_METRICS, type PlanMetrics } from "./metrics.ts";
import { createOutputMemory } from "./outputs/output-memory.ts";
import { createPlanTools } from "./run/plan-tools.ts";
import type { RunDependencies } from "./run/run-parts.ts";
import { type PlanRun, startPlanRun } from "./run/start-plan-run.ts";
import type { PlanTrace, RunTraces } from "./run-traces.ts";

/** Dependencies of {@link createPlanRuns}. */
interface PlanRunsParts extends RunDependencies {
  /** The leases of plans. */
  leases: LeaseStore<PlanId>;
  /** The published catalogue, which also knows the tools of servers that cannot be reached at the moment. */
  readCatalogue: () => Promise<readonly ToolDescriptor[]>;
  /**
   * Reads the catalogue without a cache, for calls that need approval and tools that changed since the plan
   * was made. Default: `readCatalogue`.
   */
  readCatalogueNow?: (() => Promise<readonly ToolDescriptor[]>) | undefined;
  /**
   * Resolves when every tool server of this process was connected or has failed once, and its tools are in the
   * catalogue; never rejects. Default: they are.
   */
  serversTried?: Promise<void> | undefined;
  maxPlans: number;
  /** Silence after which other workers declare this process dead, in milliseconds. */
  deadAfterMs: number;
  /** Default: nothing is traced. */
  traces?: RunTraces | undefined;
}

/** All plans that this process works on. */
export interface PlanRuns {
  /** Number of plans that this process could start now. */
  capacity(): number;
  /**
   * Reserves room for a plan that is about to be stored as claimed by this process, until it is taken. Null when this
   * process has no room, holds less than usual, or is about to end.
   */
  reserve(planId: string): { owner: string; leave(): void } | null;
  /**
   * Claims a plan and works on it. Resolves with the end of the work, or with null if the plan was not
   * claimed.
   * @param begun - called when other work may begin, if that is earlier: the plan waits for something. Default: none
   */
  take(planId: string, begun?: () => void): Promise<{ done: Promise<void> } | null>;
  /**
   * This process was declared dead, so other executors own its plans. Aborts its calls and writes nothing
   * more.
   */
  loseAll(): void;
  /**
   * Starts no more plans, lets running calls end for at most `timeoutMs`, and releases all plans, including
   * those being claimed.
   */
  handOver(timeoutMs: number): Promise<void>;
}

/**
 * How often MongoDB is asked for controls of clients and operators, in milliseconds: one read for all plans of
 * this process. A cancel or pause stops calls within 1 s.
 */
const CONTROL_POLL_MS = 250;

/** Manages the runs of this process: claims plans, keeps leases, applies controls. */
export function createPlanRuns(parts: PlanRunsParts): PlanRuns {
  const { store, liveness, maxPlans, deadAfterMs, logger } = parts;
  const { clock = createRunClock(), metrics = NO_METRICS } = parts;
  const outputMemory = parts.outputMemory ?? createOutputMemory({ metrics });
  const readCatalogueNow = parts.readCatalogueNow ?? parts.readCatalogue;
  const active = new Map<PlanId, { claim: PlanClaim; run: PlanRun; trace: PlanTrace | undefined }>();
  /**
   * Claims in progress, by plan: a process that claimed a plan twice at once would be two owners under one
   * name.
   */
  const claiming = new Map<string, Promise<{ done: Promise<void> } | null>>();
  /** Plans that are being stored as claimed by this process, or wait to be taken since. */
  const reserved = new Set<string>();
  const tried = parts.serversTried;
  let areServersTried = tried === undefined;
  void tried?.then(() => {
    areServersTried = true;
  });
  /** Claims that wait for tool servers, each with what ends its wait. */
  const waiting = new Map<PlanClaim, () => void>();
  let isClosing = false;

  const leases = createLeaseKeeper({
    store: parts.leases,
    liveness,
    what: "plans",
    inProgress: () =>
      [...active.values()].map(({ claim }) => ({ ...heldBy(claim), requestId: claim.plan.requestId })),
    isHeld: (planId) => active.has(planId) || claiming.has(planId) || reserved.has(planId),
    max: maxPlans,
    deadAfterMs,
    logger,
    clock,
  });
  const endControlPoll = clock.every(CONTROL_POLL_MS, () => void applyControls());

  const reading = createOutageLog({ logger, clock, work: "read the controls of clients and operators" });

  async function applyControls(): Promise<void> {
    try {
      await store.applyControls([...[...active.values()].map(({ claim }) => claim), ...waiting.keys()]);
      reading.worked();
    } catch (error) {
      reading.failed(error);
    }
  }

  /** The lease or the database was lost, which invalidates a claim that began at that time. */
  function lost(claim: PlanClaim, begunAt: number): void {
    leases.lost(heldBy(claim), begunAt);
    leases.overloaded();
  }

  async function begin(planId: PlanId, begun: () => void): Promise<{ done: Promise<void> } | null> {
    // Read during the claim. When reading fails the plan is known, so the log line names its request.
    const catalogue = parts.readCatalogue();
    catalogue.catch(() => undefined);
    const begunAt = clock.now();
    const claim = await store.claimPlan(planId, liveness.owner());
    if (!claim) return null;
    metrics.claimed(claim.waited);
    const { plan, epoch } = claim;
    const trace = parts.traces?.claimed(claim, queuedMs(claim));
    const planLogger = logger.child({
      requestId: plan.requestId,
      planId,
      epoch,
      ...trace?.logFacts,
      worker: claim.owner,
    });
    try {
      return await beginClaimed(claim, { known: await catalogue, trace, logger: planLogger, begunAt, begun });
    } catch (error) {
      trace?.ended("broken off", error instanceof CodedError ? error.code : "INTERNAL");
      planLogger.warn({ err: error }, "plan not begun; it is left to any executor");
      if (error instanceof StoreUnavailableError) lost(claim, begunAt);
      return null;
    }
  }

  /**
   * After a start a server may take longer to connect than this process waits before it takes plans: its tools may
   * be unknown only so far. Ends early when the plan is to stop, or this process.
   */
  async function untilServersTried(claim: PlanClaim): Promise<void> {
    const { journal, plan } = claim;
    // Asked while another executor had it, so it is in the journal already.
    if (plan.cancelRequestedAt || plan.pauseRequestedAt) return;
    const stopped = new Promise<void>((resolve) => {
      waiting.set(claim, resolve);
      const look = (): void => {
        if (journal.asked().some(({ type }) => type === "cancel.asked" || type === "pause.asked")) resolve();
      };
      journal.onControl(look);
      look();
    });
    if (!isClosing) await Promise.race([tried, stopped]);
    waiting.delete(claim);
  }

  /** Time since a plan was queued, in milliseconds; undefined for a plan that was started earlier. */
  function queuedMs({ plan, epoch }: PlanClaim): number | undefined {
    return epoch > 1 || !plan.queuedAt ? undefined : Math.max(0, store.now() - plan.queuedAt.getTime());
  }

  async function beginClaimed(
    claim: PlanClaim,
    {
      known,
      trace,
      logger: planLogger,
      begunAt,
      begun,
    }: {
      known: readonly ToolDescriptor[];
      trace: PlanTrace | undefined;
      logger: Logger;
      begunAt: number;
      begun: () => void;
    },
  ): Promise<{ done: Promise<void> } | null> {
    const planId = claim.plan._id;
    const planLog = createPlanLog(planLogger, claim.plan.plan);
    planLog.claimed(claim);
    // The planner or client that made the plan may have read a newer catalogue than the one cached here.
    let planTools = createPlanTools(claim, known);
    if (!planTools.isAsPlanned) planTools = createPlanTools(claim, await readCatalogueNow());
    if (planTools.missing.length > 0 && !areServersTried && !isPoisoned(claim)) {
      planLogger.info({ tools: planTools.missing }, "unknown tools; waiting for servers that still connect");
      begun();
      await untilServersTried(claim);
      planTools = createPlanTools(claim, await readCatalogueNow());
    }
    if (isClosing) {
      await store.releasePlan(claim, { status: "QUEUED" });
      trace?.ended("handed over");
      return null;
    }
    if (isPoisoned(claim)) {
      const { error, records } = await endPoisoned(
        store,
        claim,
        createPlanMetrics(metrics, claim, planTools),
      );
      trace?.ended("FAILED", error.code);
      planLog.recorded(records);
      planLog.ended({ status: "FAILED", error });
      return null;
    }
    if (planTools.changed.length > 0)
      planLogger.warn({ changed: planTools.changed }, "tools have changed since the plan was made");
    const run = startPlanRun({
      ...parts,
      claim,
      planTools,
      readCatalogueNow,
      outputMemory,
      logger: planLogger,
      trace,
    });
    active.set(planId, { claim, run, trace });
    metrics.held(active.size);
    const done = run.done.then(() => {
      if (run.isLost()) lost(claim, begunAt);
      active.delete(planId);
      metrics.held(active.size);
    });
    return { done };
  }

  function capacity(): number {
    return isClosing ? 0 : Math.max(0, leases.allowed() - active.size - claiming.size - reserved.size);
  }

  return {
    capacity,

    reserve(planId) {
      if (leases.allowed() < maxPlans || capacity() === 0) return null;
      reserved.add(planId);
      return { owner: liveness.owner(), leave: () => void reserved.delete(planId) };
    },

    async take(planId, begun = () => undefined) {
      const isReserved = reserved.delete(planId);
      if (isClosing || active.has(planId) || claiming.has(planId)) return null;
      // A process that holds less than usual refuses hints that it has no room for; a sweeper that has some finds
      // the plan later.
      if (!isReserved && leases.allowed() < maxPlans && capacity() === 0) return null;
      const taken = begin(planId, begun).finally(() => claiming.delete(planId));
      claiming.set(planId, taken);
      return taken;
    },

    loseAll() {
      for (const { run } of active.values()) run.lose();
    },

    async handOver(timeoutMs) {
      isClosing = true;
      const runs = [...active.values()].map(({ run }) => run);
      for (const run of runs) run.handOver();
      for (const stopWaiting of waiting.values()) stopWaiting();
      let cancel = (): void => undefined;
      const timeout = new Promise<void>((resolve) => {
        cancel = clock.after(timeoutMs, resolve);
      });
      const ends = Promise.allSettled([...runs.map((run) => run.done), ...claiming.values()]);
      await Promise.race([ends, timeout]);
      cancel();
      for (const { trace } of active.values()) trace?.ended("not handed over in time", "TIMEOUT");
      leases.end();
      endControlPoll();
    },
  };
}

function heldBy({ plan, epoch }: PlanClaim): { id: PlanId; epoch: number } {
  return { id: plan._id, epoch };
}

/** A plan that was claimed this often without progress is ended, because it kills its executors. */
const MAX_CLAIMS_WITHOUT_PROGRESS = 5;

/** True for a plan that was claimed too often without progress of any step. */
function isPoisoned({ plan }: PlanClaim): boolean {
  return plan.claims > MAX_CLAIMS_WITHOUT_PROGRESS;
}

/** Ends a poisoned plan as FAILED. Calls that may have had an effect end in doubt. */
async function endPoisoned(
  store: ExecutionStore,
  claim: PlanClaim,
  metrics: PlanMetrics,
): Promise<{ error: StepError; records: readonly StepRecord[] }> {
  const error = {
    code: "POISONED",
    message: `The plan was started ${MAX_CLAIMS_WITHOUT_PROGRESS} times without progress of any step: each time its executor died or was blocked`,
    retryable: false,
  };
  const unfinished = recordsOfAll(claim).filter(({ key }) => !claim.journal.unit(key)?.finishedAt);
  const records = unfinished.map(
    (record): StepRecord => ({
      ...record,
      status: lastStatus(record, claim.journal.unit(record.key)),
      waitReason: undefined,
      nextAttemptAt: undefined,
      error,
    }),
  );
  await store.finishPlan(
    claim,
    { type: "finish", status: "FAILED", outputs: {}, error },
    { records, ends: [] },
  );
  metrics.recorded(records.filter(({ status }, index) => status !== unfinished[index]?.status));
  metrics.ended({ status: "FAILED", error });
  return { error, records: records.filter(({ status }) => status !== "SKIPPED") };
}

/** The records of all units: a step that has none yet gets one. */
function recordsOfAll({ plan, records }: PlanClaim): StepRecord[] {
  const known = new Set(records.map(({ key }) => key));
  const unrecorded = plan.plan.steps.filter(({ id }) => !known.has(id));
  const pending = unrecorded.map(({ id }): StepRecord => {
    return { key: id, stepId: id, status: "PENDING", attempts: 0 };
  });
  return [...records, ...pending];
}

/**
 * A unit that may have acted is in doubt; so is a call that was running, unless it only reads. A unit without
 * an effect class was never called, or only reads.
 */
function lastStatus({ status, mayHaveActed }: StepRecord, unit: Classed | undefined): StepRecord["status"] {
  if (status === "IN_DOUBT" || mayHaveActed) return "IN_DOUBT";
  if (status === "RUNNING" && unit && isActing(unit)) return "IN_DOUBT";
  return isStepActive(status) ? "FAILED" : "SKIPPED";
}
