/**
 * The shell around `decide()` for one claimed plan: it performs commands and reports events, and decides
 * nothing.
 *
 * 1. No call starts before its intent is durable, unless a repeat does no harm (class R).
 * 2. No call starts later than this process's last heartbeat allows, by its monotonic clock; it waits for the
 *    next heartbeat.
 * 3. The engine learns of a record only after MongoDB acknowledged it. The exception are results of reads:
 *    what builds on them is written after them, or is a read that a crash repeats together with them (R2).
 * 4. An executor that lost the lease, or the database, aborts its calls and writes nothing more.
 * 5. No call that needs approval starts unless exactly this call was approved.
 * 6. No call and no secret goes to a tool that changed since the plan was made, by what its server lists when
 *    the call is sent.
 */
import {
  type Command,
  createEngineState,
  decide,
  type EngineEvent,
  heldBytesOf,
  unitKeysOf,
} from "@planwright/engine";
import { CodedError, type ToolDescriptor } from "@planwright/plan";
import { createRunClock } from "@planwright/runtime";
import {
  type ExecutionStore,
  type FinishCommand,
  LeaseLostError,
  type PlanClaim,
  StoreUnavailableError,
} from "@planwright/store";
import { createApprovals } from "../controls/approvals.ts";
import { createControlEvents } from "../controls/control-events.ts";
import { NO_METRICS } from "../metrics/run-metrics.ts";
import { createOutputMemory } from "../outputs/output-memory.ts";
import { createSecrets } from "../secrets/secrets.ts";
import { createPlanLimits } from "../tools/plan-limits.ts";
import type { PlanTools } from "../tools/plan-tools.ts";
import type { PlanTrace } from "../tracing/run-traces.ts";
import { createRunCalls } from "./calls.ts";
import { createPendingWrites } from "./pending-writes.ts";
import { createRunPhases } from "./phase.ts";
import { createPlanLog } from "./plan-log.ts";
import { createRightToCall } from "./right-to-call.ts";
import type { RunDependencies } from "./run-dependencies.ts";
import { createRunTimers } from "./timers.ts";

/** What one run needs. */
export interface PlanRunParts extends RunDependencies {
  claim: PlanClaim;
  /** The plan's tools, with their contracts and schemas. */
  planTools: PlanTools;
  /** The catalogue as it is now: approved calls are compared with it. */
  readCatalogueNow: () => Promise<readonly ToolDescriptor[]>;
  /** Default: nothing is traced. */
  trace?: PlanTrace | undefined;
}

/** One plan under way in this process. */
export interface PlanRun {
  /** Resolves when the plan has ended, was released or was lost; never rejects. */
  done: Promise<void>;
  /** True when it was given up because the lease or the database was lost. */
  isLost(): boolean;
  /** Starts nothing new, lets running calls end, and releases the plan. */
  handOver(): void;
  /** The lease is lost: aborts calls and writes nothing more. */
  lose(): void;
}

/** A plan that has nothing to do for longer than this is released, in milliseconds. */
const RELEASE_AFTER_MS = 5_000;

