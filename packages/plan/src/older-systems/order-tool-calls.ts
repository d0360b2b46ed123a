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

import { breakCycles, openersOf } from "../graph/break-cycles.ts";
import { type Edges, findCycle } from "../graph/edges.ts";
import { DependencyCycleError } from "../graph/order-errors.ts";
import { profileOptions } from "../policy/policy.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { CallEdges } from "./call-edges.ts";
import { ToolFacts } from "./call-facts.ts";
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
