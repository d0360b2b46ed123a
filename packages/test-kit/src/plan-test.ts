import {
  type Call,
  type Clock,
  createVirtualClock,
  PlanInvalidError,
  type Resolution,
  type RunEvent,
  type RunResult,
  runPlan,
  type StepError,
  type StepRecord,
} from "@planwright/engine";
import {
  CodedError,
  type FinalPlanStatus,
  isForPerson,
  type JsonObject,
  type JsonValue,
  parsePlan,
  type StepStatus,
  type ToolDescriptor,
  valueOfHeld,
} from "@planwright/plan";
import { type Contract, EFFECT_META, Refusal, type Tool } from "@planwright/tool-kit";

/** What a fake gets beside its arguments. */
export interface FakeCall {
  /** The step, or an item of its list: `each[3]`. */
  step: string;
  /** From 1. */
  attempt: number;
  /** The idempotency key: the same for all attempts of one step, also after a crash. */
  key: string;
  /** Aborted at the timeout, and when the call is no longer needed. */
  signal: AbortSignal;
  /** Takes so long, in virtual time. Everything else that a tool waits for takes none. */
  sleep(this: void, ms: number): Promise<void>;
}

/** A tool that exists only in the test. `{ ...tool.listed, run }` is a fake with the contract of a real tool. */
export interface FakeTool {
  name: string;
  description?: string | undefined;
  inputSchema?: object | undefined;
  outputSchema?: object | undefined;
  annotations?: object | undefined;
  _meta?: object | undefined;
  /** Absent: no promise, unless `_meta` has one. */
  contract?: Contract | undefined;
  /** Returns the output, or an MCP result. A `Refusal` says that nothing happened; any other exception does not. */
  run(this: void, args: JsonObject, call: FakeCall): unknown;
}

/** A tool of `@planwright/tool-kit`, whose code runs in the test; or a fake. */
export type TestTool = Tool | FakeTool;

/**
 * What goes wrong with one attempt of a step:
 *
 * - `"unreachable"`: the server cannot be reached, nothing is sent
 * - `"answer lost"`: the tool acts, and its answer is lost
 * - `"no answer"`: the tool does not act, and does not answer until the timeout
 * - `"crash before"`, `"crash after"`: the executor dies, before the call is sent or when the tool has run
 * - `{ refused }`: the tool answers that nothing happened, and why
 * - `{ failed }`: the tool answers with an error that does not say what happened
 * - `null`: nothing goes wrong
 */
export type Fault =
  | "unreachable"
  | "answer lost"
  | "no answer"
  | "crash before"
  | "crash after"
  | { refused: string }
  | { failed: string }
  | null;

/** A call that was sent to a tool. */
export interface MadeCall {
  /** The step; for an item of a list `each[3]`, for a batch `each[0..9]`. */
  step: string;
  tool: string;
  arguments: JsonObject;
  attempt: number;
  /** Its idempotency key. */
  key: string;
  /** What the system got to know: a result, an error, or nothing. */
  answer: "result" | "error" | "none";
  /** Present when the code of the tool threw anything but a `Refusal`: a server sends none of it. */
  threw?: unknown;
}

/** A step, or an item of a list, so far. */
export interface UnitState {
  status: StepStatus;
  attempts: number;
  output?: JsonValue;
  error?: StepError;
}

/** A step that waits for a person. */
export interface WaitingUnit {
  step: string;
  for: "approval" | "doubt";
  /** What would be sent, for an approval. */
  arguments?: JsonObject;
}

/** A plan in a test. It rests when it has ended, when only a person can continue it, and after a crash. */
export interface PlanRun {
  /** `WAITING`: only a person can continue it. `CRASHED`: {@link PlanRun.continue} does. */
  readonly status: FinalPlanStatus | "WAITING" | "CRASHED";
  /** By step id, items by `each[3]`. */
  readonly steps: Readonly<Record<string, UnitState>>;
  /** The outputs that the plan asks for, once it has ended. */
  readonly outputs: Readonly<Record<string, JsonValue>>;
  /** Why it did not complete; while it waits for a decision about a doubt, why the first step is in doubt. */
  readonly error: StepError | undefined;
  /** All calls that were sent, in their order. */
  readonly calls: readonly MadeCall[];
  /** The steps that wait for a person. */
  readonly waiting: readonly WaitingUnit[];
  /** Virtual milliseconds since the start. */
  readonly elapsedMs: number;

