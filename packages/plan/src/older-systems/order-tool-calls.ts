/**
 * Orders the tool calls of one model answer into groups that run one after the other: the interface of an
 * older system, by the same rules as plans.
 *
 * 1. A group that is no barrier runs its calls at once; a barrier group is one call, of a tool beside which
 *    nothing runs.
 * 2. A call comes in a later group than every call it waits for: all calls of the tools its tool depends on,
 *    and those that it names.
 * 3. A call comes in a later group than every barrier that stands before it in the list, unless that barrier
 *    waits for it.
 * 4. No group is split further: all calls that can run now and are no barrier are one group, and a barrier
 *    comes when all calls before it that can run have run.
 */

import { breakCycles, openersOf } from "../graph/break-cycles.ts";
import { type Edges, findCycle } from "../graph/edges.ts";
import { DependencyCycleError } from "../graph/order-errors.ts";
import { profileOptions } from "../policy/policy.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { CallEdges } from "./call-edges.ts";
import { ToolFacts } from "./call-facts.ts";
import { groupPositions } from "./call-groups.ts";
import { checkToolCalls, ToolCallsInvalidError } from "./check-tool-calls.ts";
import {
  dependenciesOfCall,
  type InsertedCall,
  type OrderingPolicy,
  type ToolCall,
  toolOfCall,
} from "./tool-call.ts";

/** Calls that may run at once; a barrier is one call with nothing beside it. */
export interface CallGroup<Call extends ToolCall = ToolCall> {
  isBarrier: boolean;
  calls: (Call | InsertedCall)[];
}

/**
 * The calls in groups; the same call objects, each once. Time is O(n log n) in calls and dependencies where
 * barriers wait for earlier calls (see `barrierOrder`).
 *
 * Only what tools declare orders calls: a tool that declares no mode does not run alone with itself unless
 * the policy says `unannotated: "sequential"`; `sequential-only` and `max_concurrency` bound the calls of a
 * tool in one group. Groups have no other size limit unless the policy gives `maxParallel`. A tool that
 * depends on itself is not held back by that. A call of a tool that is not among `tools` waits for what it
 * names itself and for barriers only. Of a tool defined twice the later definition counts.
 *
 * `insert` adds one call without arguments for each absent tool (and for what that one depends on) when it is
 * among `tools`; an untrusted tool can bring in tools of its own server only. A call that is absent cannot be
 * inserted: an error.
 * @throws {ToolCallsInvalidError} for two calls with one id, and for a call that names no tool (see
 * `checkToolCalls`)
 * @throws {DependencyCycleError} for a cycle under `onCycle: "error"`, the default
 * @throws {DependencyAbsentError} for an absent tool or call under `onAbsentDependency: "error"`, the default
 */
export function orderToolCalls<Call extends ToolCall>(
  calls: readonly Call[],
  tools: readonly ToolDescriptor[],
  policy: OrderingPolicy = {},
): CallGroup<Call>[] {
  const errors = checkToolCalls(calls, tools).filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new ToolCallsInvalidError(errors);
  const options = optionsOf(policy);
  const facts = new ToolFacts(tools, options);
  const all: (Call | InsertedCall)[] = [...calls];
  const { edges, openers } = acyclic(new CallEdges(all, facts, options).edges(), all, options);
  const factOf = (position: number) => facts.of(toolOfPosition(all, position));
  const groups = groupPositions(edges, {
    count: all.length,
    isBarrier: (position) => factOf(position).isBarrier,
    isFirst: (position) => factOf(position).isFirst,
    keyOf: (position) => factOf(position).key,
    limitOf: (key) => facts.of(key).limit,
    maxParallel: options.maxParallel ?? Infinity,
    openers,
  });
  return groups.map(({ isBarrier, positions }) => ({
    isBarrier,
    calls: positions.flatMap((position) => all[position] ?? []),
  }));
}

/**
 * False when all calls may run at once: no call waits for another, none is of a barrier tool beside others,
 * no tool exceeds its limit. Follows the rules of {@link orderToolCalls} and never throws: true for calls
 * that are an error there.
 */
export function needsOrdering(
  calls: readonly ToolCall[],
  tools: readonly ToolDescriptor[],
  policy: OrderingPolicy = {},
): boolean {
  const options = optionsOf(policy);
  const facts = new ToolFacts(tools, options);
  if (calls.length > (options.maxParallel ?? Infinity)) return true;
  if (checkToolCalls(calls, []).length > 0) return true;
  const counts = new Map<string, number>();
  return calls.some((call) => {
    const fact = facts.of(toolOfCall(call) ?? "");
    const count = (counts.get(fact.key) ?? 0) + 1;
    counts.set(fact.key, count);
    const named = (call.after?.length ?? 0) + dependenciesOfCall(call).length;
    const waits = !fact.isFirst && (named > 0 || fact.dependsOn.length > 0);
    return waits || count > fact.limit || (fact.isBarrier && calls.length > 1);
  });
}

function optionsOf(policy: OrderingPolicy): OrderingPolicy {
  return { ...(policy.profile === undefined ? {} : profileOptions(policy.profile)), ...policy };
}

function toolOfPosition(calls: readonly ToolCall[], position: number): string {
  const call = calls[position];
  return (call && toolOfCall(call)) ?? "";
}

function acyclic(
  edges: Edges,
  calls: readonly ToolCall[],
  { onCycle = "error" }: OrderingPolicy,
): { edges: Edges; openers: ReadonlyMap<number, number> } {
  const cycle = findCycle(edges);
  if (!cycle) return { edges, openers: new Map() };
  if (onCycle === "error") throw new DependencyCycleError(cycle.flatMap((index) => calls[index]?.id ?? []));
  const broken = breakCycles(edges, onCycle, calls.length);
  return { edges: broken.dependencies, openers: openersOf(broken, onCycle) };
}
