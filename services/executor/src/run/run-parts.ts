import {
  type Call,
  createEngineState,
  type EngineEvent,
  type EngineState,
  heldBytesOf,
  type Outcome,
  questionAbout,
  unitKeysOf,
  withAnswer,
} from "@planwright/engine";
import type { ToolDescriptor } from "@planwright/plan";
import type { Hint, ToolLimits } from "@planwright/queue";
import { createRunClock, type Liveness, type Logger, type RunClock } from "@planwright/runtime";
import type { ExecutionStore, PlanClaim } from "@planwright/store";
import type { ToolClients } from "@planwright/tools";
import {
  createPlanLog,
  createPlanMetrics,
  NO_METRICS,
  type PlanLog,
  type PlanMetrics,
  type RunMetrics,
} from "../metrics.ts";
import { createLargeJson, type LargeJson } from "../outputs/large-json.ts";
import { createOutputMemory, type OutputMemory, type PlanOutputs } from "../outputs/output-memory.ts";
import type { OutputRecorder } from "../outputs/output-recorder.ts";
import type { PlanTrace } from "../run-traces.ts";
import { createSecrets, type Secrets } from "../secrets.ts";
import { createApprovals } from "./approvals.ts";
import type { CallRecorder } from "./call-recorder.ts";
import { createRunCalls, type RunCalls } from "./calls.ts";
import { createPendingWrites, type PendingWrites } from "./pending-writes.ts";
import { createPlanLimits, type PlanLimits } from "./plan-limits.ts";
import type { PlanTools } from "./plan-tools.ts";

/** What one run needs. */
export interface PlanRunParts extends RunDependencies {
  claim: PlanClaim;
  /** Dependencies of one run. */
  planTools: PlanTools;
  /** Reads the current catalogue: approved calls are compared with it. */
  readCatalogueNow: () => Promise<readonly ToolDescriptor[]>;
  /** Default: nothing is traced. */
  trace?: PlanTrace | undefined;
}

/** Callbacks of a run for its parts. */
export interface RunHooks {
  /** Passes events to the engine and performs its commands. Does nothing when the plan is being released. */
  dispatch: (event: EngineEvent | EngineEvent[]) => void;
  /** An unexpected error ends the run without a write. Does nothing when the run has ended. */
  fail: (error: unknown) => void;
  /** The lease is lost: aborts calls and writes nothing more. */
  lose: () => void;
  /** True once the plan's deadline has passed. */
  isExpired: () => boolean;
}

/** The state of a run, and its parts. */
export interface RunParts
  extends Pick<PlanRunParts, "claim" | "store" | "logger" | "trace" | "offerPlanning"> {
  phases: RunPhases;
  timers: RunTimers;
  /** The state of the engine. */
  state: EngineState;
  /** The outputs of this plan in the memory of the process. */
  heldOutputs: PlanOutputs;
  largeJson: Pick<LargeJson, "answer">;
  planLog: PlanLog;
  /** Undefined when there are no limits. */
  planLimits: PlanLimits | undefined;
  pending: PendingWrites;
  calls: RunCalls;
  clock: RunClock;
  metrics: RunMetrics;
  planMetrics: PlanMetrics;
}

/** Makes the parts of a run; starts nothing. */
export function createRunParts(parts: PlanRunParts, hooks: RunHooks): RunParts {
  const { claim, planTools, store, logger, trace, offerPlanning } = parts;
  const { clock = createRunClock(), metrics = NO_METRICS, outputMemory = createOutputMemory() } = parts;
  const { largeJson = createLargeJson() } = parts;
  const { dispatch, fail, lose, isExpired } = hooks;
  const { plan } = claim;
  const phases = createRunPhases();
  const timers = createRunTimers(clock, () => store.now());
  const hasEnded = (): boolean => !phases.isBefore("ended");
  const state = createEngineState({
    plan: plan.plan,
    tools: planTools.catalogue,
    refusals: planTools.refusals,
    records: claim.records,
    maxStepTimeoutMs: parts.maxStepTimeoutMs,
    maxReadBytes: outputMemory.maxBytes,
  });
  const heldOutputs = outputMemory.join({
    heldBytes: () => heldBytesOf(state),
    tenant: plan.tenant,
    drop: (toBytes) => dispatch({ type: "drop", toBytes, at: store.now() }),
    reserved: (key) => dispatch({ type: "deferral.ended", key, at: store.now() }),
  });
  const approvals = createApprovals(parts);
  /** A deferred call is made again now. */
  const endDeferral = (call: Call): void =>
    dispatch({ type: "deferral.ended", key: unitKeysOf(call)[0] ?? call.key, at: store.now() });
  const planLimits = limitsOf(parts, clock, endDeferral);
  const pending = createPendingWrites({
    claim,
    store,
    wakeAt: timers.wakeAt,
    onError: fail,
    toUnitRecord: (record) => approvals.toUnitRecord(record),
  });
  const calls = createRunCalls({
    claim,
    planTools,
    store,
    tools: parts.tools,
    signIns: parts.signIns,
    outputs: parts.outputs,
    callRecorder: parts.callRecorder,
    pending,
    wait: timers.wait,
    clock,
    approvals,
    heldOutputs,
    largeJson,
    metrics,
    trace,
    logger,
    hasEnded,
    isExpired,
    secrets: (parts.secrets ?? createSecrets()).ofPlan(plan),
    limits: planLimits,
    liveness: parts.liveness,
    onLost: lose,
    onError: fail,
    onSignedIn: endDeferral,
    onRefused: ({ key, attempt }, units) =>
      dispatch({ type: "refused", key, attempt, units, at: store.now() }),
    onEnded(call, outcome) {
      const { key, attempt } = call;
      const report = (read: Outcome) =>
        dispatch({
          type: "attempt.ended",
          key,
          attempt,
          outcome: read,
          at: store.now(),
          random: clock.random(),
        });
      const question = questionAbout(state, call, outcome);
      if (!question) return report(outcome);
      const answered = largeJson.answer(question);
      answered.then((answer) => report(withAnswer(outcome, answer))).catch(fail);
    },
  });
  const planLog = createPlanLog(logger, plan.plan);
  return {
    claim,
    store,
    logger,
    trace,
    offerPlanning,
    clock,
    metrics,
    planMetrics: createPlanMetrics(metrics, claim, planTools),
    phases,
    timers,
    state,
    heldOutputs,
    largeJson,
    planLog,
    planLimits,
    pending,
    calls,
  };
}

