/**
 * The shell around `decide()` for one claimed plan: it performs commands and reports events, and decides
 * nothing.
 *
 * 1. No call starts before its intent is durable, unless a repeat does no harm (class R).
 * 2. No call starts later than this process's last heartbeat allows, by its monotonic clock; it waits for the
 *    next heartbeat.
 * 3. The engine gets a record only after MongoDB acknowledged it. Results of reads are the exception:
 *    anything that depends on them is written after them, or is a read that a crash repeats together with
 *    them (R2).
 * 4. An executor that lost the lease, or the database, aborts its calls and writes nothing more.
 * 5. No call that needs approval starts unless exactly this call was approved.
 * 6. No call and no secret goes to a tool that changed since the plan was made, judged by the list of its
 *    server at the time of the call.
 */
import { type Command, decide, type EngineEvent, type StepRecord, timeUseText } from "@planwright/engine";
import { CodedError, groupBy, isForPerson } from "@planwright/plan";
import {
  type ExecutionStore,
  type FinishCommand,
  LeaseLostError,
  StoreUnavailableError,
} from "@planwright/store";
import { createControlEvents } from "./approvals.ts";
import { freeLoop, MAX_AT_ONCE } from "./calls.ts";
import { createRunParts, type PlanRunParts, type RunHooks, type RunParts } from "./run-parts.ts";

/** A plan that is running in this process. */
export interface PlanRun {
  /** Resolves when the plan has ended, was released or was lost; never rejects. */
  done: Promise<void>;
  /** True when it ended because the lease or the database was lost. */
  isLost(): boolean;
  /** Starts nothing new, lets running calls end, and releases the plan. */
  handOver(): void;
  /** The lease is lost: aborts calls and writes nothing more. */
  lose(): void;
}

/** Starts to work on a claimed plan. */
export function startPlanRun(parts: PlanRunParts): PlanRun {
  const { plan, epoch } = parts.claim;
  let resolveDone: () => void = () => {};
  const done = new Promise<void>((resolve) => {
    resolveDone = resolve;
  });
  let isLost = false;

  const hooks: RunHooks = {
    dispatch(event) {
      const events = Array.isArray(event) ? event : [event];
      if (!run.phases.isBefore("leaving") || events.length === 0) return;
      // A repeated deadline event changes nothing. In a process that was frozen, other events may come before
      // the timer.
      const deadline = hooks.isExpired() ? [deadlineEvent()] : [];
      try {
        for (const command of decide(run.state, [...deadline, ...events])) perform(command);
        run.heldOutputs.changed();
      } catch (error) {
        hooks.fail(error);
      }
    },
    /** The lease keeper of this process then releases the plan, and an executor continues it. */
    fail(error) {
      if (!run.phases.isBefore("ended")) return;
      isLost = error instanceof LeaseLostError || error instanceof StoreUnavailableError;
      reportFailure(error, run);
      end();
    },
    lose: () => hooks.fail(new LeaseLostError({ id: plan._id, epoch })),
    isExpired: () => plan.deadlineAt !== null && plan.deadlineAt.getTime() <= run.store.now(),
  };

  function end(): void {
    run.phases.enter("ended");
    run.timers.end();
    run.calls.abortAll();
    run.planLimits?.end();
    run.heldOutputs.leave();
    resolveDone();
  }

  const run = createRunParts(parts, hooks);
  const deadlineEvent = createDeadlineEvent(run);
  const perform = createPerform(run, hooks, createLeavePlan(run, end));
  begin(run, hooks, deadlineEvent);
  return {
    done,
    isLost: () => isLost,
    handOver() {
      run.phases.enter("handing over");
      hooks.dispatch({ type: "pause", at: run.store.now() });
    },
    lose: hooks.lose,
  };
}

/**
 * The plan's deadline has passed: with what used up the time. The first event counts, so the units are read once,
 * not again for each later event.
 */
function createDeadlineEvent({ claim, store }: Pick<RunParts, "claim" | "store">): () => EngineEvent {
  let message: string | undefined;
  return () => {
    const at = store.now();
    if (message === undefined) {
      const plan = claim.journal.plan();
      message = `The plan's deadline has passed${plan ? ` (${timeUseText(plan, new Date(at))})` : ""}`;
    }
    return { type: "deadline", at, message };
  };
}