  /** Approves a step, and runs until the plan rests again. @throws {NotWaitingError} */
  approve(step: string): Promise<void>;
  /** Refuses a step, and runs on. @throws {NotWaitingError} */
  refuse(step: string, reason?: string): Promise<void>;
  /** Settles a call that may have acted, as an operator does, and runs on. @throws {NotWaitingError} */
  settle(step: string, as: { done: JsonValue } | "not done" | "call again"): Promise<void>;
  /** Lets time pass while it waits for a person, such as until an approval expires. */
  advance(ms: number): Promise<void>;
  /** The executor dies while the plan rests. */
  crash(): void;
  /** Another executor continues from what is durable. @throws {NotWaitingError} unless it is `CRASHED` */
  continue(): Promise<void>;
}

/** Runs plans with these tools. */
export interface PlanTest {
  /**
   * Runs a plan until it rests, and never takes real time.
   * @param plan - as for `submitPlan`, in any dialect
   * @param faults - by step, or item (`each[3]`): what goes wrong, one for each attempt
   * @throws {PlanInvalidError} before any call
   */
  run(
    this: void,
    plan: unknown,
    faults?: Readonly<Record<string, Fault | readonly Fault[]>>,
  ): Promise<PlanRun>;
}

/** Nothing waits for this decision, or nothing is to be continued. */
export class NotWaitingError extends CodedError<{ step?: string; waiting: readonly string[] }> {
  readonly code = "NOT_WAITING";
  readonly retryable = false;
}

/** A fault is for a step that the plan does not have. */
export class StepUnknownError extends CodedError<{ step: string }> {
  readonly code = "STEP_UNKNOWN";
  readonly retryable = false;
}

/**
 * Runs plans inside a test, without a server or a database: the engine that decides is the one of the executor,
 * the time is virtual, and jitter is fixed. What it does not show is in the README.
 */
export function createPlanTest({ tools }: { tools: readonly TestTool[] }): PlanTest {
  const offered = new Map(tools.map((tool) => [tool.name, tool]));
  const catalogue = [...offered.values()].map(descriptorOf);
  let plans = 0;
  return {
    run: async (plan, faults = {}) => {
      const parsed = parsePlan(plan, { tools: catalogue });
      if (!parsed.ok) throw new PlanInvalidError(parsed.diagnostics);
      plans += 1;
      const steps: string[] = parsed.plan.steps.map(({ id }) => id);
      const unknown = Object.keys(faults).find((key) => !steps.includes(key.replace(/\[[\d.]+\]$/, "")));
      if (unknown !== undefined)
        throw new StepUnknownError(`The plan has no step ${unknown}, but ${steps.join(", ")}`, {
          step: unknown,
        });
      const run = startRun({ plan, steps, catalogue, offered, faults, planId: `plan-${plans}` });
      await run.continue();
      return run;
    },
  };
}

function descriptorOf(tool: TestTool): ToolDescriptor {
  if ("listed" in tool) return asJson(tool.listed);
  const { run: _, contract, ...listed } = tool;
  return asJson({ ...listed, ...(contract && { override: contract }) });
}

/** As a server sends it. */
function asJson(listed: { name: string }): ToolDescriptor {
  const sent: ToolDescriptor = JSON.parse(JSON.stringify(listed));
  // The tests are the operator: what a tool declares is believed.
  return { ...sent, trusted: true };
}

/** Input of {@link startRun}. */
interface RunParts {
  plan: unknown;
  /** Ids of its steps. */
  steps: readonly string[];
  planId: string;
  catalogue: readonly ToolDescriptor[];
  offered: ReadonlyMap<string, TestTool>;
  faults: Readonly<Record<string, Fault | readonly Fault[]>>;
}

/** A decision that a person owes. */
interface Owed {
  record: StepRecord;
  decide(decision: boolean | Resolution | Error): void;
}

