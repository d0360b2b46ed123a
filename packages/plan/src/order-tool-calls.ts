/**
 * Orders the tool calls of one model answer into groups that run one after the other.
 *
 * 1. A group that is no barrier runs its calls at once; a barrier group is one call, of a tool beside which nothing runs.
 * 2. A call comes in a later group than every call it waits for: all calls of the tools its tool depends on, and those named in `after`.
 * 3. No group is split without need: whatever can run now and is no barrier runs in one group, wherever it stands in the list.
 * 4. Among what can run now, what stands first in the list decides whether the barrier or the others go first.
 */
import type { ToolContract } from "./contract.ts";
import { toolContract } from "./contract-of-tool.ts";
import { breakCycles, type Edges, findCycle, reversed } from "./graph-edges.ts";
import { MinHeap } from "./graph-heap.ts";
import type { JsonObject } from "./json.ts";
import { findRelatedTool, findTool } from "./name-tools.ts";
import { DependencyAbsentError, DependencyCycleError } from "./order-errors.ts";
import { type PolicyInput, profileOptions } from "./policy.ts";
import type { ToolDescriptor } from "./tool-descriptor.ts";

/** One call of a model's answer; further fields are kept. */
export interface ToolCall {
  id: string;
  tool: string;
  /** Ids of calls of the same answer that must be over before. */
  after?: readonly string[] | undefined;
}

/** A call that nobody asked for, of a tool that another call depends on (`onAbsentDependency: "insert"`). */
export interface InsertedCall {
  id: string;
  tool: string;
  arguments: JsonObject;
}

/** Calls that may run at once; a barrier is one call with nothing beside it. */
export interface CallGroup<Call extends ToolCall = ToolCall> {
  isBarrier: boolean;
  calls: (Call | InsertedCall)[];
}

/** What orders calls: `onCycle`, `onAbsentDependency`, `navigation`, `maxParallel`, `unannotated`, or a `profile` of them. */
export type OrderingPolicy = Pick<
  PolicyInput,
  "profile" | "onCycle" | "onAbsentDependency" | "navigation" | "maxParallel" | "unannotated"
>;

/**
 * The calls in groups; the same call objects, each once. Time is O(n log n) in calls and dependencies.
 *
 * Only what tools declare orders calls: a tool that declares no mode does not run alone with itself unless the policy says
 * `unannotated: "sequential"`; `sequential-only` and `max_concurrency` bound the calls of a tool in one group. Groups have no other
 * size limit unless the policy gives `maxParallel`. A tool that depends on itself is not held back by that. A call of
 * a tool that is not among `tools` waits for its `after` only.
 *
 * `insert` adds one call without arguments for each absent tool (and for what that one depends on) when it is among `tools`; an
 * untrusted tool can bring in tools of its own server only. A call that is absent cannot be inserted: an error.
 * @throws {DependencyCycleError} for a cycle under `onCycle: "error"`, the default
 * @throws {DependencyAbsentError} for an absent tool or call under `onAbsentDependency: "error"`, the default
 */
export function orderToolCalls<Call extends ToolCall>(
  calls: readonly Call[],
  tools: readonly ToolDescriptor[],
  policy: OrderingPolicy = {},
): CallGroup<Call>[] {
  const options = optionsOf(policy);
  const facts = new ToolFacts(tools, options);
  const all: (Call | InsertedCall)[] = [...calls];
  const edges = new CallEdges(all, facts, options).edges();
  return groupCalls(all, acyclic(edges, all, options), facts, options.maxParallel ?? Infinity);
}

/**
 * False when all calls may simply run at once: no call waits for another, none is of a barrier tool beside others, no tool
 * is over its limit. Judges by the same rules as {@link orderToolCalls}, and throws nothing: what would be an error there needs ordering.
 */
export function needsOrdering(
  calls: readonly ToolCall[],
  tools: readonly ToolDescriptor[],
  policy: OrderingPolicy = {},
): boolean {
  const options = optionsOf(policy);
  const facts = new ToolFacts(tools, options);
  if (calls.length > (options.maxParallel ?? Infinity)) return true;
  const counts = new Map<string, number>();
  return calls.some((call) => {
    const fact = facts.of(call.tool);
    const count = (counts.get(fact.key) ?? 0) + 1;
    counts.set(fact.key, count);
    const waits = !fact.isFirst && ((call.after?.length ?? 0) > 0 || fact.dependsOn.length > 0);
    return waits || count > fact.limit || (fact.isBarrier && calls.length > 1);
  });
}

