/**
 * The shell around `decide()` for one claimed plan: it performs commands and reports what happened, and decides nothing.
 *
 * 1. No call starts before its intent is durable, unless a repeat does no harm (class R).
 * 2. No call starts later than this process's last heartbeat allows, by its monotonic clock: it waits for the next one.
 * 3. The engine hears of a record only after MongoDB acknowledged it, but for results of reads: what builds on those is written behind them, or
 *    is a read that a crash repeats with them (R2).
 * 4. An executor that lost the lease, or the database, aborts its calls and writes nothing more.
 * 5. No call that needs approval starts unless it is what was approved.
 * 6. No call goes to a tool that has changed since the plan was made, by what its server lists when the call is sent; nor does a secret.
 */
import { createHash } from "node:crypto";
import {
  type Call,
  type Command,
  createEngineState,
  decide,
  type EngineEvent,
  heldBytesOf,
  isUnansweredLookup,
  isUnreachable,
  type Outcome,
  type StepError,
  type StepRecord,
  unitKeysOf,
} from "@planwright/engine";
import { CodedError, type JsonValue, type RequestId, type ToolDescriptor } from "@planwright/plan";
import type { Place, ToolLimits } from "@planwright/queue";
import type { Liveness, Logger } from "@planwright/runtime";
import {
  type AttemptEnd,
  type ExecutionStore,
  type FinishCommand,
  type Intent,
  type LastRecords,
  LeaseLostError,
  type PlanClaim,
  StoreUnavailableError,
} from "@planwright/store";
import type { Clearance, ToolClients } from "@planwright/tools";
import { createApprovals } from "./approvals.ts";
import { askLookup } from "./ask-lookup.ts";
import { createControlEvents } from "./control-events.ts";
import { NO_METRICS, type RunMetrics } from "./metrics/run-metrics.ts";
import type { OutputRecorder } from "./observed-outputs/output-recorder.ts";
import { createOutputMemory, type OutputMemory } from "./output-memory.ts";
import { createPlanLog } from "./plan-log.ts";
import type { PlanTools } from "./plan-tools.ts";
import { redactedOutcome } from "./redacted-outcome.ts";
import { createRunClock, type RunClock } from "./run-clock.ts";
import { createSecrets, type Secrets } from "./secrets/secrets.ts";
import { createPlanLimits } from "./tool-limits.ts";
import type { AttemptTrace, PlanTrace } from "./tracing/run-traces.ts";

/** What a run needs. */
export interface PlanRunParts {
  claim: PlanClaim;
  /** The plan's tools, with their contracts and schemas. */
  planTools: PlanTools;
  /** The catalogue as it stands this moment: what approved calls are compared with. */
  readCatalogueNow: () => Promise<readonly ToolDescriptor[]>;
  store: ExecutionStore;
  tools: Pick<ToolClients, "callTool">;
  /** What plans name as `secret://name`. Default: none. */
  secrets?: Secrets | undefined;
  /** Limits of tools over all executors. Default: none are held. */
  limits?: ToolLimits | undefined;
  /** Outputs in memory of all plans of this process. Default: one of its own. */
  outputMemory?: OutputMemory | undefined;
  /** Learns what outputs look like. Default: nothing is learned. */
  outputs?: Pick<OutputRecorder, "note"> | undefined;
  /** Hints that a request waits for a planner; the planners' sweepers find it in any case. Default: none are sent. */
  offerPlanning?: ((requestId: RequestId) => void) | undefined;
  /** Most that a step may ask for as its timeoutMs, in milliseconds. Default: the engine's. */
  maxStepTimeoutMs?: number | undefined;
  /** How long this process may start calls. */
  liveness: Liveness;
  logger: Logger;
  /** Default: the platform's. */
  clock?: RunClock | undefined;
  /** Default: nothing is counted. */
  metrics?: RunMetrics | undefined;
  /** Default: nothing is traced. */
  trace?: PlanTrace | undefined;
}

/** One plan under way in this process. */
export interface PlanRun {
  /** Resolves when the plan is over, released or lost; never rejects. */
  done: Promise<void>;
  /** True once it was given up because the lease was gone, or the database. */
  isLost(): boolean;
  /** Starts nothing new, lets running calls end, gives the plan back. */
  handOver(): void;
  /** The lease is gone: abort and write nothing more. */
  lose(): void;
}