/** A run that is crashed before it began. */
function startRun({ plan, steps, planId, catalogue, offered, faults }: RunParts): PlanRun {
  const clock = createVirtualClock();
  const records = new Map<string, StepRecord>();
  const calls: MadeCall[] = [];
  const faultsLeft = new Map(Object.entries(faults).map(([step, each]) => [step, [each].flat()]));
  const owed = new Map<string, Owed>();
  let result: RunResult | undefined;
  let status: PlanRun["status"] = "CRASHED";
  /** The executor that runs the plan now. */
  let executor = { isAlive: false };
  let rest = { reached: (): void => undefined, failed: (error: unknown): void => void error };
  let release = clock.hold();

  /** Runs until the plan rests. */
  function untilRest(go: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      rest = { reached: resolve, failed: reject };
      go();
      release();
    });
  }

  function restAs(next: PlanRun["status"]): void {
    status = next;
    release = clock.hold();
    rest.reached();
  }

  function crash(): void {
    executor.isAlive = false;
    owed.clear();
    restAs("CRASHED");
  }

  function execute(): void {
    const own = { isAlive: true };
    executor = own;
    /** What an executor does when it is dead never happens. */
    const whileAlive = (callback: () => void) => () => (own.isAlive ? callback() : undefined);
    const ownClock: Clock = {
      now: () => clock.now(),
      at: (timeMs, callback) => clock.at(timeMs, whileAlive(callback)),
      soon: (callback) => clock.soon(whileAlive(callback)),
    };
    const decision = <Decision>(record: StepRecord): Promise<Decision> =>
      new Promise((resolve, reject) => {
        owed.set(record.key, {
          record,
          decide: (made) => (made instanceof Error ? reject(made) : resolve(made as Decision)),
        });
      });
    const onEvent = (event: RunEvent): void => {
      if (event.type === "plan.parked" && isForPerson(event.reason)) restAs("WAITING");
    };
    runPlan(plan, {
      tools: catalogue,
      callTool: (call, { signal }) => callTool(call, { signal, own }),
      approve: decision<boolean>,
      settleInDoubt: decision<Resolution>,
      onEvent,
      records,
      clock: ownClock,
      random: () => 0.5,
    }).then(
      (ended) => {
        result = ended;
        restAs(ended.status);
      },
      (error: unknown) => rest.failed(error),
    );
  }

  async function callTool(
    call: Call,
    { signal, own }: { signal: AbortSignal; own: { isAlive: boolean } },
  ): Promise<unknown> {
    const fault = (faultsLeft.get(call.key) ?? faultsLeft.get(call.stepId))?.shift() ?? null;
    if (fault === "unreachable")
      throw failure("TOOL_UNREACHABLE", `The server of ${call.tool} cannot be reached`, "none");
    if (fault === "crash before") {
      crash();
      return undefined;
    }
    const key = `${planId}/${call.key}`;
    const { tool, arguments: args, attempt } = call;
    const made: MadeCall = { step: call.key, tool, arguments: args, attempt, key, answer: "none" };
    calls.push(made);
    const { sleep, end, wait } = timeOf(signal);
    try {
      const answered = (value: unknown): unknown => {
        if (own.isAlive) made.answer = isErrorResult(value) ? "error" : "result";
        return value;
      };
      if (fault === "no answer") return await wait();
      if (typeof fault === "object" && fault !== null) return answered(errorResult(fault));
      const value = await runTool(made, { step: call.key, attempt, key, signal, sleep }).finally(() => {
        if (fault === "crash after" && own.isAlive) crash();
      });
      if (fault === "answer lost")
        throw failure("TOOL_CONNECTION_LOST", `${tool}: the answer was lost`, "unknown");
      return answered(value);
    } finally {
      end();
    }
  }

  /** The clock is held while a tool runs, except while it sleeps. */
  function timeOf(signal: AbortSignal) {
    let go = clock.hold();
    return {
      end: () => go(),
      sleep: async (ms: number): Promise<void> => {
        go();
        await clock.sleep(ms);
        go = clock.hold();
      },
      wait: (): Promise<never> => {
        go();
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
      },
    };
  }

  async function runTool(made: MadeCall, fake: FakeCall): Promise<unknown> {
    const { tool: name, arguments: args, key } = made;
    const tool = offered.get(name);
    if (!tool) throw failure("TOOL_NOT_FOUND", `Tool ${name} is not known`, "none");
    try {
      if (!("listed" in tool)) return await tool.run(args, fake);
      const { timeoutMs } = tool;
      return await tool.call(args, {
        tool: name,
        arguments: args,
        key,
        signal: fake.signal,
        deadlineAt: timeoutMs === undefined ? undefined : new Date(Date.now() + timeoutMs),
        log: () => undefined,
      });
    } catch (error) {
      if (error instanceof Refusal) return errorResult({ refused: error.message }, error.data);
      // Fakes may say more, as those of recorded tools do.
      if (error instanceof Error && "effect" in error) throw error;
      made.threw = error;
      const said = error instanceof Error ? error.message : String(error);
      const message = `${name} threw "${said}"; whether it changed anything is not known`;
      throw failure("TOOL_FAILED", message, "unknown", error);
    }
  }

  /** Hands a decision on, and runs until the next rest. */
  function decided(step: string, waitsFor: WaitingUnit["for"], made: Parameters<Owed["decide"]>[0]) {
    const owes = owed.get(step);
    if (!owes || waitOf(owes.record) !== waitsFor) {
      const waiting = [...owed.keys()];
      const others = waiting.length > 0 ? `, but ${waiting.join(", ")}` : "";
      throw new NotWaitingError(`Step ${step} does not wait for ${ASKS[waitsFor]}${others}`, {
        step,
        waiting,
      });
    }
    owed.delete(step);
    return untilRest(() => owes.decide(made));
  }

  return {
    get status() {
      return status;
    },
    get steps() {
      const pending = steps.map((id): [string, UnitState] => [id, { status: "PENDING", attempts: 0 }]);
      const known = [...records.values()].map((record): [string, UnitState] => [record.key, stateOf(record)]);
      return Object.fromEntries([...pending, ...known]);
    },
    get outputs() {
      return result?.outputs ?? {};
    },
    get error() {
      const inDoubt = [...owed.values()].find(({ record }) => waitOf(record) === "doubt");
      return result?.error ?? inDoubt?.record.error;
    },
    get waiting() {
      return [...owed.values()].map(({ record }) => {
        const { key: step, arguments: args } = record;
        return { step, for: waitOf(record), ...(args && { arguments: args }) };
      });
    },
    calls,
    get elapsedMs() {
      return clock.now();
    },
    async approve(step) {
      await decided(step, "approval", true);
    },
    async refuse(step, reason = "Refused") {
      await decided(step, "approval", new TypeError(reason));
    },
    async settle(step, as) {
      await decided(step, "doubt", resolutionOf(as));
    },
    async advance(ms) {
      if (status !== "WAITING") throw new NotWaitingError(`The plan is ${status}`, { waiting: [] });
      const own = executor;
      await untilRest(() => {
        clock.at(clock.now() + ms, () => {
          if (executor === own && own.isAlive && status === "WAITING") restAs("WAITING");
        });
      });
    },
    crash() {
      if (status !== "WAITING") throw new NotWaitingError(`The plan is ${status}`, { waiting: [] });
      crash();
    },
    async continue() {
      if (status !== "CRASHED") throw new NotWaitingError(`The plan is ${status}`, { waiting: [] });
      await untilRest(execute);
    },
  };
}

