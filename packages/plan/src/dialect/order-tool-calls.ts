/**
 * Orders the tool calls of one model answer into groups that run one after the other: the interface of an
 * older system, by the same rules as plans.
 *
 * 1. A normal group runs its calls at once; a barrier group is one call of a tool that runs alone.
 * 2. A call comes in a later group than every call that it waits for: all calls of the tools that its tool
 *    depends on, and the calls that it names.
 * 3. A call comes in a later group than every barrier before it in the list, except barriers that wait for
 *    it.
 * 4. Groups are as large as possible: all calls that can run now, except barriers, are one group, and a
 *    barrier comes when all calls before it that can run have run.
 */
import { toolContract } from "../contract/tool-contract.ts";
import { CodedError, type Diagnostic, DiagnosticCollector } from "../document/diagnostic.ts";
import { dependencyNames } from "../document/field-words.ts";
import { createDraftStep, type DraftStep } from "../document/plan.ts";
import { LimitsSchema, type PolicyInput, profileOptions } from "../document/policy.ts";
import { type Edges, findCycle, Heap, reversed, smallerFirst } from "../graph/edges.ts";
import {
  type BarrierOrder,
  barrierOrder,
  breakCycles,
  DependencyAbsentError,
  DependencyCycleError,
  openersOf,
} from "../graph/plan-order.ts";
import { copyJson } from "../json/copy-json.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import {
  duplicateTools,
  type ToolDescriptor,
  type ToolIndex,
  toolIndexOf,
} from "../tools/tool-descriptor.ts";
import { type Catalogue, createCatalogue } from "../validation/catalogue.ts";
import { type Fields, judgeStepFields, type ReadFields, readProvides } from "./call-fields.ts";
import { readCall, stepFields } from "./read-step.ts";
import { nextFree } from "./step-ids.ts";

/** Calls that may run at once; a barrier group has one call. */
export interface CallGroup<Call extends ToolCall = ToolCall> {
  isBarrier: boolean;
  calls: (Call | InsertedCall)[];
}

/**
 * The calls in groups; the same call objects, each once. Takes O(n log n) in calls and dependencies when
 * barriers wait for earlier calls (see `barrierOrder`).
 *
 * Without a policy the profile `ordered-calls` applies, as in `executeOrderedToolCalls`: an absent dependency
 * is ignored, and calls that wait for each other run together.
 *
 * Only declarations of tools order calls: calls of a tool without a mode run in parallel unless the policy
 * has `unannotated: "sequential"`; `sequential-only` and `max_concurrency` limit the calls of a tool in one
 * group. Groups have no other size limit unless the policy has `maxParallel`. A dependency of a tool on
 * itself is ignored. A call of an unknown tool waits only for the calls that it names and for barriers. Of a
 * tool defined twice the later definition counts.
 *
 * `insert` adds one call without arguments for each absent tool (and its dependencies) when the tool is in
 * `tools`; an untrusted tool can only insert tools of its own server. An absent call cannot be inserted: an
 * error.
 * @throws {ToolCallsInvalidError} when two calls have the same id or a call has no tool (see
 *   `checkToolCalls`)
 * @throws {DependencyCycleError} for a cycle under `onCycle: "error"`
 * @throws {DependencyAbsentError} for an absent tool or call under `onAbsentDependency: "error"`
 */
export function orderToolCalls<Call extends ToolCall>(
  calls: readonly Call[],
  tools: readonly ToolDescriptor[],
  policy: OrderingPolicy = {},
): CallGroup<Call>[] {
  const { options, facts, read } = readFor(calls, tools, policy);
  const errors = checkReadCalls(read, []);
  if (errors.length > 0) throw new ToolCallsInvalidError(errors);
  const inserted: InsertedCall[] = [];
  const { edges, openers } = acyclic(new CallEdges(read, inserted, facts, options).edges(), read, options);
  const factOf = (position: number) => facts.of(read[position]?.tool ?? "");
  const groups = groupPositions(edges, {
    count: read.length,
    isBarrier: (position) => factOf(position).isBarrier,
    isFirst: (position) => factOf(position).isFirst,
    keyOf: (position) => factOf(position).key,
    limitOf: (key) => facts.of(key).limit,
    maxParallel: options.maxParallel ?? Infinity,
    openers,
  });
  const all = [...calls, ...inserted];
  return groups.map(({ isBarrier, positions }) => ({
    isBarrier,
    calls: positions.flatMap((position) => all[position] ?? []),
  }));
}

