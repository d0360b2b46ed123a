/**
 * Views of a plan's graph for reports and for the scheduler. Execution itself has no waves: a step starts
 * when it can.
 */
import type { ToolContract } from "../contract/contract.ts";
import { CodedError } from "../document/diagnostic.ts";
import { type Plan, toolOfStep } from "../document/plan.ts";
import type { Policy } from "../document/policy.ts";
import { components, type Edges, Heap, reversed, smallerFirst, topologicalOrder } from "./edges.ts";
import { type PlanGraph, planGraph } from "./plan-graph.ts";

/** The parts of a plan that decide its order; without a policy a cycle is an error. */
type PlanToOrder = Pick<Plan, "steps"> & { policy?: Partial<Pick<Policy, "onCycle">> | undefined };

/** A graph without cycles, with steps in plan order, by position. */
interface OrderedGraph {
  ids: string[];
  dependencies: number[][];
}

/**
 * The dependencies of a graph after its cycles were broken by the policy, by step id in plan order.
 * @throws {DependencyCycleError} when there is a cycle and the policy is "error"
 */
export function acyclicDependencies(
  graph: PlanGraph,
  onCycle: Policy["onCycle"] = "error",
): Map<string, string[]> {
  const { ids, dependencies } = orderedGraph(graph, onCycle);
  return new Map(
    ids.map((id, index) => [id, (dependencies[index] ?? []).flatMap((other) => ids[other] ?? [])]),
  );
}

/** Further sources of order. */
interface OrderOptions {
  /** Contracts by tool: tools in `dependsOn` come first, and a barrier is alone. */
  contracts?: ReadonlyMap<string, Pick<ToolContract, "dependsOn" | "barrier">> | undefined;
}

/**
 * Steps in waves: each wave has the steps whose last dependency is in the previous wave, in plan order. A
 * barrier is a separate wave, after all steps before it and before all steps after it (start rule).
 * @throws {DependencyCycleError} when there is a cycle and the plan's policy is "error"
 */
export function planWaves(plan: PlanToOrder, options: OrderOptions = {}): string[][] {
  const { ids, dependencies } = graphWithBarriers(plan, options);
  const waveOf = new Uint32Array(ids.length);
  for (const index of topologicalOrder(dependencies)) {
    for (const other of dependencies[index] ?? []) {
      waveOf[index] = Math.max(waveOf[index] ?? 0, (waveOf[other] ?? 0) + 1);
    }
  }
  const waves: string[][] = [];
  ids.forEach((id, index) => {
    const wave = waveOf[index] ?? 0;
    while (waves.length <= wave) waves.push([]);
    waves[wave]?.push(id);
  });
  return waves;
}

/**
 * Step ids with dependencies first and barriers in barrier order; otherwise plan order, so a plan that is
 * already in order is returned unchanged.
 * @throws {DependencyCycleError} when there is a cycle and the plan's policy is "error"
 */
export function executionOrder(plan: PlanToOrder, options: OrderOptions = {}): string[] {
  const { ids, dependencies } = graphWithBarriers(plan, options);
  return topologicalOrder(dependencies).flatMap((index) => ids[index] ?? []);
}

/**
 * The graph in which each barrier also waits for the steps between the previous barrier and itself, and the
 * following steps wait for it.
 */
function graphWithBarriers(plan: PlanToOrder, { contracts }: OrderOptions): OrderedGraph {
  const graph = orderedGraph(planGraph(plan, { contracts }), plan.policy?.onCycle);
  if (!contracts) return graph;
  const { ids } = graph;
  const barrierIds = new Set(
    plan.steps.flatMap((step) => (contracts.get(toolOfStep(step))?.barrier ? [step.id] : [])),
  );
  const { barriers, before } = barrierOrder(graph.dependencies, (index) => barrierIds.has(ids[index] ?? ""));
  if (barriers.length === 0) return graph;
  // A step before a barrier that waits for a step after the barrier also comes after it: the barrier does not
  // wait for that step.
  const placeOf = new Map(barriers.map((index, place) => [index, place]));
  for (const index of topologicalOrder(graph.dependencies)) {
    for (const other of graph.dependencies[index] ?? []) {
      const least = (placeOf.get(other) ?? -1) + 1;
      before[index] = Math.max(before[index] ?? 0, before[other] ?? 0, least);
    }
  }
  const dependencies = graph.dependencies.map((list) => [...list]);
  before.forEach((count, index) => {
    const last = barriers[count - 1];
    const next = barriers[count];
    if (last !== undefined) dependencies[index]?.push(last);
    if (next !== undefined && next !== index) dependencies[next]?.push(index);
  });
  return { ids, dependencies };
}

