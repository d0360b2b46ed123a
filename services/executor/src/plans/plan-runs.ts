import type { StepError, StepRecord } from "@planwright/engine";
import {
  CodedError,
  type EffectClass,
  isStepUnderWay,
  type PlanId,
  type RequestId,
  type ToolDescriptor,
} from "@planwright/plan";
import type { ToolLimits } from "@planwright/queue";
import { createRunClock, type Liveness, type Logger, type RunClock } from "@planwright/runtime";
import { type ExecutionStore, type PlanClaim, StoreUnavailableError } from "@planwright/store";
import type { ToolClients } from "@planwright/tools";
import { createLeaseKeeper } from "../leases/lease-keeper.ts";
import { NO_METRICS, type RunMetrics } from "../metrics/run-metrics.ts";
import { createOutputMemory, type OutputMemory } from "../outputs/output-memory.ts";
import type { OutputRecorder } from "../outputs/output-recorder.ts";
import { createPlanLog } from "../run/plan-log.ts";
import { type PlanRun, startPlanRun } from "../run/start-plan-run.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { createPlanTools } from "../tools/plan-tools.ts";
import type { PlanTrace, RunTraces } from "../tracing/run-traces.ts";

/** What working on plans needs. */
export interface PlanRunsParts {
  store: ExecutionStore;
  tools: Pick<ToolClients, "callTool">;
  /** What plans name as `secret://name`. Default: none. */
  secrets?: Secrets | undefined;
  /** Limits of tools over all executors. Default: none are held. */
  limits?: ToolLimits | undefined;
  /** Outputs in memory of all plans of this process. Default: up to 256 MiB. */
  outputMemory?: OutputMemory | undefined;
  /** Learns what outputs look like. Default: nothing is learned. */
  outputs?: Pick<OutputRecorder, "note"> | undefined;
  /** The published catalogue, which also knows tools whose server is away just now. */
  readCatalogue: () => Promise<readonly ToolDescriptor[]>;
  /** The same as it stands this moment, for calls that need approval and tools that are not as a plan knows them. Default: `readCatalogue`. */
  readCatalogueNow?: (() => Promise<readonly ToolDescriptor[]>) | undefined;
  /** Names this process in leases and attempts, and says how long it may start calls. */
  liveness: Liveness;
  /** Hints that a request waits for a planner; the planners' sweepers find it in any case. Default: none are sent. */
  offerPlanning?: ((requestId: RequestId) => void) | undefined;
  maxPlans: number;
  /** Silence after which others declare this process dead, in milliseconds. */
  deadAfterMs: number;
  /** Most that a step may ask for as its timeoutMs, in milliseconds. Default: the engine's. */
  maxStepTimeoutMs?: number | undefined;
  logger: Logger;
  /** Default: the platform's. */
  clock?: RunClock | undefined;
  /** Default: nothing is counted. */
  metrics?: RunMetrics | undefined;
  /** Default: nothing is traced. */
  traces?: RunTraces | undefined;
}

/** All plans that this process works on. */
export interface PlanRuns {
  /** Plans that could be taken on now. */
  capacity(): number;
  /** Claims a plan and works on it; resolves with its end, or null when there is nothing to do. */
  take(planId: string): Promise<{ done: Promise<void> } | null>;
  /** This process was declared dead: whatever it holds is another one's by now. Its calls are aborted, and nothing more is written. */
  loseAll(): void;
  /** Takes no more, lets running calls end for at most `timeoutMs`, gives plans back, also those just being claimed. */
  handOver(timeoutMs: number): Promise<void>;
}

/** Claims without progress after which a plan is ended: it kills its executors. */
const MAX_CLAIMS_WITHOUT_PROGRESS = 5;
/** How often controls of clients and operators are looked for, in milliseconds: a cancel is seen within 1 s. */
const CONTROL_POLL_MS = 500;