/** A plan that can only wait longer than this is released, in milliseconds. */
const RELEASE_AFTER_MS = 5_000;
/** A call starts only this long before other workers may declare this process dead, in milliseconds. */
const LIVENESS_MARGIN_MS = 500;
/** How long a call that may be repeated goes on before it is written as RUNNING, in milliseconds. */
const SHOW_RUNNING_AFTER_MS = 50;
/** The longest delay that `setTimeout` takes. */
const MAX_TIMER_MS = 2_147_483_647;

/** Starts working on a claimed plan. */
export function startPlanRun(parts: PlanRunParts): PlanRun {
  const { claim, planTools, store, tools, logger, clock = createRunClock(), metrics = NO_METRICS } = parts;
  const { trace, liveness } = parts;
  const { plan } = claim;
  const { catalogue, refusals } = planTools;
  const { outputMemory = createOutputMemory() } = parts;
  const state = createEngineState({
    plan: plan.plan,
    tools: catalogue,
    refusals,
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
  const secrets = (parts.secrets ?? createSecrets()).ofPlan(plan);
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
  const controllers = new Map<string, AbortController>();
  /** Of each unit, how its attempts ended since it was last written: a look-up follows a lost answer without a write between. */
  const ends = new Map<string, AttemptEnd[]>();
  /** What the attempt under way of a unit tells of its tool, until it is written. */
  const toolWarnings = new Map<string, string>();
  /** Changes of tools that were logged. */
  const loggedChanges = new Set<string>();
  /** What takes each timer under way back. */
  const timers = new Set<() => void>();
  let isOver = false;
  let isLost = false;
  let isHandingOver = false;
  /** The plan is being given back: the executor that claims it next hears what comes from now on. */
  let isLeaving = false;
  let isShowing = false;
  let resolveDone: () => void = () => {};
  const done = new Promise<void>((resolve) => {
    resolveDone = resolve;
  });

  function end(): void {
    isOver = true;
    for (const takeBack of timers) takeBack();
    for (const controller of controllers.values()) controller.abort();
    planLimits?.end();
    heldOutputs.leave();
    resolveDone();
  }

  /** Anything unexpected ends this run without a write: this process gives the plan up (`lease-keeper.ts`), and an executor goes on. */
  function fail(error: unknown): void {
    if (isOver) return;
    isLost = error instanceof LeaseLostError || error instanceof StoreUnavailableError;
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
    end();
  }

  function dispatch(event: EngineEvent | EngineEvent[]): void {
    if (isOver || isLeaving || (Array.isArray(event) && event.length === 0)) return;
    const events = Array.isArray(event) ? event : [event];
    const at = store.now();
    // Said again it changes nothing; but in a process that stood still other news come before the timer.
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
      case "record": {
        const keys = command.records.map((record) => record.key);
        const { records, ends: ended } = toWrite(command.records);
        const noted = command.isRepeatable ? store.noteRecords(claim, records, ended) : undefined;
        if (noted) tellAhead(keys, noted);
        const written = noted
          ? store.writeNoted(claim).then(() => noted)
          : store.writeRecords(claim, records, ended);
        written
          .then((sizes) => {
            for (const { status } of command.records) if (status === "IN_DOUBT") metrics.inDoubt();
            planLog.recorded(command.records);
            dispatch({ type: "recorded", keys, sizes, at: store.now() });
          })
          .catch(fail);
        return;
      }
      case "call":
        makeCall(command.call).catch(fail);
        return;
      case "abort":
        controllers.get(command.key)?.abort(command.reason);
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
        wakeAt(command.at, () => dispatch({ type: "timer", at: store.now() }));
        return;
      case "park":
        park(command).catch(fail);
        return;
      case "finish":
        store
          .finishPlan(claim, command, toWrite(command.records))
          .then(({ isForPlanner }) => {
            if (isForPlanner) parts.offerPlanning?.(plan.requestId);
            metrics.ended(command.status);
            trace?.ended(command.status, failureOf(command));
            planLog.recorded(command.records);
            planLog.ended(command);
          })
          .then(end)
          .catch(fail);
        return;
    }
  }

  /** Once the commands of this turn are performed: those of the next one come behind them. */
  function tellAhead(keys: readonly string[], sizes: ReadonlyMap<string, number>): void {
    queueMicrotask(() => dispatch({ type: "recorded", keys, sizes, isAhead: true, at: store.now() }));
  }

  /** Records, with how the attempts ended that they follow from. */
  function toWrite(changed: readonly StepRecord[]): LastRecords {
    const ended = takeEnds(changed.map(({ key }) => key));
    const records = changed.map((record) => approvals.toUnitRecord(withToolWarning(record)));
    return { records, ends: ended };
  }

  /** How attempts of these units ended, of which nothing was written so far. */
  function takeEnds(keys: readonly string[]): AttemptEnd[] {
    const ended = keys.flatMap((key) => ends.get(key) ?? []);
    for (const key of keys) ends.delete(key);
    return ended;
  }

  function withToolWarning(record: StepRecord): StepRecord {
    const warning = toolWarnings.get(record.key);
    if (warning === undefined) return record;
    toolWarnings.delete(record.key);
    return { ...record, warnings: [...new Set([...(record.warnings ?? []), warning])].toSorted() };
  }

  async function makeCall(call: Call): Promise<void> {
    const controller = new AbortController();
    controllers.set(call.key, controller);
    const refusal = call.approvable && !call.verify ? await approvals.refusalOf(call) : null;
    if (refusal) return answer(call, { type: "failed", effect: "none", error: refusal });
    const entering = planLimits?.enter(call);
    if (!entering) return attempt(call, controller.signal);
    const entry = await entering;
    if (entry.type === "deferred") return answer(call, entry);
    try {
      if (controller.signal.aborted) return answer(call, { type: "aborted" });
      await attempt(call, controller.signal, entry.place);
    } finally {
      entry.place.release();
    }
  }

  /** @param place - the call's place under a limit beyond the plan */
  async function attempt(call: Call, signal: AbortSignal, place?: Place): Promise<void> {
    const attemptId = clock.id();
    const intent = { call, attemptId, argsHash: hashOf(call.arguments) };
    // Of the same units: what is told next would stand before their ends otherwise. Items that are over stay as they are.
    const isOpen = (key: string): boolean => !claim.journal.unit(key)?.finishedAt;
    const earlier = takeEnds(unitKeysOf(call)).filter(({ key }) => isOpen(key));
    if (call.effectClass === "R" && !call.mayAct) noteIntent(intent, earlier);
    else await store.writeIntents(claim, [intent], earlier);
    if (!(await untilMayCall())) return;
    const startedAt = clock.now();
    if (call.attempt > 1 && !call.verify) metrics.retried();
    const attemptTrace = trace?.attempt(call);
    const outcome = redactedOutcome(await send(call, signal, place, attemptTrace));
    attemptTrace?.ended(describe(call, outcome));
    if (outcome.type === "failed" && outcome.effect === "unknown") place?.abandon();
    if (!isOver) {
      const durationMs = Math.round(clock.now() - startedAt);
      const attemptEnd = { attemptId, endedAtMs: store.now(), durationMs, ...describe(call, outcome) };
      metrics.attempted(call.tool, attemptEnd.outcome, durationMs);
      for (const key of unitKeysOf(call)) ends.set(key, [...(ends.get(key) ?? []), { key, ...attemptEnd }]);
    }
    answer(call, outcome);
    // Its result is on its way by now.
    if (outcome.type === "completed" && !call.verify) noteOutput(call, outcome.output);
  }

  function noteOutput({ tool: name, items }: Call, output: JsonValue): void {
    const tool = planTools.find(name);
    parts.outputs?.note({ tenant: plan.tenant, tool, isItem: items !== undefined, output });
  }

  /** Asked when the connection stands, which may have taken long. */
  async function mayGo(call: Call, place: Place | undefined): Promise<boolean> {
    do {
      if (!(await untilMayCall())) return false;
      if (place && !(await place.confirm())) return false;
    } while (!mayCall());
    return !isOver && (call.settles === true || !isExpired());
  }

  function isExpired(): boolean {
    return plan.deadlineAt !== null && plan.deadlineAt.getTime() <= store.now();
  }

  /** True while no other worker can have taken this plan, as far as this process knows. */
  function mayCall(): boolean {
    return isOwned() && clock.now() <= liveness.validUntil() - LIVENESS_MARGIN_MS;
  }

  /** False once this process was declared dead: it goes on under another name. */
  function isOwned(): boolean {
    return liveness.owner() === claim.owner;
  }

  /** While the database does not answer nothing starts. False when the run is over by then, or the plan is lost. */
  async function untilMayCall(): Promise<boolean> {
    while (!isOver && isOwned() && !mayCall()) await liveness.heard();
    if (!isOwned()) lose();
    return !isOver;
  }

  function lose(): void {
    fail(new LeaseLostError({ id: plan._id, epoch: claim.epoch }));
  }

  /** Tells the engine how a call ended. */
  function answer({ key, attempt }: Call, outcome: Outcome): void {
    controllers.delete(key);
    dispatch({ type: "attempt.ended", key, attempt, outcome, at: store.now(), random: clock.random() });
  }

  /** A short call is written once, with its result; one that takes longer is seen RUNNING. */
  function noteIntent(intent: Intent, earlier: readonly AttemptEnd[]): void {
    store.noteIntents(claim, [intent], earlier);
    if (isShowing) return;
    isShowing = true;
    wakeAt(store.now() + SHOW_RUNNING_AFTER_MS, () => void showRunning().catch(fail));
  }

  async function showRunning(): Promise<void> {
    isShowing = false;
    await store.writeNoted(claim);
  }

  /** The same key over crashes and retries: it names the unit, not the attempt. */
  async function send(
    call: Call,
    signal: AbortSignal,
    place: Place | undefined,
    attemptTrace: AttemptTrace | undefined,
  ): Promise<Outcome> {
    if (signal.aborted) return { type: "aborted" };
    const traced = attemptTrace ? attemptTrace.around(tools) : tools;
    const idempotencyKey = `${callingPlan(call)}/${call.key}`;
    if (call.verify) {
      const callTool: ToolClients["callTool"] = (lookup) =>
        traced.callTool({
          ...lookup,
          beforeSend: (offered) => clear(call, { offered, place, fill: async () => toSend(lookup) }),
        });
      return askLookup({ call, idempotencyKey, planTools, tools: { callTool }, signal, wait });
    }
    const { arguments: args, timeoutMs } = call;
    const address = planTools.addressOf(call.tool);
    const fill = async () => secrets?.fill(call.stepId, { ...address, arguments: args }) ?? toSend(call);
    return traced.callTool({
      ...address,
      arguments: args,
      timeoutMs,
      signal,
      idempotencyKey,
      beforeSend: (offered) => clear(call, { offered, place, fill }),
    });
  }

  /** Asked when the connection stands, in this order: a tool that has changed is not even given a secret to be thrown away. */
  async function clear(
    call: Call,
    parts: { offered: ToolDescriptor; place: Place | undefined; fill: () => Promise<Clearance> },
  ): Promise<Clearance> {
    const refusal = refusalOfTool(call, parts.offered);
    if (refusal) return { type: "failed", effect: "none", error: refusal };
    const clearance = await parts.fill();
    if (clearance.type !== "send") return clearance;
    return (await mayGo(call, parts.place)) ? clearance : { type: "aborted" };
  }

  /** Why a call must not go to a tool as its server lists it now; what changes nothing of that is told. */
  function refusalOfTool(call: Call, offered: ToolDescriptor): StepError | undefined {
    const { tool, verify: isLookup = false } = call;
    const sendsSecrets = !isLookup && (secrets?.areIn(call.stepId, call.arguments) ?? false);
    const { changes, refusal, warning } = planTools.judge({ tool, isLookup, sendsSecrets }, offered);
    if (changes.length === 0) return undefined;
    if (warning !== undefined) for (const key of unitKeysOf(call)) toolWarnings.set(key, warning);
    const change = JSON.stringify([offered.server, offered.name, changes]);
    if (loggedChanges.has(change)) return refusal;
    loggedChanges.add(change);
    const facts = { tool: offered.name, server: offered.server, changes };
    logger.warn(facts, refusal ? "tool has changed, and is not called" : "tool has changed, and is called");
    return refusal;
  }

  /** The plan that first sent this call, if no version since has had an answer to it. */
  function callingPlan(call: Call): string {
    const earlier = claim.journal.unit(call.stepId)?.unanswered ?? [];
    if (earlier.length === 0) return plan._id;
    const keys = new Set(unitKeysOf(call));
    const argsHash = hashOf(call.arguments);
    // A batch is the one that was sent only when it serves the same items, which its arguments show.
    const same = earlier.find((one) => keys.has(one.key) && one.argsHash === argsHash);
    return same?.planId ?? plan._id;
  }

  async function park(command: Extract<Command, { type: "park" }>): Promise<void> {
    const now = store.now();
    const { reason } = command;
    const until = (reason === "limit" ? planLimits?.asideUntil() : undefined) ?? command.until ?? null;
    if (isHandingOver) {
      await giveBack({ status: "QUEUED" });
      trace?.ended("handed over");
    } else if (until !== null && until - now <= RELEASE_AFTER_MS) return;
    else {
      await giveBack({ status: command.status, reason, dueAtMs: until });
      trace?.ended(command.status);
      logger.info({ reason, until }, "plan waits");
    }
    end();
  }

  /** From here on nothing is begun: as soon as MongoDB has it, another executor may hold the plan. */
  async function giveBack(to: Parameters<ExecutionStore["releasePlan"]>[1]): Promise<void> {
    isLeaving = true;
    await store.releasePlan(claim, to);
  }

  /** Waits before another call. */
  function wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      wakeAt(store.now() + ms, resolve);
    });
  }

  /** Not before its time by the store's clock: timers come early, and that clock may be corrected meanwhile. */
  function wakeAt(at: number, then: () => void): void {
    const delay = Math.min(Math.max(0, at - store.now()), MAX_TIMER_MS);
    const takeBack = clock.after(delay, () => {
      timers.delete(takeBack);
      if (store.now() < at) wakeAt(at, then);
      else then();
    });
    timers.add(takeBack);
  }

  if (plan.deadlineAt) {
    wakeAt(plan.deadlineAt.getTime(), () => dispatch({ type: "deadline", at: store.now() }));
  }
  const controlEvents = createControlEvents(claim);

  /** Controls that are new here. Once heard, they do not make the plan due when it is given back. */
  function newControls(): EngineEvent[] {
    plan.controlSeq = Math.max(plan.controlSeq, claim.journal.seq());
    return controlEvents(claim.journal.plan(), store.now());
  }

  claim.journal.onControl(() => {
    if (isOver || isLeaving) return;
    const heard = newControls();
    // The executor that gets the plan next lets it go on.
    dispatch(isHandingOver ? heard.filter(({ type }) => type !== "resume") : heard);
  });
  // A plan that is to end, or to pause, hears so before it would start anything; the other controls need what it knows by then.
  const now = store.now();
  const controls = newControls();
  const isEarly = ({ type }: EngineEvent): boolean => type === "cancel" || type === "pause";
  dispatch([
    ...controls.filter(isEarly),
    { type: "started", at: now },
    ...controls.filter((control) => !isEarly(control)),
  ]);

  return {
    done,
    isLost: () => isLost,
    handOver() {
      isHandingOver = true;
      dispatch({ type: "pause", at: store.now() });
    },
    lose,
  };
}

function toSend({ arguments: args }: Pick<Call, "arguments">): Clearance {
  return { type: "send", arguments: args };
}

function describe(call: Call, outcome: Outcome): Pick<AttemptEnd, "outcome" | "error" | "isUnsent"> {
  switch (outcome.type) {
    case "completed":
      return { outcome: "completed", error: null };
    case "failed":
      return {
        outcome: outcome.effect === "unknown" ? "unknown" : "failed",
        error: outcome.error,
        isUnsent: isUnreachable(outcome) || isUnansweredLookup(call, outcome),
      };
    case "aborted":
    case "deferred":
      return { outcome: "aborted", error: null };
  }
}

/** The code of a plan that came to a bad end; null for every other one. */
function failureOf({ status, error }: FinishCommand): string | null {
  return error?.code ?? (status === "FAILED" ? "PLAN_FAILED" : null);
}

/** SHA-256 of the arguments as they are sent: a retry can be seen to be byte-identical. */
function hashOf(value: object): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
