import type { JsonObject, JsonValue, Plan, PolicyInput, ToolDescriptor } from "@planwright/plan";
import { PlanSchema } from "@planwright/plan";
import {
  type Call,
  type Command,
  createEngineState,
  decide,
  type EngineEvent,
  type EngineInput,
  type EngineState,
  type Outcome,
  type StepRecord,
} from "../src/index.ts";
import { Heap } from "../src/schedule/heap.ts";

/** A tool with a contract; read-only and parallel-safe unless it says otherwise. */
export function tool(
  name: string,
  contract: JsonObject = {},
  more: Partial<ToolDescriptor> = {},
): ToolDescriptor {
  return {
    name,
    server: "test",
    trusted: true,
    _meta: { "x-orchestration": { mode: "parallel-safe", side_effects: false, ...contract } },
    ...more,
  };
}

/** A write: class U unless the contract says otherwise. */
export function write(
  name: string,
  contract: JsonObject = {},
  more: Partial<ToolDescriptor> = {},
): ToolDescriptor {
  return tool(name, { side_effects: true, idempotency: "none", ...contract }, more);
}

/** A plan in the canonical form, from steps as one would write them. */
export function planOf(steps: unknown[], policy: PolicyInput = {}, outputs?: string[] | JsonObject): Plan {
  return PlanSchema.parse({ steps, policy, ...(outputs ? { outputs } : {}) });
}

/** Steps that call tool "t" with the given dependencies. */
export function graph(dependencies: Record<string, string[]>, toolName = "t"): JsonObject[] {
  return Object.entries(dependencies).map(([id, dependsOn]) => ({
    id,
    tool: toolName,
    dependsOn,
    arguments: {},
  }));
}

export interface SimulateOptions {
  records?: readonly StepRecord[];
  refusals?: EngineInput["refusals"];
  /** How long a call takes in virtual milliseconds; default 10. */
  durationMs?: (call: Call) => number;
  /** How a call that starts now ends; default completed with `{ ok: true }`. */
  outcome?: (call: Call, now: number) => Outcome;
  random?: () => number;
  /** Events from outside, at their `at`. */
  events?: EngineEvent[];
  /** Called with each command as it is given. */
  onCommand?: (command: Command, state: EngineState) => void;
  /** Stop (as if killed) after this many events. */
  crashAfterEvents?: number;
  expectedMs?: (stepId: string) => number;
  /** Time from a `record` command to its answer; default 0. */
  writeMs?: number;
}

export type { Call };
export interface Span {
  call: Call;
  from: number;
  to: number;
}

export interface Simulation {
  finish: Extract<Command, { type: "finish" }> | undefined;
  park: Extract<Command, { type: "park" }> | undefined;
  /** What is durable: acknowledged records and intents. */
  records: Map<string, StepRecord>;
  /** Records of steps, by id: status alone. */
  statuses: Record<string, string>;
  calls: Span[];
  commands: Command[];
  events: number;
  endedAt: number;
  state: EngineState;
}