/** Keeps the runs of this process: claims, looks after leases, sees cancellations. */
export function createPlanRuns(parts: PlanRunsParts): PlanRuns {
  const { store, liveness, maxPlans, deadAfterMs, logger } = parts;
  const { clock = createRunClock(), metrics = NO_METRICS } = parts;
  const outputMemory = parts.outputMemory ?? createOutputMemory({ metrics });
  const readCatalogueNow = parts.readCatalogueNow ?? parts.readCatalogue;
  const active = new Map<PlanId, { claim: PlanClaim; run: PlanRun; trace: PlanTrace | undefined }>();
  /** Claims under way, by plan: a process that claimed a plan twice at once would be two owners under one name. */
  const claiming = new Map<string, Promise<{ done: Promise<void> } | null>>();
  let isClosing = false;

  const leases = createLeaseKeeper({
    store,
    liveness,
    held: () => [...active.values()].map(({ claim }) => claim),
    isHeld: (planId) => active.has(planId) || claiming.has(planId),
    maxPlans,
    deadAfterMs,
    logger,
    clock,
  });
  const endControlPoll = clock.every(CONTROL_POLL_MS, () => void hearControls());

  async function hearControls(): Promise<void> {
    try {
      await store.hearControls([...active.values()].map(({ claim }) => claim));
    } catch (error) {
      logger.warn({ err: error }, "could not look for what clients and operators asked");
    }
  }

  async function begin(planId: PlanId): Promise<{ done: Promise<void> } | null> {
    // Read meanwhile; when that fails the plan is known by then, and the log names its request.
    const catalogue = parts.readCatalogue();
    catalogue.catch(() => undefined);
    const begunAt = clock.now();
    const claim = await store.claimPlan(planId, liveness.owner());
    if (!claim) return null;
    metrics.claimed();
    const { plan, epoch } = claim;
    const trace = parts.traces?.claimed(claim, queuedMs(claim));
    const planLogger = logger.child({ requestId: plan.requestId, planId, epoch, ...trace?.logFacts });
    try {
      return await beginClaimed(claim, { known: await catalogue, trace, logger: planLogger, begunAt });
    } catch (error) {
      trace?.ended("broken off", error instanceof CodedError ? error.code : "INTERNAL");
      planLogger.warn({ err: error }, "plan not begun; it is left to any executor");
      if (error instanceof StoreUnavailableError) leases.lost(claim, begunAt);
      return null;
    }
  }

  /** Since a plan was queued, in milliseconds; undefined for one that was begun before. */
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
    }: {
      known: readonly ToolDescriptor[];
      trace: PlanTrace | undefined;
      logger: Logger;
      begunAt: number;
    },
  ): Promise<{ done: Promise<void> } | null> {
    const planId = claim.plan._id;
    const planLog = createPlanLog(planLogger, claim.plan.plan);
    planLog.claimed(claim);
    // The planner or client that made the plan may have read a newer catalogue than this process, which remembers its own for a while.
    const remembered = createPlanTools(claim, known);
    const planTools = remembered.isAsPlanned ? remembered : createPlanTools(claim, await readCatalogueNow());
    if (isClosing) {
      await store.releasePlan(claim, { status: "QUEUED" });
      trace?.ended("handed over");
      return null;
    }
    if (claim.plan.claimsWithoutProgress > MAX_CLAIMS_WITHOUT_PROGRESS) {
      const { error, records } = await endPoisoned(store, claim, metrics);
      trace?.ended("FAILED", error.code);
      planLog.recorded(records);
      planLog.ended({ status: "FAILED", error });
      return null;
    }
    if (planTools.changed.length > 0)
      planLogger.warn({ changed: planTools.changed }, "tools have changed since the plan was made");
    const run = startPlanRun({
      claim,
      planTools,
      readCatalogueNow,
      store,
      tools: parts.tools,
      secrets: parts.secrets,
      limits: parts.limits,
      outputs: parts.outputs,
      outputMemory,
      offerPlanning: parts.offerPlanning,
      maxStepTimeoutMs: parts.maxStepTimeoutMs,
      liveness,
      logger: planLogger,
      clock,
      metrics,
      trace,
    });
    active.set(planId, { claim, run, trace });
    metrics.held(active.size);
    const done = run.done.then(() => {
      if (run.isLost()) leases.lost(claim, begunAt);
      active.delete(planId);
      metrics.held(active.size);
    });
    return { done };
  }

  function capacity(): number {
    return isClosing ? 0 : Math.max(0, leases.allowed() - active.size - claiming.size);
  }

  return {
    capacity,

    async take(planId) {
      if (isClosing || active.has(planId) || claiming.has(planId)) return null;
      // Said by the queue, it is found by a sweeper that has room for it.
      if (leases.allowed() < maxPlans && capacity() === 0) return null;
      const begun = begin(planId).finally(() => claiming.delete(planId));
      claiming.set(planId, begun);
      return begun;
    },

    loseAll() {
      for (const { run } of active.values()) run.lose();
    },

    async handOver(timeoutMs) {
      isClosing = true;
      const runs = [...active.values()].map(({ run }) => run);
      for (const run of runs) run.handOver();
      let takeBack = (): void => undefined;
      const timeout = new Promise<void>((resolve) => {
        takeBack = clock.after(timeoutMs, resolve);
      });
      const ends = Promise.allSettled([...runs.map((run) => run.done), ...claiming.values()]);
      await Promise.race([ends, timeout]);
      takeBack();
      for (const { trace } of active.values()) trace?.ended("not handed over in time", "TIMEOUT");
      leases.end();
      endControlPoll();
    },
  };
}

/** Ends a plan that was claimed again and again without a step getting further. */
async function endPoisoned(
  store: ExecutionStore,
  claim: PlanClaim,
  metrics: RunMetrics,
): Promise<{ error: StepError; records: readonly StepRecord[] }> {
  const error = {
    code: "POISONED",
    message: `The plan was begun ${MAX_CLAIMS_WITHOUT_PROGRESS} times without a step getting further, each time its executor died or was blocked`,
    retryable: false,
  };
  const unfinished = recordsOfAll(claim).filter(({ key }) => !claim.journal.unit(key)?.finishedAt);
  const records = unfinished.map(
    (record): StepRecord => ({
      ...record,
      status: lastWord(record, claim.journal.unit(record.key)?.effectClass ?? null),
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
  const knownDoubts = unfinished.filter(({ status }) => status === "IN_DOUBT").length;
  const doubts = records.filter(({ status }) => status === "IN_DOUBT").length;
  for (let index = knownDoubts; index < doubts; index += 1) metrics.inDoubt();
  metrics.ended("FAILED");
  return { error, records: records.filter(({ status }) => status !== "SKIPPED") };
}

/** Those of all units: of a step of which nothing is told there is none. */
function recordsOfAll({ plan, records }: PlanClaim): StepRecord[] {
  const known = new Set(records.map(({ key }) => key));
  const untold = plan.plan.steps.filter(({ id }) => !known.has(id));
  const pending = untold.map(({ id }): StepRecord => {
    return { key: id, stepId: id, status: "PENDING", attempts: 0 };
  });
  return [...records, ...pending];
}

/** What may have acted is in doubt; so is a call that was under way, unless it only reads. A step without a class was never called, or only read. */
function lastWord(
  { status, mayHaveActed }: StepRecord,
  effectClass: EffectClass | null,
): StepRecord["status"] {
  if (status === "IN_DOUBT" || mayHaveActed) return "IN_DOUBT";
  if (status === "RUNNING" && effectClass !== null && effectClass !== "R") return "IN_DOUBT";
  return isStepUnderWay(status) ? "FAILED" : "SKIPPED";
}