function orderedGraph(graph: PlanGraph, onCycle: Policy["onCycle"] = "error"): OrderedGraph {
  const ids = [...graph.dependencies.keys()];
  const positions = new Map(ids.map((id, index) => [id, index]));
  const dependencies = ids.map((id) =>
    (graph.dependencies.get(id) ?? []).flatMap((other) => positions.get(other) ?? []),
  );
  if (!graph.cycle) return { ids, dependencies };
  if (onCycle === "error") throw new DependencyCycleError(graph.cycle);
  return { ids, dependencies: breakCycles(dependencies, onCycle).dependencies };
}

/** A graph without cycles, and the edges that were removed, as [position, dependency]. */
interface Acyclic {
  dependencies: number[][];
  dropped: [number, number][];
}

/**
 * Removes edges inside cycles, never edges between cycles or after them. `break-fewest`: while all members of
 * a cycle wait, the one with the fewest unmet dependencies, then the first, breaks it (see {@link
 * openersOf}). `run-together`: no member waits for another. O((V + E) log V).
 * @param count - positions from here on are gates ("all calls of a tool"), which stand for their
 *   dependencies. A position whose edge to a gate is removed still waits for the dependencies of the gate
 *   outside the cycle; further gates are appended for that. Default: no gates
 */
export function breakCycles(
  dependencies: Edges,
  onCycle: Exclude<Policy["onCycle"], "error">,
  count: number = dependencies.length,
): Acyclic {
  const kept = dependencies.map((list) => [...list]);
  const dropped: [number, number][] = [];
  const dependents = reversed(dependencies);
  for (const members of components(dependencies)) {
    const [first] = members;
    if (first === undefined || (members.length === 1 && !dependencies[first]?.includes(first))) continue;
    const inside = new Set(members);
    const outsideGate = outsideGates(dependencies, inside, kept);
    const removeEdges = (index: number, isDone: (other: number) => boolean) => {
      kept[index] = (kept[index] ?? []).flatMap((other) => {
        if (!inside.has(other) || isDone(other)) return other;
        dropped.push([index, other]);
        if (other < count) return [];
        const done = (dependencies[other] ?? []).filter((call) => inside.has(call) && isDone(call));
        return [...outsideGate(other), ...done];
      });
    };
    if (onCycle === "run-together") {
      for (const index of members) if (index < count) removeEdges(index, () => false);
    } else breakFewest(members, { dependencies, dependents, inside, count, removeEdges });
  }
  return { dependencies: kept, dropped };
}

/**
 * The positions that break a cycle under `break-fewest`, with the number of their removed dependencies: they
 * start only when nothing else can run, the one with the fewest first. Under `run-together` there are none:
 * every position of a cycle starts when it can.
 */
export function openersOf({ dropped }: Acyclic, onCycle: Policy["onCycle"]): Map<number, number> {
  const openers = new Map<number, number>();
  if (onCycle !== "break-fewest") return openers;
  for (const [position] of dropped) openers.set(position, (openers.get(position) ?? 0) + 1);
  return openers;
}

/**
 * For a gate of a cycle: a gate for its dependencies outside the cycle, created once; none when there are no
 * such dependencies.
 */
function outsideGates(
  dependencies: Edges,
  inside: ReadonlySet<number>,
  kept: number[][],
): (gate: number) => number[] {
  const made = new Map<number, number[]>();
  return (gate) => {
    const known = made.get(gate);
    if (known) return known;
    const outside = (dependencies[gate] ?? []).filter((call) => !inside.has(call));
    const gates = outside.length === 0 ? [] : [kept.push(outside) - 1];
    made.set(gate, gates);
    return gates;
  };
}