/** Runs a plan in virtual time against a store that forgets nothing and tools that answer as told. */
export function simulate(plan: Plan, tools: ToolDescriptor[], options: SimulateOptions = {}): Simulation {
  const { durationMs = () => 10, outcome = () => completed({ ok: true }), random = () => 0.5 } = options;
  const records = new Map((options.records ?? []).map((record) => [record.key, record]));
  const state = createEngineState({
    plan,
    tools,
    records: [...records.values()],
    refusals: options.refusals,
    ...(options.expectedMs ? { expectedMs: options.expectedMs } : {}),
  });
  type Queued = { at: number; order: number; event: EngineEvent; durable?: StepRecord[] };
  const queue = new Heap<Queued>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  let order = 0;
  const post = (event: EngineEvent, durable?: StepRecord[]) =>
    queue.push({ at: event.at, order: order++, event, ...(durable ? { durable } : {}) });
  const result: Simulation = {
    finish: undefined,
    park: undefined,
    records,
    statuses: {},
    calls: [],
    commands: [],
    events: 0,
    endedAt: 0,
    state,
  };
  const open = new Map<string, Span>();
  const run = (command: Command, at: number) => {
    result.commands.push(command);
    options.onCommand?.(command, state);
    switch (command.type) {
      case "record":
        post(
          { type: "recorded", keys: command.records.map(({ key }) => key), at: at + (options.writeMs ?? 0) },
          command.records.map((record) => structuredClone(record)),
        );
        break;
      case "call": {
        const { call } = command;
        const span = { call, from: at, to: at + durationMs(call) };
        result.calls.push(span);
        open.set(call.key, span);
        for (const intent of intentsOf(call, records)) records.set(intent.key, intent);
        const event = {
          type: "attempt.ended",
          key: call.key,
          attempt: call.attempt,
          random: random(),
        } as const;
        post({ ...event, at: span.to, outcome: outcome(call, at) });
        break;
      }
      case "abort": {
        const span = open.get(command.key);
        if (span) {
          const { key, attempt } = span.call;
          span.to = at;
          post({ type: "attempt.ended", key, attempt, random: 0, at, outcome: { type: "aborted" } });
        }
        break;
      }
      case "timer":
        post({ type: "timer", at: command.at });
        break;
      case "park":
        result.park = command;
        break;
      case "finish":
        for (const record of command.records) records.set(record.key, structuredClone(record));
        result.finish = command;
        break;
    }
  };
  post({ type: "started", at: 0 });
  for (const event of options.events ?? []) post(event);
  for (let next = queue.pop(); next && !result.finish; next = queue.pop()) {
    for (const record of next.durable ?? []) records.set(record.key, record);
    if (options.crashAfterEvents !== undefined && result.events >= options.crashAfterEvents) break;
    const events = [next.event];
    // Events of one instant are decided on together, as the runner does; one by one where a crash may fall between them.
    for (let same = queue.peek(); same?.at === next.at; same = queue.peek()) {
      if (options.crashAfterEvents !== undefined) break;
      queue.pop();
      for (const record of same.durable ?? []) records.set(record.key, record);
      events.push(same.event);
    }
    result.events += events.length;
    result.endedAt = next.at;
    result.park = undefined;
    for (const event of events) if (event.type === "attempt.ended") open.delete(event.key);
    for (const command of decide(state, events)) run(command, next.at);
  }
  for (const { id } of plan.steps) result.statuses[id] = records.get(id)?.status ?? "PENDING";
  return result;
}

/** The durable intent of a call: each of its units is RUNNING. */
function intentsOf(call: Call, records: Map<string, StepRecord>): StepRecord[] {
  const keys = call.items?.map((item) => [`${call.stepId}[${item}]`, item] as const) ?? [
    [call.stepId, undefined] as const,
  ];
  return keys.flatMap(([key, item]) => {
    const before = records.get(key);
    if (before && ["COMPLETED", "FAILED", "SKIPPED", "CANCELLED"].includes(before.status)) return [];
    const intent: StepRecord = { key, stepId: call.stepId, status: "RUNNING", attempts: call.attempt };
    if (item !== undefined) intent.item = item;
    if (before?.approved) intent.approved = true;
    if (before?.unsent) intent.unsent = before.unsent;
    return [intent];
  });
}

export function completed(output: JsonValue): Outcome {
  return { type: "completed", output };
}

export function failed(
  effect: "none" | "reported" | "unknown" = "reported",
  more: { code?: string; retryable?: boolean; retryAfterMs?: number } = {},
): Outcome {
  const error = { code: more.code ?? "TOOL_FAILED", message: "it broke", retryable: more.retryable ?? false };
  return { type: "failed", effect, error, ...(more.retryAfterMs ? { retryAfterMs: more.retryAfterMs } : {}) };
}
