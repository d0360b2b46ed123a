import {
  CodedError,
  type Diagnostic,
  digitsOf,
  type FinalPlanStatus,
  isTerminalStepStatus,
  type JsonValue,
  type LimitsInput,
  mapExact,
  type PolicyInput,
  parsePlan,
  readTool,
  type StepStatus,
  type ToolDescriptor,
  type WaitReason,
} from "@planwright/plan";
import { createEngineState } from "../decide/create-engine-state.ts";
import { decide } from "../decide/decide.ts";
import { unitViews } from "../decide/views.ts";
import type { EngineState } from "../state/engine-state.ts";
import type { Call, Command, EngineEvent, Resolution, StepError, StepRecord } from "../state/protocol.ts";
import { unitKeysOf } from "../state/units.ts";
import { type Clock, createSystemClock } from "./clock.ts";
import { type CallTool, makeCall, type RunningCall } from "./make-call.ts";

/** How a plan is run in memory. */
export interface RunPlanOptions extends CallerDecisions {
  /**
   * The catalogue: names, input schemas, annotations and contracts. A descriptor without `server` is trusted
   * by default: the program itself defines it.
   */
  tools: readonly ToolDescriptor[];
  /**
   * Makes one call. An exception or an MCP result with `isError` is a failure; the README lists the fields of
   * an exception.
   */
  callTool: CallTool;
  /** Overrides the policy of the plan. */
  policy?: PolicyInput | undefined;
  limits?: LimitsInput | undefined;
  /** Cancels: nothing new starts, running calls see their signal. */
  signal?: AbortSignal | undefined;
  onEvent?: ((event: RunEvent) => void) | undefined;
  /** Default: the system clock. */
  clock?: Clock | undefined;
  /** Uniform in [0, 1), for the jitter of retries. Default `Math.random`. */
  random?: (() => number) | undefined;
  /** Timeout of the plan, in milliseconds. Default: none. */
  deadlineMs?: number | undefined;
  /**
   * The durable state by unit key. The run begins with it and keeps it up to date, intents of calls included: a
   * run that was stopped at any moment continues in another `runPlan` with the same map. Default: a new one.
   */
  records?: Map<string, StepRecord> | undefined;
  /** Expected duration of a step in milliseconds, for the longest remaining path. */
  expectedMs?: ((stepId: string) => number) | undefined;
}

/** How one step, or one item, ended. */
export interface StepResult {
  status: StepStatus;
  attempts: number;
  warnings: readonly string[];
  output?: JsonValue;
  error?: StepError;
  /** One for each item of a forEach, in input order. */
  items?: StepResult[];
}

/** How a plan ended. A number that a double would change is the text of its digits in outputs. */
export interface RunResult {
  status: FinalPlanStatus;
  /** By step id, in plan order. */
  steps: { [stepId: string]: StepResult };
  /** The requested outputs that exist, by default of all completed steps. */
  outputs: { [stepId: string]: JsonValue };
  error?: StepError;
}

/**
 * Runs a plan in memory, with the same `decide()` as the durable executor. Resolves when every step has its
 * last state and no call is running. Failed steps are part of the result, not an exception.
 * @param plan - any dialect that `parsePlan` reads
 * @throws {PlanInvalidError} before any call, with all diagnostics
 */
export async function runPlan(plan: unknown, options: RunPlanOptions): Promise<RunResult> {
  const { policy, limits } = options;
  const tools = options.tools.map(readTool).map(trustByDefault);
  const parsed = parsePlan(plan, {
    tools,
    ...(policy ? { policy } : {}),
    ...(limits ? { limits } : {}),
  });
  if (!parsed.ok) throw new PlanInvalidError(parsed.diagnostics);
  const { expectedMs } = options;
  const largeBytes = Number.POSITIVE_INFINITY; // there is no other thread
  const records = [...(options.records?.values() ?? [])];
  const state = createEngineState({ plan: parsed.plan, tools, records, expectedMs, largeBytes });
  const finish = await drive(state, options);
  return {
    status: finish.status,
    steps: resultsOf(state),
    outputs: mapExact(finish.outputs ?? {}, digitsOf),
    ...(finish.error ? { error: finish.error } : {}),
  };
}

function trustByDefault(tool: ToolDescriptor): ToolDescriptor {
  const hasNoServer = tool.server === undefined && tool.trusted === undefined;
  return hasNoServer ? { ...tool, trusted: true } : tool;
}