function optionsOf(policy: OrderingPolicy): OrderingPolicy {
  return { ...(policy.profile === undefined ? {} : profileOptions(policy.profile)), ...policy };
}

/** What ordering needs to know of a tool. */
interface ToolFact {
  /** The same for every name of one tool. */
  key: string;
  descriptor: ToolDescriptor | undefined;
  contract: ToolContract | undefined;
  isBarrier: boolean;
  /** Calls of it in one group. */
  limit: number;
  /** Keys of the tools that it waits for, itself left out. */
  dependsOn: string[];
  /** Navigation that starts at once, whatever it depends on. */
  isFirst: boolean;
}

/** Contracts are decided once a tool, when one of its calls is met. */
class ToolFacts {
  readonly #tools: readonly ToolDescriptor[];
  readonly #options: OrderingPolicy;
  readonly #known = new Map<string, ToolFact>();

  constructor(tools: readonly ToolDescriptor[], options: OrderingPolicy) {
    this.#tools = tools;
    this.#options = options;
  }

  of(name: string): ToolFact {
    const known = this.#known.get(name);
    if (known) return known;
    const descriptor = findTool(this.#tools, name);
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
      ({ tool }) => findRelatedTool(this.#tools, descriptor, tool)?.name ?? tool,
    );
    return {
      key: descriptor.name,
      descriptor,
      contract,
      isBarrier: contract.barrier,
      limit: isLimited ? (contract.maxConcurrency ?? Infinity) : Infinity,
      dependsOn: [...new Set(keys)].filter((key) => key !== descriptor.name),
      isFirst: navigation === "first" && contract.navigation,
    };
  }
}

function unknownTool(name: string): ToolFact {
  return {
    key: name,
    descriptor: undefined,
    contract: undefined,
    isBarrier: false,
    limit: Infinity,
    dependsOn: [],
    isFirst: false,
  };
}

/**
 * Positions of calls first, then one position for each tool that is waited for: it stands for "all calls of this tool", so that
 * n calls behind m calls are n + m edges.
 */
class CallEdges<Call extends ToolCall> {
  readonly #calls: (Call | InsertedCall)[];
  readonly #facts: ToolFacts;
  readonly #options: OrderingPolicy;
  readonly #byTool = new Map<string, number[]>();
  readonly #byId = new Map<string, number[]>();