function breakFewest(
  members: readonly number[],
  component: {
    dependencies: Edges;
    dependents: Edges;
    inside: ReadonlySet<number>;
    count: number;
    removeEdges: (index: number, isDone: (other: number) => boolean) => void;
  },
): void {
  const { dependencies, dependents, inside, count, removeEdges } = component;
  const unmet = new Map<number, number>();
  const fewest = new Heap(smallerFirst);
  const size = dependencies.length;
  const done = new Set<number>();
  for (const index of members) {
    const waits = dependencies[index]?.filter((other) => inside.has(other)).length ?? 0;
    unmet.set(index, waits);
    if (index < count) fewest.push(waits * size + index);
  }
  for (let entry = fewest.pop(); entry !== undefined; entry = fewest.pop()) {
    const chosen = entry % size;
    // An outdated entry, or one of a member that is done.
    if (done.has(chosen) || unmet.get(chosen) !== (entry - chosen) / size) continue;
    if (unmet.get(chosen) !== 0) removeEdges(chosen, (other) => done.has(other));
    done.add(chosen);
    const finished = [chosen];
    for (const index of finished) {
      for (const dependent of dependents[index] ?? []) {
        if (!inside.has(dependent) || done.has(dependent)) continue;
        const left = (unmet.get(dependent) ?? 0) - 1;
        unmet.set(dependent, left);
        if (dependent < count) fewest.push(left * size + dependent);
        else if (left === 0) {
          done.add(dependent);
          finished.push(dependent);
        }
      }
    }
  }
}

/** Steps or calls wait for each other, and the policy is `onCycle: "error"`. */
export class DependencyCycleError extends CodedError<{ cycle: readonly string[] }> {
  readonly code = "DEPENDENCY_CYCLE";
  readonly retryable = false;
  /** @param cycle - ids, each waiting for the next and the last for the first */
  constructor(cycle: readonly string[]) {
    const shown = cycle.length > 20 ? [...cycle.slice(0, 20), "..."] : cycle;
    super(`These wait for each other: ${[...shown, ...cycle.slice(0, 1)].join(" -> ")}`, { cycle });
  }
}

/** A call waits for a tool or a call that does not exist, and the policy does not allow that. */
export class DependencyAbsentError extends CodedError<{
  callId: string;
  dependency: string;
  kind: "tool" | "call";
}> {
  readonly code = "DEPENDENCY_ABSENT";
  readonly retryable = false;
  constructor(facts: { callId: string; dependency: string; kind: "tool" | "call" }) {
    const missing =
      facts.kind === "tool"
        ? `tool ${facts.dependency}, which is not called`
        : `call ${facts.dependency}, which does not exist`;
    super(`Call ${facts.callId} waits for ${missing}`, facts);
  }
}

/*
 * The order of a plan with its barriers.
 *
 * 1. Positions come in plan order, except that all direct and indirect dependencies of a barrier come before
 *    that barrier.
 * 2. Barriers are handled in this order, so of two barriers that would wait for each other's followers the
 *    first one decides.
 * 3. A position waits for all barriers before it, and for no other barrier. Together with the dependencies
 *    this makes no cycle, because all dependencies of a barrier come before it.
 *
 * A barrier moves its dependencies before itself. Of all barriers that wait for a position, the first one
 * moves it; among the dependencies of that barrier again the first barrier, and so on. So each position has a
 * scope, which is a path of barriers with growing positions. The scopes form a tree, and the order is a walk
 * through it.
 */

/** The barriers of a graph, and the positions that wait for them. */
export interface BarrierOrder {
  /** Positions of the barriers, in barrier order. */
  barriers: number[];
  /** For each position, the number of barriers before it: it starts when they have ended. */
  before: number[];
}

/**
 * Decides which positions wait for which barriers (start rule: a position starts when no unfinished barrier
 * is before it, except barriers that wait for it). Takes O((V + E) log V).
 * @param dependencies - without cycles
 * @param count - positions from here on are gates: not steps, but groups of the positions that they wait for.
 *   Default: no gates
 */