type Finish = Extract<Command, { type: "finish" }>;

/** Passes events to the engine and executes its commands, until the plan has ended. */
function drive(state: EngineState, options: RunPlanOptions): Promise<Finish> {
  const { clock = createSystemClock(), random = Math.random, signal, onEvent, records = new Map() } = options;
  const inbox: EngineEvent[] = [];
  const calls = new Map<string, RunningCall>();
  const timers = new Set<() => void>();
  let isScheduled = false;

  return new Promise((resolve, reject) => {
    const onAbort = () => post({ type: "cancel", at: clock.now(), reason: "The run was cancelled" });
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    if (options.deadlineMs !== undefined) setTimer(clock.now() + options.deadlineMs, "deadline");
    post({ type: "started", at: clock.now() });
    for (const one of records.values()) decisionOf(one);

    /** Events of one instant are decided together, so that the highest-ranked of all ready steps start. */
    function post(event: EngineEvent): void {
      inbox.push(event);
      if (isScheduled) return;
      isScheduled = true;
      clock.soon(drain);
    }

    function drain(): void {
      try {
        while (inbox.length > 0) {
          for (const command of decide(state, inbox.splice(0))) execute(command);
        }
      } catch (error) {
        for (const call of calls.values()) call.abort();
        end();
        reject(error instanceof Error ? error : new TypeError(String(error)));
      } finally {
        isScheduled = false;
      }
    }

    function end(): void {
      signal?.removeEventListener("abort", onAbort);
      for (const cancelTimer of timers) cancelTimer();
    }

    function setTimer(at: number, type: "timer" | "deadline"): void {
      const cancelTimer = clock.at(at, () => {
        timers.delete(cancelTimer);
        post({ type, at: clock.now() });
      });
      timers.add(cancelTimer);
    }

    function execute(command: Command): void {
      switch (command.type) {
        case "record":
          emitChanges(command.records);
          record(command.records);
          return;
        case "call":
          call(command.call);
          return;
        case "abort":
          calls.get(command.key)?.abort();
          return;
        case "timer":
          setTimer(command.at, "timer");
          return;
        case "load":
        case "ask":
          return; // never comes: all outputs stay in memory here, as values, and nothing is large
        case "park":
          onEvent?.({ type: "plan.parked", reason: command.reason, at: clock.now() });
          return; // a timer, an approval or a resolution will follow
        case "finish":
          end();
          for (const one of command.records) records.set(one.key, one);
          emitChanges(command.records);
          onEvent?.({ type: "plan.finished", status: command.status, at: clock.now() });
          resolve(command);
          return;
      }
    }

    function call(next: Extract<Command, { type: "call" }>["call"]): void {
      for (const one of intentsOf(next, records)) records.set(one.key, one);
      onEvent?.({ type: "call.started", call: next, at: clock.now() });
      const running = makeCall({
        call: next,
        callTool: next.verify ? cannotVerify : options.callTool,
        clock,
        done: (outcome) => {
          calls.delete(next.key);
          const { key, attempt } = next;
          post({ type: "attempt.ended", key, attempt, outcome, at: clock.now(), random: random() });
        },
      });
      calls.set(next.key, running);
    }

    function emitChanges(records: readonly StepRecord[]): void {
      if (onEvent) for (const one of records) onEvent({ type: "step.changed", record: one, at: clock.now() });
    }

    function record(changed: readonly StepRecord[]): void {
      inbox.push({ type: "recorded", keys: changed.map(({ key }) => key), at: clock.now() });
      for (const one of changed) {
        records.set(one.key, one);
        decisionOf(one);
      }
    }

    function decisionOf(one: StepRecord): void {
      const needsDecision = one.status === "WAITING_APPROVAL" || one.status === "IN_DOUBT";
      if (needsDecision) void askForDecision(one, options, () => clock.now()).then(post);
    }
  });
}

/** The durable intent of a call, known before it is sent: each of its units that has not ended is RUNNING. */
function intentsOf(call: Call, records: ReadonlyMap<string, StepRecord>): StepRecord[] {
  const { stepId, attempt, items } = call;
  return unitKeysOf(call).flatMap((key, index) => {
    const before = records.get(key);
    if (before && isTerminalStepStatus(before.status)) return [];
    return {
      ...before,
      key,
      stepId,
      ...(items && { item: items[index] }),
      status: "RUNNING" as const,
      attempts: attempt,
      ...(call.mayAct && { mayHaveActed: true }),
      // Of the state before: why and until when it waited.
      error: undefined,
      waitReason: undefined,
      nextAttemptAt: undefined,
      expiresAt: undefined,
      arguments: undefined,
    };
  });
}