/** Performs a command of the engine. Its results come back as events. */
function createPerform(
  run: RunParts,
  { dispatch, fail }: RunHooks,
  leave: LeavePlan,
): (command: Command) => void {
  const { claim, store, calls, timers, heldOutputs, largeJson, metrics } = run;
  const record = createRecordResults(run, { dispatch, fail });
  return (command) => {
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
            (outputs) => {
              metrics.outputsRead(command.bytes);
              dispatch({ type: "loaded", id: command.id, outputs, at: store.now() });
            },
          )
          .catch(fail);
        return;
      case "ask":
        heldOutputs
          .load(
            command.question.bytes,
            () => largeJson.answer(command.question),
            (answer) => dispatch({ type: "answered", id: command.id, answer, at: store.now() }),
          )
          .catch(fail);
        return;
      case "timer":
        timers.wakeAt(command.at, () => dispatch({ type: "timer", at: store.now() }));
        return;
      case "park":
        leave.park(command).catch(fail);
        return;
      case "finish":
        leave.finish(command).catch(fail);
        return;
    }
  };
}

/** Reports the start of the run to the engine, and from then on the deadline and controls. */
function begin(
  { claim, store, phases, timers }: RunParts,
  { dispatch, fail }: Pick<RunHooks, "dispatch" | "fail">,
  deadlineEvent: () => EngineEvent,
): void {
  const { plan, journal } = claim;
  const controlEvents = createControlEvents(claim);

  if (plan.deadlineAt) timers.wakeAt(plan.deadlineAt.getTime(), () => dispatch(deadlineEvent()));
  journal.onControl(() => {
    if (!phases.isBefore("leaving")) return;
    const arrived = controlEvents(store.now());
    // They become durable also when nothing else is written.
    if (journal.asked().length > 0) void store.writeNoted(claim).catch(fail);
    // A resume is left to the executor that claims the plan next.
    dispatch(phases.now() === "handing over" ? arrived.filter(({ type }) => type !== "resume") : arrived);
  });
  // A cancel or pause must be dispatched before the plan can start anything; other controls need the state
  // after the start.
  const controls = controlEvents(store.now());
  const isEarly = ({ type }: EngineEvent): boolean => type === "cancel" || type === "pause";
  dispatch([
    ...controls.filter(isEarly),
    { type: "started", at: store.now() },
    ...controls.filter((control) => !isEarly(control)),
  ]);
}