/**
 * False when all calls may run at once: no call waits for another, there is no barrier together with other
 * calls, and no tool exceeds its limit. Follows the rules of {@link orderToolCalls} and never throws: true
 * for calls that are an error there.
 */
export function needsOrdering(
  calls: readonly ToolCall[],
  tools: readonly ToolDescriptor[],
  policy: OrderingPolicy = {},
): boolean {
  const { options, facts, read } = readFor(calls, tools, policy);
  if (read.length > (options.maxParallel ?? Infinity)) return true;
  if (checkReadCalls(read, []).length > 0) return true;
  const counts = new Map<string, number>();
  return read.some((call) => {
    const fact = facts.of(call.tool ?? "");
    const count = (counts.get(fact.key) ?? 0) + 1;
    counts.set(fact.key, count);
    const named = call.after.length + call.dependsOn.length;
    const waits = !fact.isFirst && (named > 0 || fact.dependsOn.length > 0);
    return waits || count > fact.limit || (fact.isBarrier && read.length > 1);
  });
}

function readFor(calls: readonly ToolCall[], tools: readonly ToolDescriptor[], policy: OrderingPolicy) {
  const options = { ...profileOptions(policy.profile ?? "ordered-calls"), ...policy };
  return { options, facts: new ToolFacts(tools, options), read: readToolCalls(calls, tools) };
}

function acyclic(
  edges: Edges,
  calls: readonly ReadToolCall[],
  { onCycle = "error" }: OrderingPolicy,
): { edges: Edges; openers: ReadonlyMap<number, number> } {
  const cycle = findCycle(edges);
  if (!cycle) return { edges, openers: new Map() };
  if (onCycle === "error") throw new DependencyCycleError(cycle.flatMap((index) => calls[index]?.id ?? []));
  const broken = breakCycles(edges, onCycle, calls.length);
  return { edges: broken.dependencies, openers: openersOf(broken, onCycle) };
}

interface Waits {
  /** Keys of tools: wait for all their calls. */
  tools: string[];
  /** Positions of single calls to wait for. */
  calls: number[];
}

/**
 * Positions of calls, followed by one position (gate) for each tool that calls wait for. A gate means "all
 * calls of this tool", so that n calls that wait for m calls need n + m edges.
 */
class CallEdges {
  readonly #calls: ReadToolCall[];
  readonly #inserted: InsertedCall[];
  readonly #facts: ToolFacts;
  readonly #options: OrderingPolicy;
  readonly #byTool = new Map<string, number[]>();
  readonly #byId = new Map<string, number[]>();
  readonly #byField = new Map<string, number[]>();