const ASKS = { approval: "an approval", doubt: "a decision about a doubt" };

function waitOf({ status }: StepRecord): WaitingUnit["for"] {
  return status === "IN_DOUBT" ? "doubt" : "approval";
}

function stateOf({ status, attempts, output, error }: StepRecord): UnitState {
  return {
    status,
    attempts,
    ...(output !== undefined && { output: valueOfHeld(output) }),
    ...(error && { error }),
  };
}

function resolutionOf(as: Parameters<PlanRun["settle"]>[1]): Resolution {
  if (as === "call again") return { type: "retry" };
  if (as !== "not done") return { type: "completed", output: as.done };
  const message = "An operator settled it: the call did not happen";
  return { type: "failed", error: { code: "SETTLED_AS_FAILED", message, retryable: false } };
}

/** An exception as `runPlan` reads it. */
function failure(code: string, message: string, effect: "none" | "unknown", cause?: unknown): Error {
  return Object.assign(new TypeError(message, { cause }), { code, effect, retryable: true });
}

/** The answer of a tool that failed: `refused` says that nothing happened. */
function errorResult(error: { refused: string } | { failed: string }, data?: Record<string, unknown>) {
  const isRefusal = "refused" in error;
  return {
    isError: true,
    content: [{ type: "text", text: isRefusal ? error.refused : error.failed }],
    ...(data && { structuredContent: data }),
    ...(isRefusal && { _meta: { [EFFECT_META]: "none" } }),
  };
}

function isErrorResult(value: unknown): boolean {
  return typeof value === "object" && value !== null && "isError" in value && value.isError === true;
}