/** Logs, counts and traces why a run ended without writing anything more. */
function reportFailure(
  error: unknown,
  { metrics, trace, logger }: Pick<RunParts, "metrics" | "trace" | "logger">,
): void {
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

/** The command of the engine to record results. */
type RecordCommand = Extract<Command, { type: "record" }>;

/**
 * Writes results and reports them to the engine. Results of reads are reported early, before they are
 * durable: anything that depends on them is written after them, or is a read that a crash repeats together
 * with them (R2).
 *
 * A step begins to wait for approval only when something would be called: otherwise its calls are carried over.
 */
function createRecordResults(
  { claim, store, calls, pending, phases, planLog, planMetrics }: RunParts,
  { dispatch, fail }: Pick<RunHooks, "dispatch" | "fail">,
): (command: RecordCommand) => Promise<void> {
  /** Queued as a microtask, so that the commands of this turn are performed before those of the next one. */
  function reportEarly(keys: readonly string[], sizes: ReadonlyMap<string, number>): void {
    queueMicrotask(() => void inTurns(keys, async (some) => acknowledge(some, sizes, true)));
  }

  function acknowledge(keys: readonly string[], sizes: ReadonlyMap<string, number>, isEarly = false): void {
    dispatch({ type: "recorded", keys, sizes, isEarly, at: store.now() });
  }

  /**
   * Many results, such as those of a batch, become durable in parts: after a crash the units of the other parts
   * are still RUNNING, and their call is settled by its class. The engine starts no further call for these units
   * meanwhile. The items of a list that begins are one part, and so are those that end without a call: they are one
   * event.
   */
  async function write(changed: readonly StepRecord[], isRepeatable: boolean): Promise<void> {
    if (changed.length > MAX_AT_ONCE) await freeLoop();
    const begins = changed.some(({ item, status }) => item === undefined && status === "RUNNING");
    if (begins || changed.length <= MAX_AT_ONCE) return writePart(changed, isRepeatable);
    const lists = groupBy(changed.filter(isNotCalled), ({ stepId }) => stepId);
    const results = changed.filter((record) => !isNotCalled(record));
    await inTurns(results, (some) => writePart(some, isRepeatable));
    for (const items of lists.values()) {
      await writePart(items, isRepeatable);
      await freeLoop();
    }
  }

  async function writePart(changed: readonly StepRecord[], isRepeatable: boolean): Promise<void> {
    if (!phases.isBefore("ended")) return;
    const keys = changed.map(({ key }) => key);
    const { records, ends } = pending.toWrite(changed);
    const report = (sizes: ReadonlyMap<string, number>): Promise<void> =>
      inTurns(changed, async (some) => {
        planMetrics.recorded(some);
        planLog.recorded(some);
        acknowledge(
          some.map(({ key }) => key),
          sizes,
        );
      });
    const noted = isRepeatable
      ? store.noteRecords(claim, records, ends, () => noted && void report(noted).catch(fail))
      : undefined;
    if (!noted) return report(await store.writeRecords(claim, records, ends));
    reportEarly(keys, noted);
    pending.writeSoon();
  }

  return async ({ records, isRepeatable, toApprove = [] }) => {
    const byStep = groupBy(toApprove, ({ stepId }) => stepId);
    const compared = [...byStep].filter(([, asked]) => asked.every(calls.mayRepeat));
    if (compared.length === 0) return write(records, isRepeatable);
    const ids = new Set(compared.map(([stepId]) => stepId));
    const others = records.filter(({ key }) => !ids.has(key));
    const approvals = compared.map(async ([stepId, asked]) => {
      if (await calls.areDone(asked)) dispatch({ type: "approval.unneeded", stepId, at: store.now() });
      else
        await write(
          records.filter(({ key }) => key === stepId),
          false,
        );
    });
    await Promise.all([...(others.length > 0 ? [write(others, isRepeatable)] : []), ...approvals]);
  };
}

/** True for an item that ends because its list or its plan was stopped. */
function isNotCalled({ item, status }: StepRecord): boolean {
  return item !== undefined && (status === "CANCELLED" || status === "SKIPPED");
}

/** Does something with all elements, with few of them in one turn of the event loop. */
async function inTurns<Each>(
  all: readonly Each[],
  act: (some: readonly Each[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < all.length; from += MAX_AT_ONCE) {
    if (from > 0) await freeLoop();
    await act(all.slice(from, from + MAX_AT_ONCE));
  }
}

type CommandOf<Type extends Command["type"]> = Extract<Command, { type: Type }>;

/** The two ways in which a run leaves its plan in order. */
interface LeavePlan {
  /** Writes the end of the plan. */
  finish(command: CommandOf<"finish">): Promise<void>;
  /** Releases the plan, unless it has something to do soon. */
  park(command: CommandOf<"park">): Promise<void>;
}

/** A plan that has nothing to do for longer than this is released, in milliseconds. */
const RELEASE_AFTER_MS = 5_000;

/** @param end - ends the run; called when everything is written */
function createLeavePlan(run: RunParts, end: () => void): LeavePlan {
  const { claim, store, phases, pending, planLimits, planLog, planMetrics, trace, logger } = run;

  async function release(to: Parameters<ExecutionStore["releasePlan"]>[1]): Promise<void> {
    phases.enter("leaving");
    await store.releasePlan(claim, to);
  }

  return {
    async finish(command) {
      const { isForPlanner } = await store.finishPlan(claim, command, pending.toWrite(command.records));
      const { requestId, tenant, priority } = claim.plan;
      if (isForPlanner) run.offerPlanning?.({ _id: requestId, tenant, priority });
      planMetrics.recorded(command.records);
      planMetrics.ended(command);
      trace?.ended(command.status, failureOf(command));
      planLog.recorded(command.records);
      planLog.ended(command);
      end();
    },

    async park({ reason, status, until: at }) {
      const isPeople = isForPerson(reason);
      const until = (reason === "limit" ? planLimits?.releaseUntil() : undefined) ?? at ?? null;
      if (phases.now() === "handing over") {
        await release({ status: "QUEUED" });
        trace?.ended("handed over");
        // A plan that waits for a person is always released: that stops the clock of its deadline.
      } else if (!isPeople && until !== null && until - store.now() <= RELEASE_AFTER_MS) return;
      else {
        await release({ status, reason, dueAtMs: until });
        trace?.ended(status);
        const dueAt = until === null ? null : new Date(until).toISOString();
        logger.info({ reason, until: dueAt }, "plan waits");
      }
      end();
    },
  };
}

/** The code of a plan that failed; null for every other plan. */
function failureOf({ status, error }: FinishCommand): string | null {
  return error?.code ?? (status === "FAILED" ? "PLAN_FAILED" : null);
}