/** A run in memory asks no lookup tool: such a call stays in doubt. */
function cannotVerify(): never {
  const hints = { code: "TOOL_CONNECTION_LOST", effect: "unknown", retryable: false };
  throw Object.assign(
    new TypeError("The answer was lost, and no lookup tool was asked whether the call happened"),
    hints,
  );
}

function resultsOf(state: EngineState): RunResult["steps"] {
  const steps: RunResult["steps"] = {};
  for (const view of unitViews(state)) {
    const { status, attempts, warnings, output, error } = view;
    const result: StepResult = {
      status,
      attempts,
      warnings,
      ...(output === undefined ? {} : { output: mapExact(output, digitsOf) }),
      ...(error ? { error } : {}),
    };
    const step = steps[view.stepId];
    if (view.item === undefined) steps[view.stepId] = result;
    else if (step) (step.items ??= []).push(result);
  }
  return steps;
}

/* In the durable executor an operator decides; in memory functions of the caller of `runPlan` decide. */

/** Functions of the caller that decide. */
interface CallerDecisions {
  /**
   * Called before a call that needs approval; `arguments` of the record are the arguments that will be sent.
   * Default: such calls are refused.
   */
  approve?: ((record: StepRecord) => boolean | Promise<boolean>) | undefined;
  /**
   * Settles a call whose effect is unknown. Default: such a step is FAILED, because nothing else would settle
   * it.
   */
  settleInDoubt?: ((record: StepRecord) => Resolution | Promise<Resolution>) | undefined;
}

/**
 * Asks the caller to approve a step or to settle a call in doubt. Never rejects: when the function throws,
 * the call is refused or the step in doubt is FAILED.
 * @param now - time of the run's clock, in Unix milliseconds
 */
async function askForDecision(
  record: StepRecord,
  decisions: CallerDecisions,
  now: () => number,
): Promise<EngineEvent> {
  const isInDoubt = record.status === "IN_DOUBT";
  try {
    return isInDoubt ? await resolutionOf(record, decisions, now) : await approvalOf(record, decisions, now);
  } catch (error) {
    const { message } = error instanceof Error ? error : new TypeError(String(error));
    const at = now();
    if (!isInDoubt) return { type: "approval", stepId: record.stepId, approved: false, reason: message, at };
    const failure: StepError = { code: "TOOL_FAILED", message, retryable: false };
    return { type: "resolve", key: record.key, resolution: { type: "failed", error: failure }, at };
  }
}

async function approvalOf(
  record: StepRecord,
  { approve }: CallerDecisions,
  now: () => number,
): Promise<EngineEvent> {
  const { stepId } = record;
  const approved = approve ? await approve(record) : false;
  const reason = approve ? undefined : `Step '${stepId}' needs approval, and no approve() was passed`;
  return { type: "approval", stepId, approved, reason, at: now() };
}

async function resolutionOf(
  record: StepRecord,
  { settleInDoubt }: CallerDecisions,
  now: () => number,
): Promise<EngineEvent> {
  const error = record.error ?? {
    code: "TOOL_CONNECTION_LOST",
    message: "The answer was lost",
    retryable: false,
  };
  const resolution = settleInDoubt ? await settleInDoubt(record) : ({ type: "failed", error } as const);
  return { type: "resolve", key: record.key, resolution, at: now() };
}

/** The plan is invalid; the diagnostics say why. Nothing was called. */
export class PlanInvalidError extends CodedError<{ diagnostics: readonly Diagnostic[] }> {
  readonly code = "PLAN_INVALID";
  readonly retryable = false;
  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter((diagnostic) => diagnostic.severity === "error");
    super(`The plan is invalid: ${errors.map((error) => error.message).join("; ") || "no reason given"}`, {
      diagnostics,
    });
  }
}

/** Events of a running plan, in order. Times are in Unix milliseconds of the run's clock. */
export type RunEvent =
  | { type: "call.started"; call: Call; at: number }
  /** A step or item has a new state. */
  | { type: "step.changed"; record: StepRecord; at: number }
  /** Nothing runs and nothing can start: the plan waits for a time, or for a decision. */
  | { type: "plan.parked"; reason: WaitReason; at: number }
  | { type: "plan.finished"; status: FinalPlanStatus; at: number };
