import {
  type FinalPlanStatus,
  type JsonValue,
  type LimitsInput,
  type PolicyInput,
  parsePlan,
  type StepStatus,
  type ToolDescriptor,
} from "@planwright/plan";
import { createEngineState } from "../decide/create-engine-state.ts";
import { decide } from "../decide/decide.ts";
import { unitViews } from "../decide/views.ts";
import type { EngineState } from "../state/engine-state.ts";
import type { Command, EngineEvent, StepError, StepRecord } from "../state/protocol.ts";
import { askCaller, type CallerAnswers } from "./ask-caller.ts";
import { type Clock, createSystemClock } from "./clock.ts";
import { PlanInvalidError } from "./errors.ts";
import { type CallTool, makeCall, type RunningCall } from "./make-call.ts";
import type { RunEvent } from "./run-event.ts";

/** How a plan is run in memory. */
export interface RunPlanOptions extends CallerAnswers {
  /**
   * The catalogue: names, input schemas, annotations and contracts. A descriptor that names no `server` is
   * the program's own word and trusted unless it says otherwise.
   */
  tools: readonly ToolDescriptor[];
  /**
   * Makes one call. An exception or an MCP result with `isError` is a failure; see README for what an
   * exception may say.
   */
  callTool: CallTool;
  /** Wins over what the plan says. */
  policy?: PolicyInput | undefined;
  limits?: LimitsInput | undefined;
  /** Cancels: nothing new starts, running calls see their signal. */
  signal?: AbortSignal | undefined;
  onEvent?: ((event: RunEvent) => void) | undefined;
  /** Default: the machine's. */
  clock?: Clock | undefined;
  /** Uniform in [0, 1), for the jitter of retries. Default `Math.random`. */
  random?: (() => number) | undefined;
  /** Longest the whole plan may take, in milliseconds; default none. */
  deadlineMs?: number | undefined;
  /** Expected duration of a step in milliseconds, for longest remaining path first. */
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

/** How a plan ended. */
export interface RunResult {
  status: FinalPlanStatus;
  /** By step id, in plan order. */
  steps: { [stepId: string]: StepResult };
  /** Outputs of the requested steps, or of all, that completed. */
  outputs: { [stepId: string]: JsonValue };
  error?: StepError;
}

/**
 * Runs a plan in memory, over the same `decide()` as the durable executor. Resolves when every step has its
 * last state and no call is under way; failing steps are part of the result, not an exception.
 * @param plan - any dialect that `parsePlan` reads
 * @throws {PlanInvalidError} before any call, with all diagnostics
 */
export async function runPlan(plan: unknown, options: RunPlanOptions): Promise<RunResult> {
  const { policy, limits } = options;
  const tools = options.tools.map(trustOwn);
  const parsed = parsePlan(plan, {
    tools,
    ...(policy ? { policy } : {}),
    ...(limits ? { limits } : {}),
  });
  if (!parsed.ok) throw new PlanInvalidError(parsed.diagnostics);
  const state = createEngineState({ plan: parsed.plan, tools, expectedMs: options.expectedMs });
  const finish = await drive(state, options);
  return {
    status: finish.status,
    steps: resultsOf(state),
    outputs: finish.outputs ?? {},
    ...(finish.error ? { error: finish.error } : {}),
  };
}

function trustOwn(tool: ToolDescriptor): ToolDescriptor {
  const isOwn = tool.server === undefined && tool.trusted === undefined;
  return isOwn ? { ...tool, trusted: true } : tool;
}

type Finish = Extract<Command, { type: "finish" }>;

/** Feeds events to the engine and carries its commands out, until the plan has ended. */
function drive(state: EngineState, options: RunPlanOptions): Promise<Finish> {
  const { clock = createSystemClock(), random = Math.random, signal, onEvent } = options;
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

    /** Events of one instant are decided on together, so that the best of all ready steps start. */
    function post(event: EngineEvent): void {
      inbox.push(event);
      if (isScheduled) return;
      isScheduled = true;
      clock.soon(drain);
    }

    function drain(): void {
      try {
        while (inbox.length > 0) {
          for (const command of decide(state, inbox.splice(0))) carryOut(command);
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
      for (const takeBack of timers) takeBack();
    }

    function setTimer(at: number, type: "timer" | "deadline"): void {
      const takeBack = clock.at(at, () => {
        timers.delete(takeBack);
        post({ type, at: clock.now() });
      });
      timers.add(takeBack);
    }

    function carryOut(command: Command): void {
      switch (command.type) {
        case "record":
          tell(command.records);
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
          return; // never comes: nothing leaves memory here
        case "park":
          return; // a timer, an approval or a settlement is on its way
        case "finish":
          end();
          tell(command.records);
          onEvent?.({ type: "plan.finished", status: command.status, at: clock.now() });
          resolve(command);
          return;
      }
    }

    function call(one: Extract<Command, { type: "call" }>["call"]): void {
      onEvent?.({ type: "call.started", call: one, at: clock.now() });
      const running = makeCall({
        call: one,
        callTool: one.verify ? cannotVerify : options.callTool,
        clock,
        done: (outcome) => {
          calls.delete(one.key);
          const { key, attempt } = one;
          post({ type: "attempt.ended", key, attempt, outcome, at: clock.now(), random: random() });
        },
      });
      calls.set(one.key, running);
    }

    function tell(records: readonly StepRecord[]): void {
      if (onEvent) for (const one of records) onEvent({ type: "step.changed", record: one, at: clock.now() });
    }

    function record(records: readonly StepRecord[]): void {
      inbox.push({ type: "recorded", keys: records.map(({ key }) => key), at: clock.now() });
      for (const one of records) {
        const asks = one.status === "WAITING_APPROVAL" || one.status === "IN_DOUBT";
        if (asks) void askCaller(one, options, () => clock.now()).then(post);
      }
    }
  });
}

/** In memory no lookup tool is asked: such a call stays in doubt. */
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
      ...(output === undefined ? {} : { output }),
      ...(error ? { error } : {}),
    };
    const step = steps[view.stepId];
    if (view.item === undefined) steps[view.stepId] = result;
    else if (step) (step.items ??= []).push(result);
  }
  return steps;
}