export function barrierOrder(
  dependencies: Edges,
  isBarrier: (position: number) => boolean,
  count: number = dependencies.length,
): BarrierOrder {
  const isBarrierAt = (position: number) => position < count && isBarrier(position);
  const scopes = new ScopeTree(dependencies.length);
  const dependents = reversed(dependencies);
  /** The first scope in which a position waits for it; later positions of the plan may be in it as well. */
  const widest = new Int32Array(dependencies.length);
  // Dependents are handled before their dependencies.
  for (const position of topologicalOrder(dependencies).reverse()) {
    let first = ROOT;
    for (const dependent of dependents[position] ?? []) {
      const scope = isBarrierAt(dependent) ? dependent + 1 : (widest[dependent] ?? ROOT);
      first = scopes.first(first, scope);
    }
    widest[position] = first;
    if (isBarrierAt(position)) scopes.open(position, scopes.upTo(first, position));
  }
  const children = Array.from({ length: count + 1 }, (): number[] => []);
  for (let position = 0; position < count; position += 1) {
    const scope = scopes.upTo(widest[position] ?? ROOT, position);
    children[scope]?.push(position);
  }
  return walk(children, isBarrierAt, count);
}

/** The positions of each scope in plan order, each barrier after its scope. */
function walk(
  children: readonly (readonly number[])[],
  isBarrier: (position: number) => boolean,
  count: number,
): BarrierOrder {
  const barriers: number[] = [];
  const before = Array.from({ length: count }, () => 0);
  const path = [{ scope: ROOT, next: 0 }];
  for (let top = path.at(-1); top; top = path.at(-1)) {
    const position = children[top.scope]?.[top.next];
    top.next += 1;
    if (position === undefined) {
      path.pop();
      if (top.scope === ROOT) continue;
      before[top.scope - 1] = barriers.length;
      barriers.push(top.scope - 1);
    } else if (isBarrier(position)) path.push({ scope: position + 1, next: 0 });
    else before[position] = barriers.length;
  }
  return { barriers, before };
}

/** The scope of the plan; the scope of a barrier is its position plus one. */
const ROOT = 0;

/**
 * Scopes as paths from the root, with jumps over several levels.
 * @see E. Myers, "An applicative random-access stack", Information Processing Letters 17(5), 1983
 */
class ScopeTree {
  readonly #parent: Int32Array;
  readonly #jump: Int32Array;
  readonly #depth: Int32Array;

  constructor(size: number) {
    this.#parent = new Int32Array(size + 1);
    this.#jump = new Int32Array(size + 1);
    this.#depth = new Int32Array(size + 1);
  }

  /** Creates the scope of a barrier, inside the scope that contains the barrier. */
  open(barrier: number, parent: number): void {
    const scope = barrier + 1;
    const jump = this.#up(this.#jump, parent);
    const isEven =
      this.#at(parent) - this.#at(jump) === this.#at(jump) - this.#at(this.#up(this.#jump, jump));
    this.#parent[scope] = parent;
    this.#depth[scope] = this.#at(parent) + 1;
    this.#jump[scope] = isEven ? this.#up(this.#jump, jump) : parent;
  }

  /** The part of a path with barriers before a position. */
  upTo(scope: number, position: number): number {
    let at = scope;
    while (at > position) {
      const jump = this.#up(this.#jump, at);
      at = jump > position ? jump : this.#up(this.#parent, at);
    }
    return at;
  }

  /**
   * The first of two scopes: the one with the earlier barrier at their fork, or the inner one when one
   * contains the other.
   */
  first(one: number, other: number): number {
    if (one === other) return one;
    const depth = Math.min(this.#at(one), this.#at(other));
    let a = this.#lift(one, depth);
    let b = this.#lift(other, depth);
    if (a === b) return this.#at(one) > depth ? one : other;
    while (this.#up(this.#parent, a) !== this.#up(this.#parent, b)) {
      const by = this.#up(this.#jump, a) === this.#up(this.#jump, b) ? this.#parent : this.#jump;
      a = this.#up(by, a);
      b = this.#up(by, b);
    }
    return a < b ? one : other;
  }

  #lift(scope: number, depth: number): number {
    let at = scope;
    while (this.#at(at) > depth) {
      const jump = this.#up(this.#jump, at);
      at = this.#at(jump) >= depth ? jump : this.#up(this.#parent, at);
    }
    return at;
  }

  #at(scope: number): number {
    return this.#depth[scope] ?? 0;
  }

  #up(by: Int32Array, scope: number): number {
    return by[scope] ?? ROOT;
  }
}