function limitsOf(
  { limits, claim: { plan }, planTools, store }: PlanRunParts,
  clock: RunClock,
  onCleared: (call: Call) => void,
): PlanLimits | undefined {
  if (!limits) return undefined;
  return createPlanLimits({
    limits,
    planId: plan._id,
    tenant: plan.tenant,
    unannotated: plan.plan.policy.unannotated,
    planTools,
    now: () => store.now(),
    random: () => clock.random(),
    onCleared,
  });
}

/**
 * The phase of a run. It only moves forward:
 *
 * - working -> handing over: nothing new starts, running calls end, and the plan is released for any
 *   executor.
 * - working, handing over -> leaving: the plan is being released. As soon as MongoDB has the release, another
 *   executor may claim the plan and gets all later events, so nothing starts here.
 * - any -> ended: the plan has ended, was released, or was lost. Nothing is written and nothing is called.
 */
type RunPhase = "working" | "handing over" | "leaving" | "ended";

/** The phases in their order. */
const ORDER: readonly RunPhase[] = ["working", "handing over", "leaving", "ended"];

/** The phase of one run. */
interface RunPhases {
  now(): RunPhase;
  /** True while the run has not reached this phase. */
  isBefore(phase: RunPhase): boolean;
  /** Moves to a phase; false, without any change, when the run is in this phase or a later one. */
  enter(phase: RunPhase): boolean;
}

/** The phases of a run that starts to work. */
export function createRunPhases(): RunPhases {
  let at = 0;
  return {
    now: () => ORDER[at] ?? "ended",
    isBefore: (phase) => at < ORDER.indexOf(phase),
    enter(phase) {
      const next = ORDER.indexOf(phase);
      if (next <= at) return false;
      at = next;
      return true;
    },
  };
}

/** The longest delay that `setTimeout` takes. */
const MAX_TIMER_MS = 2_147_483_647;

/** The timers of a run. */
interface RunTimers {
  /**
   * Calls `then` not before `at` by the store's clock: timers may fire early, and that clock may be corrected
   * meanwhile.
   */
  wakeAt: (at: number, then: () => void) => void;
  /** Waits before another call. Resolves at once when the signal aborts. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Cancels all timers. */
  end(): void;
}

/** @param now - the store's clock, Unix milliseconds */
function createRunTimers(clock: Pick<RunClock, "after">, now: () => number): RunTimers {
  /** Cancels each timer that is set. */
  const cancels = new Set<() => void>();

  function wakeAt(at: number, then: () => void): void {
    const delay = Math.min(Math.max(0, at - now()), MAX_TIMER_MS);
    const cancel = clock.after(delay, () => {
      cancels.delete(cancel);
      if (now() < at) wakeAt(at, then);
      else then();
    });
    cancels.add(cancel);
  }

  return {
    wakeAt,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const end = (): void => {
          signal.removeEventListener("abort", end);
          resolve();
        };
        signal.addEventListener("abort", end, { once: true });
        wakeAt(now() + ms, end);
      }),
    end() {
      for (const cancel of cancels) cancel();
    },
  };
}

/** Dependencies that all runs of a process share. */
export interface RunDependencies {
  store: ExecutionStore;
  tools: Pick<ToolClients, "callTool">;
  /** Sign-ins at tool servers. Default: no server needs one. */
  signIns?: Pick<ToolClients, "needsSignIn" | "onSignedIn"> | undefined;
  /** The secrets that plans name as `secret://name`. Default: none. */
  secrets?: Secrets | undefined;
  /** Limits of tools over all executors. Default: no limits. */
  limits?: ToolLimits | undefined;
  /** The memory for outputs of all plans of this process. Default: up to 256 MiB. */
  outputMemory?: OutputMemory | undefined;
  /** Resolves the arguments of calls that insert large outputs. Default: on the event loop. */
  largeJson?: Pick<LargeJson, "resolve" | "fill" | "lookup" | "found" | "answer"> | undefined;
  /** Learns the shapes of outputs. Default: nothing is learned. */
  outputs?: Pick<OutputRecorder, "note"> | undefined;
  /** Counts calls by tool. Default: they are not counted. */
  callRecorder?: Pick<CallRecorder, "note"> | undefined;
  /**
   * Hints that a request waits for a planner; the planners' sweepers find it in any case. Default: no hints.
   */
  offerPlanning?: ((request: Hint) => void) | undefined;
  /** Largest timeoutMs of a step, in milliseconds. Default: that of the engine. */
  maxStepTimeoutMs?: number | undefined;
  /** Names this process in leases and attempts, and limits the time until which it may start calls. */
  liveness: Liveness;
  logger: Logger;
  /** Default: the clock of the platform. */
  clock?: RunClock | undefined;
  /** Default: nothing is counted. */
  metrics?: RunMetrics | undefined;
}