  /**
   * @param calls - inserted calls are appended to it
   * @param inserted - and to this
   */
  constructor(calls: ReadToolCall[], inserted: InsertedCall[], facts: ToolFacts, options: OrderingPolicy) {
    this.#calls = calls;
    this.#inserted = inserted;
    this.#facts = facts;
    this.#options = options;
    calls.forEach((call, index) => this.#list(call, index));
  }

  edges(): number[][] {
    const waits: Waits[] = [];
    // Inserted calls are appended during the loop and handled by it.
    for (let index = 0; index < this.#calls.length; index += 1) {
      const call = this.#calls[index];
      if (call) waits.push(this.#waitsOf(call, index));
    }
    const edges: number[][] = waits.map(({ calls }) => [...calls]);
    const gates = new Map<string, number>();
    waits.forEach(({ tools }, index) => {
      for (const tool of tools) {
        const gate = gates.get(tool) ?? edges.push([...(this.#byTool.get(tool) ?? [])]) - 1;
        gates.set(tool, gate);
        edges[index]?.push(gate);
      }
    });
    return edges;
  }

  #waitsOf(call: ReadToolCall, index: number): Waits {
    const fact = this.#facts.of(call.tool ?? "");
    if (fact.isFirst) return { tools: [], calls: [] };
    const tools = new Set<string>();
    const calls = new Set(call.after.flatMap((id) => this.#positionsOf(id, call)));
    const waitFor = (name: string, isTool: boolean) => {
      const { key } = this.#facts.of(name);
      const single = (isTool ? undefined : this.#byId.get(name)) ?? this.#providersOf(name, key);
      // A call that provides its own dependency does not wait for itself.
      const others = single?.filter((position) => position !== index || name === call.id);
      if (others) for (const position of others) calls.add(position);
      else if (key !== fact.key && this.#isPresent(key, call, fact)) tools.add(key);
    };
    for (const name of fact.dependsOn) waitFor(name, true);
    for (const name of call.dependsOn) waitFor(name, false);
    return { tools: [...tools], calls: [...calls] };
  }

  /** The calls that provide a field, when no call has a tool of that name. */
  #providersOf(field: string, key: string): number[] | undefined {
    return this.#byTool.has(key) ? undefined : this.#byField.get(field);
  }

  #isPresent(tool: string, call: ReadToolCall, fact: ToolFact): boolean {
    if (this.#byTool.has(tool)) return true;
    if (this.#options.onAbsentDependency === "ignore") return false;
    const wanted = this.#facts.of(tool).descriptor;
    if (this.#options.onAbsentDependency !== "insert" || !wanted || !mayInsert(wanted, fact.descriptor)) {
      throw new DependencyAbsentError({ callId: call.id, dependency: tool, kind: "tool" });
    }
    const inserted: InsertedCall = { id: this.#freeId(tool), tool: wanted.name, arguments: {} };
    this.#inserted.push(inserted);
    const read = { ...inserted, after: [], dependsOn: [], provides: [], problems: [] };
    this.#list(read, this.#calls.push(read) - 1);
    return true;
  }

  #positionsOf(id: string, call: ReadToolCall): number[] {
    const positions = this.#byId.get(id);
    if (positions) return positions;
    if (this.#options.onAbsentDependency === "ignore") return [];
    throw new DependencyAbsentError({ callId: call.id, dependency: id, kind: "call" });
  }

  #list(call: ReadToolCall, index: number): void {
    const { key, provides } = this.#facts.of(call.tool ?? "");
    append(this.#byTool, key, index);
    append(this.#byId, call.id, index);
    for (const field of new Set([...provides, ...call.provides])) append(this.#byField, field, index);
  }

  #freeId(tool: string): string {
    if (!this.#byId.has(tool)) return tool;
    let number = 2;
    while (this.#byId.has(`${tool}-${number}`)) number += 1;
    return `${tool}-${number}`;
  }
}

function append(lists: Map<string, number[]>, key: string, index: number): void {
  const list = lists.get(key);
  if (list) list.push(index);
  else lists.set(key, [index]);
}

/** False when an untrusted server would cause calls of another server's tools. */
function mayInsert(wanted: ToolDescriptor, by: ToolDescriptor | undefined): boolean {
  return by?.trusted === true || by?.override !== undefined || by?.server === wanted.server;
}

/** The facts about a tool that ordering needs. */
interface ToolFact {
  /** Equal for all names of one tool. */
  key: string;
  descriptor: ToolDescriptor | undefined;
  isBarrier: boolean;
  /** Maximum number of its calls in one group. */
  limit: number;
  /** Keys of the tools that it waits for, without itself. */
  dependsOn: string[];
  /** Names of fields in its output. */
  provides: readonly string[];
  /** Navigation that starts at once, regardless of its dependencies. */
  isFirst: boolean;
}

/** Computes the facts of each tool once, at its first call. */
class ToolFacts {
  readonly #tools: ToolIndex;
  readonly #options: OrderingPolicy;
  readonly #known = new Map<string, ToolFact>();

  constructor(tools: readonly ToolDescriptor[], options: OrderingPolicy) {
    this.#tools = toolIndexOf(tools);
    this.#options = options;
  }

  of(name: string): ToolFact {
    const known = this.#known.get(name);
    if (known) return known;
    const descriptor = this.#tools.find(name);
    const fact = descriptor ? this.#describe(descriptor) : unknownTool(name);
    this.#known.set(name, fact);
    return fact;
  }

  #describe(descriptor: ToolDescriptor): ToolFact {
    const { unannotated, navigation } = this.#options;
    const { contract, sources } = toolContract(descriptor, { unannotated: unannotated ?? "parallel" });
    const isDeclared = (field: "mode" | "maxConcurrency") =>
      unannotated === "sequential" || (sources[field] !== "default" && sources[field] !== "annotations");
    const isLimited = isDeclared("mode") || isDeclared("maxConcurrency");
    const keys = contract.dependsOn.map(
      ({ tool }) => this.#tools.findRelated(descriptor, tool)?.name ?? tool,
    );
    return {
      key: descriptor.name,
      descriptor,
      isBarrier: contract.barrier,
      limit: isLimited ? (contract.maxConcurrency ?? Infinity) : Infinity,
      dependsOn: [...new Set(keys)].filter((key) => key !== descriptor.name),
      provides: contract.provides,
      isFirst: navigation === "first" && contract.navigation,
    };
  }
}

function unknownTool(name: string): ToolFact {
  return {
    key: name,
    descriptor: undefined,
    isBarrier: false,
    limit: Infinity,
    dependsOn: [],
    provides: [],
    isFirst: false,
  };
}

/** What decides the groups, in addition to dependencies. */
interface Grouping {
  /**
   * Positions from here on are gates ("all calls of a tool"), each with dependencies: they are in no group.
   */
  count: number;
  /** True for a position that runs alone. */
  isBarrier: (position: number) => boolean;
  /** True for navigation that starts at once: no barrier holds it. */
  isFirst: (position: number) => boolean;
  /** Positions with the same key share a limit. */
  keyOf: (position: number) => string;
  /** Maximum number of positions of a key in one group. */
  limitOf: (key: string) => number;
  maxParallel: number;
  /**
   * By position, the number of removed dependencies of a position that breaks a cycle: it runs only when
   * nothing else can run.
   */
  openers: ReadonlyMap<number, number>;
}

/** Positions that run at once, in order; a barrier group has one position. */
interface PositionGroup {
  isBarrier: boolean;
  positions: number[];
}

/** The groups of an acyclic graph, in order. Takes O(n log n) plus the time of {@link barrierOrder}. */
function groupPositions(dependencies: Edges, grouping: Grouping): PositionGroup[] {
  const ready = new ReadyPositions(barrierOrder(dependencies, grouping.isBarrier, grouping.count), grouping);
  const dependents = reversed(dependencies);
  const unmet = dependencies.map((list) => list.length);
  const settle = (met: number[]) => {
    // Gates whose last position has ended are added to `met` during the loop.
    for (const index of met) {
      for (const dependent of dependents[index] ?? []) {
        const left = (unmet[dependent] ?? 0) - 1;
        unmet[dependent] = left;
        if (left > 0) continue;
        if (dependent < grouping.count) ready.add(dependent);
        else met.push(dependent);
      }
    }
  };
  unmet.forEach((count, index) => {
    if (count === 0 && index < grouping.count) ready.add(index);
  });
  const groups: PositionGroup[] = [];
  for (let next = ready.take(); next; next = ready.take()) {
    groups.push(next);
    settle([...next.positions]);
    if (next.isBarrier) ready.release();
  }
  return groups;
}

/** Positions whose dependencies are met. */
class ReadyPositions {
  readonly #grouping: Grouping;
  readonly #order: BarrierOrder;
  /** Number of barriers that have ended, counted from the first. */
  #passed = 0;
  readonly #overBarriers = new Set<number>();
  /** Positions by the number of barriers that must end before. */
  readonly #held = new Map<number, number[]>();
  readonly #firstBarriers = new Heap(smallerFirst);
  readonly #barriers = new Heap(smallerFirst);
  /**
   * Positions except barriers, by key, so that the calls of a tool at its limit are not scanned for each
   * group.
   */
  readonly #byKey = new Map<string, Heap<number>>();
  /** The first position of each key; may contain outdated entries. */
  readonly #heads = new Heap(smallerFirst);
  /** By number of removed dependencies, then position. */
  readonly #openers = new Heap(smallerFirst);

  constructor(order: BarrierOrder, grouping: Grouping) {
    this.#order = order;
    this.#grouping = grouping;
  }

  add(position: number): void {
    const before = this.#grouping.isFirst(position) ? 0 : (this.#order.before[position] ?? 0);
    if (before > this.#passed) {
      const held = this.#held.get(before) ?? [];
      this.#held.set(before, held);
      held.push(position);
    } else this.#offer(position);
  }

  /** Releases the positions whose barriers have ended. */
  release(): void {
    const { barriers } = this.#order;
    for (let next = barriers[this.#passed]; next !== undefined; next = barriers[this.#passed]) {
      if (!this.#overBarriers.has(next)) return;
      this.#passed += 1;
      for (const position of this.#held.get(this.#passed) ?? []) this.#offer(position);
      this.#held.delete(this.#passed);
    }
  }

  /** The next group; undefined when nothing can run. */
  take(): PositionGroup | undefined {
    const first = this.#firstBarriers.pop();
    if (first !== undefined) return this.#alone(first);
    if (this.#firstHead() !== undefined) return { isBarrier: false, positions: this.#takeOthers() };
    // Everything that could run before the barrier has run: now the barrier runs.
    const barrier = this.#barriers.pop();
    if (barrier !== undefined) return this.#alone(barrier);
    const opener = this.#openers.pop();
    if (opener === undefined) return undefined;
    return this.#alone(opener % this.#grouping.count);
  }

  #alone(position: number): PositionGroup {
    const isBarrier = this.#grouping.isBarrier(position);
    if (isBarrier) this.#overBarriers.add(position);
    return { isBarrier, positions: [position] };
  }

  #offer(position: number): void {
    const { openers, count, isBarrier, isFirst, keyOf } = this.#grouping;
    const givenUp = openers.get(position);
    if (givenUp !== undefined) this.#openers.push(givenUp * count + position);
    else if (isBarrier(position)) (isFirst(position) ? this.#firstBarriers : this.#barriers).push(position);
    else {
      const key = keyOf(position);
      const queue = this.#byKey.get(key) ?? new Heap(smallerFirst);
      this.#byKey.set(key, queue);
      queue.push(position);
      if (queue.peek() === position) this.#heads.push(position);
    }
  }

  #takeOthers(): number[] {
    const { keyOf, limitOf, maxParallel } = this.#grouping;
    const positions: number[] = [];
    const counts = new Map<string, number>();
    const full: Heap<number>[] = [];
    while (positions.length < maxParallel) {
      const index = this.#firstHead();
      if (index === undefined) break;
      this.#heads.pop();
      const key = keyOf(index);
      const limit = limitOf(key);
      const count = (counts.get(key) ?? 0) + 1;
      if (count > limit) continue;
      counts.set(key, count);
      positions.push(index);
      const queue = this.#byKey.get(key);
      queue?.pop();
      const head = queue?.peek();
      if (!queue || head === undefined) continue;
      if (count < limit) this.#heads.push(head);
      else full.push(queue);
    }
    for (const queue of full) this.#heads.push(queue.peek() ?? Infinity);
    return positions;
  }

  #firstHead(): number | undefined {
    for (let head = this.#heads.peek(); head !== undefined; head = this.#heads.peek()) {
      if (this.#byKey.get(this.#grouping.keyOf(head))?.peek() === head) return head;
      this.#heads.pop();
    }
    return undefined;
  }
}

/** Calls that cannot be ordered: two have the same id, or one has no tool. */
export class ToolCallsInvalidError extends CodedError<{ diagnostics: readonly Diagnostic[] }> {
  readonly code = "TOOL_CALLS_INVALID";
  readonly retryable = false;
  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(({ message }) => message).join("; "), { diagnostics });
  }
}

/**
 * The diagnostics of the calls of one answer: duplicate ids and calls without a tool are errors; tools that
 * are defined twice are warnings (the later definition counts). `path` is the path in the list of calls.
 */
export function checkToolCalls(calls: readonly ToolCall[], tools: readonly ToolDescriptor[]): Diagnostic[] {
  return checkReadCalls(readToolCalls(calls, tools), toolIndexOf(tools).tools);
}

/** {@link checkToolCalls} of calls that are read already. */
function checkReadCalls(calls: readonly ReadToolCall[], tools: readonly ToolDescriptor[]): Diagnostic[] {
  const diagnostics = new DiagnosticCollector();
  const seen = new Set<string>();
  for (const [index, { id, tool }] of calls.entries()) {
    if (tool === undefined) {
      const message = `call ${id} names no tool; write {"id", "tool"} or {"id", "name"}`;
      diagnostics.add("FIELD_MISSING", { keys: [index, "tool"] }, { message });
    }
    if (seen.has(id)) {
      const message = `call id ${id} is used twice; each call needs its own id`;
      diagnostics.add("STEP_ID_DUPLICATE", { keys: [index, "id"] }, { message });
    }
    seen.add(id);
  }
  duplicateTools(tools, diagnostics);
  return diagnostics.toDiagnostics();
}

/**
 * One call of a model's answer, in any form that plans accept for a step: `{id, tool, arguments}`, `{name,
 * params}`, `{name, input}`, `{function: {name, arguments: "<JSON text>"}}`. Further fields are kept.
 */
export interface ToolCall {
  /** A call without an id is numbered: `call_1`. */
  id?: string | undefined;
  tool?: string | undefined;
  name?: string | undefined;
  function?: { readonly name?: unknown; readonly arguments?: unknown } | undefined;
  /** Ids of calls of the same answer that must end before. */
  after?: readonly string[] | undefined;
  /** Like `after`, but a name may also be a tool (all its calls) or a field that other calls provide. */
  dependsOn?: string | readonly string[] | null | undefined;
  depends_on?: string | readonly string[] | null | undefined;
  dependencies?: string | readonly string[] | null | undefined;
  /** Names of fields in its output. */
  provides?: string | readonly string[] | null | undefined;
}

/** A call as it was read, whatever its form. */
export interface ReadToolCall {
  /** Its own id, or a number of its own: `call_1`. */
  id: string;
  /** Undefined when it names no tool. */
  tool: string | undefined;
  /** The same object when the call has an object. */
  arguments: JsonObject;
  /** Ids of calls that must end before. */
  after: readonly string[];
  /** Ids, tools or provided fields, each once. */
  dependsOn: readonly string[];
  /** Names of fields in its output. */
  provides: readonly string[];
  /** Why the call must not be made: its arguments, or a field beside them, cannot be read. */
  problems: readonly string[];
}

/**
 * A call that is not in the answer, of a tool that another call depends on (`onAbsentDependency: "insert"`).
 */
export interface InsertedCall {
  id: string;
  tool: string;
  arguments: JsonObject;
}

/**
 * Options for ordering calls: `onCycle`, `onAbsentDependency`, `navigation`, `maxParallel`, `unannotated`, or
 * a `profile` of them. Default: the profile `ordered-calls`.
 */
export type OrderingPolicy = Pick<
  PolicyInput,
  "profile" | "onCycle" | "onAbsentDependency" | "navigation" | "maxParallel" | "unannotated"
>;

/**
 * The calls of one answer, read as plans read their steps.
 * @param tools - a name that is one of them wins over a label
 */
export function readToolCalls(calls: readonly ToolCall[], tools: readonly ToolDescriptor[]): ReadToolCall[] {
  const catalogue = createCatalogue(tools, { unannotated: "parallel" });
  const read = calls.map((call, index) => readToolCall(call, index, catalogue));
  const taken = new Set(read.flatMap(({ id }) => id ?? []));
  const numbers = new Map<string, number>();
  return read.map((call) => ({ ...call, id: call.id ?? nextFree("call", taken, numbers) }));
}

const LIMITS = LimitsSchema.parse({});

function readToolCall(
  call: ToolCall,
  index: number,
  catalogue: Catalogue,
): Omit<ReadToolCall, "id"> & { id: string | undefined } {
  const diagnostics = new DiagnosticCollector();
  const reading = { limits: LIMITS, catalogue, diagnostics };
  const step = createDraftStep({ index, id: "" });
  const form: unknown = call;
  const found = isJsonObject(form) ? stepFields(form, step, reading) : NO_FIELDS;
  const { fields } = found;
  const id = idIn(fields);
  step.id = id ?? `call ${index + 1}`;
  readCall(fields, step, reading);
  const tool = step.tool || toolIn(call);
  if (!fields.has("arguments")) judgeRest(found, step, { catalogue, diagnostics });
  return {
    id,
    tool,
    arguments: step.arguments,
    after: namesIn(fields, "after"),
    dependsOn: namesIn(fields, "dependsOn"),
    provides: readProvides(fields, step, new DiagnosticCollector()),
    problems: tool === undefined ? [] : problemsIn(fields, diagnostics),
  };
}

const NO_FIELDS: ReadFields = { fields: new Map(), unknown: [] };

function idIn(fields: Fields): string | undefined {
  const value = fields.get("id")?.value;
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A name that no plan allows is still the name of an unknown tool. */
function toolIn(call: ToolCall): string | undefined {
  return [call.tool, call.name].find((name) => typeof name === "string" && name !== "");
}

function namesIn(fields: Fields, field: string): string[] {
  const value = fields.get(field)?.value;
  const names = value === undefined ? [] : (dependencyNames(value) ?? []);
  return [...new Set(names.map(({ name }) => name))];
}

/** Arguments under a name that no dialect knows must not become a call without arguments. */
function judgeRest(
  { unknown }: ReadFields,
  step: DraftStep,
  { catalogue, diagnostics }: { catalogue: Catalogue; diagnostics: DiagnosticCollector },
): void {
  const isJson = (value: unknown) =>
    copyJson(value, { maxDepth: LIMITS.maxDepth, maxBytes: LIMITS.maxBytes }).ok;
  judgeStepFields(
    unknown.filter(({ value }) => isJson(value)),
    step,
    { tool: catalogue.find(step.tool), known: ["arguments"], diagnostics },
  );
}

/** Fields of a step that would be lost here, although they decide whether and how a call is made. */
const OF_PLANS = ["forEach", "when", "approval"];

function problemsIn(fields: Fields, diagnostics: DiagnosticCollector): string[] {
  const found = diagnostics.toDiagnostics().filter(({ severity, code }) => {
    return severity === "error" && code !== "FIELD_MISSING" && code !== "TOOL_NAME_INVALID";
  });
  const lost = OF_PLANS.filter((name) => fields.has(name));
  return [
    // The readers of plans speak of steps.
    ...found.map(({ message }) => message.replace(/^step /, "call ")),
    ...lost.map((name) => `${name} has a meaning only in a plan; run these calls as a plan`),
  ];
}