  /** @param calls - gets the inserted calls appended */
  constructor(calls: (Call | InsertedCall)[], facts: ToolFacts, options: OrderingPolicy) {
    this.#calls = calls;
    this.#facts = facts;
    this.#options = options;
    calls.forEach((call, index) => this.#list(call, index));
  }

  edges(): number[][] {
    const waits: { tools: string[]; calls: number[] }[] = [];
    // Inserted calls are appended while this goes on, and looked at in their turn.
    for (let index = 0; index < this.#calls.length; index += 1) {
      const call = this.#calls[index];
      if (call) waits.push(this.#waitsOf(call));
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

  #waitsOf(call: Call | InsertedCall): { tools: string[]; calls: number[] } {
    const fact = this.#facts.of(call.tool);
    if (fact.isFirst) return { tools: [], calls: [] };
    const tools = fact.dependsOn.filter((tool) => this.#isPresent(tool, call, fact));
    const after = "after" in call ? new Set(call.after) : new Set<string>();
    return { tools, calls: [...after].flatMap((id) => this.#positionsOf(id, call)) };
  }

  #isPresent(tool: string, call: Call | InsertedCall, fact: ToolFact): boolean {
    if (this.#byTool.has(tool)) return true;
    if (this.#options.onAbsentDependency === "ignore") return false;
    const wanted = this.#facts.of(tool).descriptor;
    if (this.#options.onAbsentDependency !== "insert" || !wanted || !mayInsert(wanted, fact.descriptor)) {
      throw new DependencyAbsentError({ callId: call.id, dependency: tool, kind: "tool" });
    }
    const inserted: InsertedCall = { id: this.#freeId(tool), tool: wanted.name, arguments: {} };
    this.#list(inserted, this.#calls.push(inserted) - 1);
    return true;
  }

  #positionsOf(id: string, call: Call | InsertedCall): number[] {
    const positions = this.#byId.get(id);
    if (positions) return positions;
    if (this.#options.onAbsentDependency === "ignore") return [];
    throw new DependencyAbsentError({ callId: call.id, dependency: id, kind: "call" });
  }

  #list(call: Call | InsertedCall, index: number): void {
    append(this.#byTool, this.#facts.of(call.tool).key, index);
    append(this.#byId, call.id, index);
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

/** A stranger's word must not make us call the tools of others. */
function mayInsert(wanted: ToolDescriptor, by: ToolDescriptor | undefined): boolean {
  return by?.trusted === true || by?.override !== undefined || by?.server === wanted.server;
}

function acyclic(edges: Edges, calls: readonly ToolCall[], { onCycle = "error" }: OrderingPolicy): Edges {
  const cycle = findCycle(edges);
  if (!cycle) return edges;
  if (onCycle === "error") throw new DependencyCycleError(cycle.flatMap((index) => calls[index]?.id ?? []));
  return breakCycles(edges, onCycle, calls.length).dependencies;
}

function groupCalls<Call extends ToolCall>(
  calls: readonly (Call | InsertedCall)[],
  edges: Edges,
  facts: ToolFacts,
  maxParallel: number,
): CallGroup<Call>[] {
  const ready = new ReadyCalls(calls, facts, maxParallel);
  const dependents = reversed(edges);
  const unmet = edges.map((list) => list.length);
  const settle = (met: number[]) => {
    // `met` grows by the tools whose last call is over.
    for (const index of met) {
      for (const dependent of dependents[index] ?? []) {
        const left = (unmet[dependent] ?? 0) - 1;
        unmet[dependent] = left;
        if (left === 0 && dependent < calls.length) ready.add(dependent);
        else if (left === 0) met.push(dependent);
      }
    }
  };
  unmet.forEach((count, index) => {
    if (count === 0 && index < calls.length) ready.add(index);
  });
  const groups: CallGroup<Call>[] = [];
  for (let next = ready.take(); next; next = ready.take()) {
    groups.push({ isBarrier: next.isBarrier, calls: next.positions.flatMap((index) => calls[index] ?? []) });
    settle([...next.positions]);
  }
  return groups;
}

/** Calls that can run now. */
class ReadyCalls {
  readonly #calls: readonly ToolCall[];
  readonly #facts: ToolFacts;
  readonly #maxParallel: number;
  readonly #barriers = new MinHeap();
  /** Calls that are no barrier, by tool: a tool at its limit is not walked through again and again. */
  readonly #byTool = new Map<string, MinHeap>();
  /** The first call of each tool, and entries that are so no more. */
  readonly #heads = new MinHeap();

  constructor(calls: readonly ToolCall[], facts: ToolFacts, maxParallel: number) {
    this.#calls = calls;
    this.#facts = facts;
    this.#maxParallel = maxParallel;
  }

  add(index: number): void {
    const { key, isBarrier } = this.#factOf(index);
    if (isBarrier) {
      this.#barriers.push(index);
      return;
    }
    const queue = this.#byTool.get(key) ?? new MinHeap();
    this.#byTool.set(key, queue);
    queue.push(index);
    if (queue.smallest === index) this.#heads.push(index);
  }

  /** The next group, as positions in list order; undefined when nothing can run. */
  take(): { isBarrier: boolean; positions: number[] } | undefined {
    const barrier = this.#barriers.smallest;
    const other = this.#firstHead();
    if (barrier !== undefined && (other === undefined || barrier < other)) {
      this.#barriers.pop();
      return { isBarrier: true, positions: [barrier] };
    }
    return other === undefined ? undefined : { isBarrier: false, positions: this.#takeOthers() };
  }

  #takeOthers(): number[] {
    const positions: number[] = [];
    const counts = new Map<string, number>();
    const full: MinHeap[] = [];
    while (positions.length < this.#maxParallel) {
      const index = this.#firstHead();
      if (index === undefined) break;
      this.#heads.pop();
      const { key, limit } = this.#factOf(index);
      const count = (counts.get(key) ?? 0) + 1;
      if (count > limit) continue;
      counts.set(key, count);
      positions.push(index);
      const queue = this.#byTool.get(key);
      queue?.pop();
      if (queue?.smallest === undefined) continue;
      if (count < limit) this.#heads.push(queue.smallest);
      else full.push(queue);
    }
    for (const { smallest } of full) if (smallest !== undefined) this.#heads.push(smallest);
    return positions;
  }

  #firstHead(): number | undefined {
    for (let head = this.#heads.smallest; head !== undefined; head = this.#heads.smallest) {
      if (this.#byTool.get(this.#factOf(head).key)?.smallest === head) return head;
      this.#heads.pop();
    }
    return undefined;
  }

  #factOf(index: number): ToolFact {
    return this.#facts.of(this.#calls[index]?.tool ?? "");
  }
}