/** Starts to work on a claimed plan. */
export function startPlanRun(parts: PlanRunParts): PlanRun {
  const { claim, planTools, store, tools, logger, clock = createRunClock(), metrics = NO_METRICS } = parts;
  const { trace, liveness, outputMemory = createOutputMemory() } = parts;
  const { plan } = claim;
  const phases = createRunPhases();
  const hasEnded = (): boolean => !phases.isBefore("over");
  const timers = createRunTimers(clock, () => store.now());
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
    drop: (toBytes) => dispatch({ type: "drop", toBytes, at: store.now() }),
  });
  const planLog = createPlanLog(logger, plan.plan);
  const approvals = createApprovals(parts);
  const planLimits =
    parts.limits &&
    createPlanLimits({
      limits: parts.limits,
      planId: plan._id,
      tenant: plan.tenant,
      unannotated: plan.plan.policy.unannotated,
      planTools,
      now: () => store.now(),
      random: () => clock.random(),
      onCleared: (call) =>
        dispatch({ type: "limit.cleared", key: unitKeysOf(call)[0] ?? call.key, at: store.now() }),
    });
  const pending = createPendingWrites({
    claim,
    store,
    timers,
    toUnitRecord: (record) => approvals.toUnitRecord(record),
    onError: fail,
  });
  const calls = createRunCalls({
    claim,
    planTools,
    store,
    tools,
    secrets: (parts.secrets ?? createSecrets()).ofPlan(plan),
    limits: planLimits,
    approvals,
    outputs: parts.outputs,
    pending,
    right: createRightToCall({ claim, liveness, clock, hasEnded, onLost: lose }),
    timers,
    clock,
    metrics,
    trace,
    logger,
    hasEnded,
    isExpired,
    onEnded: ({ key, attempt }, outcome) =>
      dispatch({ type: "attempt.ended", key, attempt, outcome, at: store.now(), random: clock.random() }),
  });
  const controlEvents = createControlEvents(claim);
  let isLost = false;
  let resolveDone: () => void = () => {};
  const done = new Promise<void>((resolve) => {
    resolveDone = resolve;
  });

  function end(): void {
    phases.enter("over");
    timers.end();
    calls.abortAll();
    planLimits?.end();
    heldOutputs.leave();
    resolveDone();
  }

  /**
   * An unexpected error ends this run without a write. This process gives the plan up (`lease-keeper.ts`),
   * and an executor continues it.
   */
  function fail(error: unknown): void {
    if (hasEnded()) return;
    isLost = error instanceof LeaseLostError || error instanceof StoreUnavailableError;
    reportFailure(error);
    end();
  }

  function reportFailure(error: unknown): void {
    if (error instanceof LeaseLostError) {
      metrics.leaseLost();
      trace?.ended("lease lost", error.code);
      logger.warn({ code: error.code }, "lease lost");
    } else if (error instanceof StoreUnavailableError) {
      trace?.ended("broken off", error.code);
      const facts = { err: error, code: error.code };
      logger.warn(facts, "the database was lost; the plan is left to any executor");
    } else {
      trace?.ended("broken off", error instanceof CodedError ? error.code : "INTERNAL");
      logger.error({ err: error }, "run ended early; the plan is left to any executor");
    }
  }

  function lose(): void {
    fail(new LeaseLostError({ id: plan._id, epoch: claim.epoch }));
  }

  function isExpired(): boolean {
    return plan.deadlineAt !== null && plan.deadlineAt.getTime() <= store.now();
  }

  function dispatch(event: EngineEvent | EngineEvent[]): void {
    const isNothing = Array.isArray(event) && event.length === 0;
    if (!phases.isBefore("leaving") || isNothing) return;
    const events = Array.isArray(event) ? event : [event];
    const at = store.now();
    // A repeated deadline event changes nothing. In a process that was frozen, other events may come before
    // the timer.
    try {
      const decided = decide(state, isExpired() ? [{ type: "deadline", at }, ...events] : events);
      for (const command of decided) perform(command);
      heldOutputs.changed();
    } catch (error) {
      fail(error);
    }
  }

  function perform(command: Command): void {
    switch (command.type) {
      case "record":
        record(command).catch(fail);
        return;
      case "call":
        calls.make(command.call).catch(fail);
        return;
      case "abort":
        calls.abort(command.key, command.reason);
        return;
      case "load":
        heldOutputs
          .load(
            command.bytes,
            () => store.readStoredOutputs(claim, command.keys),
            (outputs) => dispatch({ type: "loaded", id: command.id, outputs, at: store.now() }),
          )
          .catch(fail);
        return;
      case "timer":
        timers.wakeAt(command.at, () => dispatch({ type: "timer", at: store.now() }));
        return;
      case "park":
        park(command).catch(fail);
        return;
      case "finish":
        finish(command).catch(fail);
        return;
    }
  }

  async function record(command: CommandOf<"record">): Promise<void> {
    const keys = command.records.map(({ key }) => key);
    const { records, ends } = pending.toWrite(command.records);
    const noted = command.isRepeatable ? store.noteRecords(claim, records, ends) : undefined;
    if (noted) reportAhead(keys, noted);
    const sizes = noted
      ? await store.writeNoted(claim).then(() => noted)
      : await store.writeRecords(claim, records, ends);
    for (const { status } of command.records) if (status === "IN_DOUBT") metrics.inDoubt();
    planLog.recorded(command.records);
    dispatch({ type: "recorded", keys, sizes, at: store.now() });
  }

  /** Queued as a microtask, so that the commands of this turn are performed before those of the next one. */
  function reportAhead(keys: readonly string[], sizes: ReadonlyMap<string, number>): void {
    queueMicrotask(() => dispatch({ type: "recorded", keys, sizes, isAhead: true, at: store.now() }));
  }

  async function finish(command: CommandOf<"finish">): Promise<void> {
    const { isForPlanner } = await store.finishPlan(claim, command, pending.toWrite(command.records));
    if (isForPlanner) parts.offerPlanning?.(plan.requestId);
    metrics.ended(command.status);
    trace?.ended(command.status, failureOf(command));
    planLog.recorded(command.records);
    planLog.ended(command);
    end();
  }

  async function park(command: CommandOf<"park">): Promise<void> {
    const { reason, status } = command;
    const until = (reason === "limit" ? planLimits?.releaseUntil() : undefined) ?? command.until ?? null;
    if (phases.now() === "handing over") {
      await giveBack({ status: "QUEUED" });
      trace?.ended("handed over");
    } else if (until !== null && until - store.now() <= RELEASE_AFTER_MS) return;
    else {
      await giveBack({ status, reason, dueAtMs: until });
      trace?.ended(status);
      logger.info({ reason, until }, "plan waits");
    }
    end();
  }

  async function giveBack(to: Parameters<ExecutionStore["releasePlan"]>[1]): Promise<void> {
    phases.enter("leaving");
    await store.releasePlan(claim, to);
  }

  /**
   * Controls that are new to this run. From then on they do not make the plan due again when it is released.
   */
  function newControls(): EngineEvent[] {
    plan.controlSeq = Math.max(plan.controlSeq, claim.journal.seq());
    return controlEvents(claim.journal.plan(), store.now());
  }

  if (plan.deadlineAt) {
    timers.wakeAt(plan.deadlineAt.getTime(), () => dispatch({ type: "deadline", at: store.now() }));
  }
  claim.journal.onControl(() => {
    if (!phases.isBefore("leaving")) return;
    const heard = newControls();
    // A resume is left to the executor that claims the plan next.
    dispatch(phases.now() === "handing over" ? heard.filter(({ type }) => type !== "resume") : heard);
  });
  // A cancel or pause must come before the plan would start anything; other controls need the state after the
  // start.
  const controls = newControls();
  const isEarly = ({ type }: EngineEvent): boolean => type === "cancel" || type === "pause";
  dispatch([
    ...controls.filter(isEarly),
    { type: "started", at: store.now() },
    ...controls.filter((control) => !isEarly(control)),
  ]);

  return {
    done,
    isLost: () => isLost,
    handOver() {
      phases.enter("handing over");
      dispatch({ type: "pause", at: store.now() });
    },
    lose,
  };
}

type CommandOf<Type extends Command["type"]> = Extract<Command, { type: Type }>;

/** The code of a plan that failed; null for every other plan. */
function failureOf({ status, error }: FinishCommand): string | null {
  return error?.code ?? (status === "FAILED" ? "PLAN_FAILED" : null);
}
