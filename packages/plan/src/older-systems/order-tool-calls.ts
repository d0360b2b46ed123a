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
import { breakCycles, openersOf } from "../graph/break-cycles.ts";
import { type Edges, findCycle } from "../graph/edges.ts";
import { DependencyAbsentError, DependencyCycleError } from "../graph/order-errors.ts";
import { profileOptions } from "../policy/policy.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { type ToolIndex, toolIndexOf } from "../tools/tool-index.ts";
import { groupPositions } from "./call-groups.ts";
import { checkReadCalls, ToolCallsInvalidError } from "./check-tool-calls.ts";
import {
  type InsertedCall,
  type OrderingPolicy,
  type ReadToolCall,
  readToolCalls,
  type ToolCall,
} from "./tool-call.ts";

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
