import {
  Heap,
  type HeldJson,
  type JsonObject,
  JsonText,
  type JsonValue,
  type OutputTexts,
  type Plan,
  PlanSchema,
  type PolicyInput,
  stringifyExactJson,
  type ToolDescriptor,
  valueOfHeld,
} from "@planwright/plan";
import {
  answerQuestion,
  type Call,
  type Command,
  callOfUnits,
  createEngineState,
  decide,
  type EngineEvent,
  type EngineInput,
  type EngineState,
  fromSent,
  type Outcome,
  positionsInResults,
  type Question,
  questionAbout,
  resolveUnresolved,
  type StepError,
  type StepRecord,
  type StoredOutput,
  toSent,
  withAnswer,
  withStored,
} from "../src/index.ts";

/** A tool with a contract; by default read-only and parallel-safe. */
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

/** A tool with side effects; by default class U. */
export function write(
  name: string,
  contract: JsonObject = {},
  more: Partial<ToolDescriptor> = {},
): ToolDescriptor {
  return tool(name, { side_effects: true, idempotency: "none", ...contract }, more);
}

/** One tool of each effect class ("unknown" is class U), and one that accepts batches with a key. */
export const EFFECT_TOOLS: ToolDescriptor[] = [
  tool("read"),
  write("keyed", { idempotency: "key" }),
  write("unknown"),
  write("asked", { lookup: { tool: "read", arguments: {} } }),
  write("batched", { idempotency: "key", batch: { param: "list", max: 3 } }),
];

/** A plan in canonical form, from steps in short form. */
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
  /** Duration of a call in virtual milliseconds; default 10. */
  durationMs?: (call: Call) => number;
  /** Outcome of a call that starts now; default completed with `{ ok: true }`. */
  outcome?: (call: Call, now: number) => Outcome;
  random?: () => number;
  /** External events, delivered at their `at`. */
  events?: EngineEvent[];
  /** Time passes while only an approval is waited for. Default: the run rests there. */
  outlastsApprovals?: boolean;
  /** Called with each command. */
  onCommand?: (command: Command, state: EngineState) => void;
  /** Stops (as if killed) after this number of events. */
  crashAfterEvents?: number;
  expectedMs?: (stepId: string) => number;
  /** Time from a `record` command to its answer; default 0. */
  writeMs?: number;
  /** Acknowledges results of reads early, as the durable executor does. Default false. */
  acknowledgesEarly?: boolean;
  /**
   * After every turn stored outputs are dropped until at most this number of bytes is in memory, and loaded
   * when needed. Default: nothing is dropped.
   */
  memoryBytes?: number;
  /** Upper limit for the total size of the outputs that one step refers to, in bytes. */
  maxReadBytes?: number;
  /** Larger outputs are held as texts, and calls that insert more bytes are resolved by this shell. */
  largeBytes?: number;
  /** Called with everything that becomes durable, in that order. */
  journal?: JournalWriter;
}

/** Writes the journal of a run. */
export interface JournalWriter {
  /** A call is sent; its intent is durable. */
  started(call: Call, at: number): void;
  /** A call has ended; its end becomes durable with the records that follow from it. */
  ended(call: Call, outcome: Outcome, at: number): void;
  recorded(records: readonly StepRecord[], at: number): void;
  finished(command: Extract<Command, { type: "finish" }>, at: number): void;
}

/** More events than any plan of a test has. */
const MAX_EVENTS = 100_000;

export type { Call };
export interface Span {
  call: Call;
  from: number;
  to: number;
}

export interface Simulation {
  finish: Extract<Command, { type: "finish" }> | undefined;
  park: Extract<Command, { type: "park" }> | undefined;
  /** The durable state: acknowledged records and intents. */
  records: Map<string, StepRecord>;
  /** Statuses of steps, by id. */
  statuses: Record<string, string>;
  calls: Span[];
  commands: Command[];
  events: number;
  endedAt: number;
  state: EngineState;
}

/** Runs a plan in virtual time with a store that loses nothing and tools whose outcomes the options set. */
export function simulate(plan: Plan, tools: ToolDescriptor[], options: SimulateOptions = {}): Simulation {
  const { durationMs = () => 10, outcome = () => completed({ ok: true }), random = () => 0.5 } = options;
  const hasStore = options.memoryBytes !== undefined;
  const records = new Map((options.records ?? []).map((record) => [record.key, record]));
  const state = createEngineState({
    plan,
    tools,
    records: [...records.values()].map((record) => (hasStore ? stored(record) : record)),
    refusals: options.refusals,
    maxReadBytes: options.maxReadBytes,
    largeBytes: options.largeBytes,
    ...(options.expectedMs ? { expectedMs: options.expectedMs } : {}),
  });
  type Queued = { at: number; order: number; event: EngineEvent; durable?: StepRecord[]; isEarly?: boolean };
  const queue = new Heap<Queued>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  let order = 0;
  const post = (event: EngineEvent, durable?: StepRecord[], isEarly = false) => {
    const queued = { at: event.at, order: order++, event, ...(durable ? { durable } : {}), isEarly };
    queue.push(queued);
    if (isEarly) acknowledgedEarly.push(queued);
    else if (durable) written.push(queued);
  };
  /** Records that were acknowledged early. Everything else becomes durable after them. */
  let acknowledgedEarly: Queued[] = [];
  /** Other records. An intent becomes durable after them. */
  const written: Queued[] = [];
  const makeAllDurable = (): void => {
    for (const queued of acknowledgedEarly) makeDurable(queued);
    acknowledgedEarly = [];
  };
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
  function makeDurable(queued: Queued): void {
    const { durable, at, isEarly } = queued;
    delete queued.durable;
    for (const record of durable ?? []) records.set(record.key, record);
    if (durable && !isEarly) options.journal?.recorded(durable, at);
  }
  const run = (command: Command, at: number) => {
    result.commands.push(command);
    options.onCommand?.(command, state);
    switch (command.type) {
      case "record": {
        const isEarly = command.isRepeatable && options.acknowledgesEarly === true;
        const keys = command.records.map(({ key }) => key);
        const answer = {
          type: "recorded",
          keys,
          sizes: hasStore ? sizesOf(command.records) : undefined,
        } as const;
        const written = command.records.map(durable);
        if (isEarly) {
          options.journal?.recorded(written, at);
          post({ ...answer, isEarly, at });
        } else makeAllDurable();
        post({ ...answer, at: at + (options.writeMs ?? 0) }, written, isEarly);
        break;
      }
      case "load": {
        const outputs = command.keys.map((key) => {
          const read = storedOutput(records, key);
          return { ...read, output: heldAs(valueOfHeld(read.output), options) };
        });
        post({ type: "loaded", id: command.id, outputs, at: at + (options.writeMs ?? 0) });
        break;
      }
      case "ask": {
        const question = fromSent<Question>(structuredClone(toSent(command.question)));
        const answer = structuredClone(answerQuestion(question));
        post({ type: "answered", id: command.id, answer, at: at + (options.writeMs ?? 0) });
        break;
      }
      case "call": {
        const { key, attempt } = command.call;
        const { call, refused, warnings } = resolvedCall(command.call, records);
        if (refused.size > 0)
          for (const next of decide(state, { type: "refused", key, attempt, units: refused, at }))
            run(next, at);
        if (!call) {
          const outcome = { type: "aborted" } as const;
          post({ type: "attempt.ended", key, attempt, random: 0, at, outcome });
          break;
        }
        const span = { call, from: at, to: at + durationMs(call) };
        result.calls.push(span);
        open.set(call.key, span);
        if (call.effectClass !== "R" || call.mayAct) {
          makeAllDurable();
          for (const queued of written.splice(0)) makeDurable(queued);
        }
        for (const intent of intentsOf(call, records)) records.set(intent.key, intent);
        options.journal?.started(call, at);
        const event = { type: "attempt.ended", key, attempt, random: random() } as const;
        const held = heldOutcome(outcome(call, at), warnings, options);
        post({ ...event, at: span.to, outcome: withAnswerOf(state, call, held) });
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
        makeAllDurable();
        for (const record of command.records) records.set(record.key, durable(record));
        options.journal?.finished(command, at);
        result.finish = command;
        break;
    }
  };
  post({ type: "started", at: 0 });
  for (const event of options.events ?? []) post(event);
  for (let next = queue.pop(); next && !result.finish; next = queue.pop()) {
    const isAtRest = result.park?.reason === "approval" && !options.outlastsApprovals;
    if (isAtRest && next.event.type === "timer") continue;
    makeDurable(next);
    if (options.crashAfterEvents !== undefined && result.events >= options.crashAfterEvents) break;
    const events = [next.event];
    // Events of one instant are decided together, as in the runner; one by one when a crash may come between
    // them.
    for (let same = queue.peek(); same?.at === next.at; same = queue.peek()) {
      if (options.crashAfterEvents !== undefined) break;
      queue.pop();
      makeDurable(same);
      events.push(same.event);
    }
    result.events += events.length;
    if (result.events > MAX_EVENTS) throw new RangeError("The plan does not end");
    result.endedAt = next.at;
    result.park = undefined;
    for (const event of events) {
      if (event.type !== "attempt.ended") continue;
      const ended = open.get(event.key);
      if (ended) options.journal?.ended(ended.call, event.outcome, event.at);
      open.delete(event.key);
    }
    for (const command of decide(state, events)) run(command, next.at);
    if (options.memoryBytes === undefined) continue;
    const drop = { type: "drop", toBytes: options.memoryBytes, at: next.at } as const;
    for (const command of decide(state, drop)) run(command, next.at);
  }
  for (const { id } of plan.steps) result.statuses[id] = records.get(id)?.status ?? "PENDING";
  return result;
}

function sizesOf(records: readonly StepRecord[]): Map<string, number> {
  const done = records.filter(({ status }) => status === "COMPLETED");
  return new Map(done.map(({ key, output = null }) => [key, sizeOf(output)]));
}

/** A record as it is written. */
function durable(record: StepRecord): StepRecord {
  const { output } = record;
  return structuredClone(output === undefined ? record : { ...record, output: valueOfHeld(output) });
}

/** A record as a store returns it that loads outputs on request. */
function stored(record: StepRecord): StepRecord {
  if (record.status !== "COMPLETED") return record;
  const { output, outputText: _, ...kept } = record;
  return { ...kept, outputBytes: sizeOf(output ?? null) };
}

const sizeOf = (output: HeldJson): number => JSON.stringify(valueOfHeld(output)).length;

/** A value as the durable executor holds it. */
function heldAs(value: JsonValue, { largeBytes = Number.POSITIVE_INFINITY }: SimulateOptions): HeldJson {
  const utf8 = new TextEncoder().encode(stringifyExactJson(value));
  return utf8.byteLength > largeBytes ? new JsonText(utf8, utf8.byteLength) : value;
}

function heldOutcome(outcome: Outcome, warnings: readonly string[], options: SimulateOptions): Outcome {
  if (outcome.type === "failed") return withHeldAnswer(outcome, options);
  if (outcome.type !== "completed") return outcome;
  const told = [...(outcome.warnings ?? []), ...warnings];
  const { output: given } = outcome;
  const output = given instanceof JsonText ? given : heldAs(given, options);
  return { ...outcome, output, ...(told.length > 0 && { warnings: told }) };
}

/** A large answer beside an error is held as an output is. */
function withHeldAnswer(outcome: Extract<Outcome, { type: "failed" }>, options: SimulateOptions): Outcome {
  const { data, ...error } = outcome.error;
  const output = data === undefined ? null : heldAs(data, options);
  return output instanceof JsonText ? { ...outcome, error, answer: { type: "completed", output } } : outcome;
}

/** The outcome with what another thread has read of it. */
function withAnswerOf(state: EngineState, call: Call, outcome: Outcome): Outcome {
  const question = questionAbout(state, call, outcome);
  if (!question) return outcome;
  const sent = fromSent<Question>(structuredClone(toSent(question)));
  return withAnswer(outcome, structuredClone(answerQuestion(sent)));
}

/** A call with its arguments, which another thread resolved. */
function resolvedCall(
  { unresolved, ...call }: Call,
  records: ReadonlyMap<string, StepRecord>,
): { call: Call | undefined; refused: ReadonlyMap<string, StepError>; warnings: readonly string[] } {
  if (!unresolved) return { call, refused: new Map(), warnings: [] };
  const read = unresolved.stored.map(({ key }) => storedOutput(records, key));
  const resolved = resolveUnresolved(fromSent(structuredClone(toSent(withStored(unresolved, read)))));
  const { arguments: args, warnings, refused } = structuredClone(resolved);
  return {
    call: args && { ...call, ...callOfUnits(unresolved, resolved), arguments: args },
    refused,
    warnings,
  };
}

function storedOutput(records: ReadonlyMap<string, StepRecord>, key: string): StoredOutput {
  const record = records.get(key);
  const ofItems: OutputTexts = [];
  const items = [...records.values()].filter(({ stepId, item }) => stepId === key && item !== undefined);
  const positions = positionsInResults(items);
  for (const { item = -1, outputText } of items) {
    const position = positions.get(item);
    if (position !== undefined && outputText !== undefined) ofItems[position] = outputText;
  }
  const texts = record?.outputText ?? (ofItems.length > 0 ? ofItems : undefined);
  return { key, output: structuredClone(record?.output ?? null), texts };
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
    if (call.mayAct || before?.mayHaveActed) intent.mayHaveActed = true;
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

/** The runs of a long property: `npm test` draws a tenth of them, `npm run proof` the others, with another seed. */
export const partsOf = (runs: number): { numRuns: number; options: { tags?: string[] } }[] => [
  { numRuns: runs / 10, options: {} },
  { numRuns: (runs * 9) / 10, options: { tags: ["proof"] } },
];
