/**
 * Graphs by position: `dependencies[i]` are the positions that `i` waits for. Everything here is iterative, so depth is no
 * limit, and linear unless it says otherwise.
 */

import type { Policy } from "../policy/policy.ts";
import { MinHeap } from "./min-heap.ts";

/** Edges by position. */
export type Edges = readonly (readonly number[])[];

/** The same edges the other way round, in order of position. */
export function reversed(dependencies: Edges): number[][] {
  const dependents: number[][] = dependencies.map(() => []);
  dependencies.forEach((list, index) => {
    for (const other of list) dependents[other]?.push(index);
  });
  return dependents;
}

/** Positions that wait for a cycle: those on one, and those behind one. All false for an acyclic graph. */
export function stuckPositions(dependencies: Edges): boolean[] {
  const dependents = reversed(dependencies);
  const unmet = dependencies.map((list) => list.length);
  const done: number[] = [];
  unmet.forEach((count, index) => {
    if (count === 0) done.push(index);
  });
  // `done` grows while it is walked.
  for (const index of done) {
    for (const dependent of dependents[index] ?? []) {
      const left = (unmet[dependent] ?? 0) - 1;
      unmet[dependent] = left;
      if (left === 0) done.push(dependent);
    }
  }
  return unmet.map((count) => count > 0);
}

/** One cycle, each position waiting for the next and the last for the first; undefined when there is none. */
export function findCycle(dependencies: Edges, stuck = stuckPositions(dependencies)): number[] | undefined {
  let current = stuck.indexOf(true);
  if (current < 0) return undefined;
  const placeOf = new Map<number, number>();
  const walk: number[] = [];
  // What is stuck waits for something stuck, so the walk goes on until it comes round.
  for (;;) {
    const place = placeOf.get(current);
    if (place !== undefined) return walk.slice(place);
    placeOf.set(current, walk.length);
    walk.push(current);
    current = dependencies[current]?.find((other) => stuck[other]) ?? current;
  }
}

/** Every position with what it waits for before it, in order of position wherever that is possible. Needs an acyclic graph. */
export function topologicalOrder(dependencies: Edges): number[] {
  const order: number[] = [];
  // 0: not seen. Else one more than the count of dependencies looked at.
  const looked = new Uint32Array(dependencies.length);
  for (let start = 0; start < dependencies.length; start += 1) {
    if (looked[start]) continue;
    const path = [start];
    looked[start] = 1;
    for (let index = path.at(-1); index !== undefined; index = path.at(-1)) {
      const position = looked[index] ?? 0;
      const next = dependencies[index]?.[position - 1];
      looked[index] = position + 1;
      if (next === undefined) order.push(path.pop() ?? index);
      else if (!looked[next]) {
        looked[next] = 1;
        path.push(next);
      }
    }
  }
  return order;
}

/**
 * Strongly connected components, each after the ones that it waits for.
 * @see R. Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972; without recursion
 */
export function components(dependencies: Edges): number[][] {
  const found: number[][] = [];
  const seenAt = new Uint32Array(dependencies.length);
  const lowest = new Uint32Array(dependencies.length);
  const looked = new Uint32Array(dependencies.length);
  const isOpen = new Uint8Array(dependencies.length);
  const open: number[] = [];
  let clock = 0;
  const path: number[] = [];
  const enter = (index: number) => {
    clock += 1;
    seenAt[index] = clock;
    lowest[index] = clock;
    isOpen[index] = 1;
    open.push(index);
    path.push(index);
  };
  const lower = (index: number, mark: number) => {
    lowest[index] = Math.min(lowest[index] ?? mark, mark);
  };
  const leave = (index: number) => {
    path.pop();
    const parent = path.at(-1);
    if (parent !== undefined) lower(parent, lowest[index] ?? 0);
    if (lowest[index] !== seenAt[index]) return;
    const members = open.splice(open.lastIndexOf(index));
    for (const member of members) isOpen[member] = 0;
    found.push(members);
  };
  for (let start = 0; start < dependencies.length; start += 1) {
    if (seenAt[start]) continue;
    enter(start);
    for (let index = path.at(-1); index !== undefined; index = path.at(-1)) {
      const position = looked[index] ?? 0;
      const next = dependencies[index]?.[position];
      looked[index] = position + 1;
      if (next === undefined) leave(index);
      else if (!seenAt[next]) enter(next);
      else if (isOpen[next]) lower(index, seenAt[next] ?? 0);
    }
  }
  return found;
}

/** A graph without cycles, and the edges that were given up for it, as [position, what it waited for]. */
export interface Acyclic {
  dependencies: number[][];
  dropped: [number, number][];
}

/**
 * Gives up edges inside cycles, never one between cycles or behind them.
 * `break-fewest`: while all members of a cycle wait, the one with the fewest unmet dependencies, then the first, opens it (see {@link openersOf}).
 * `run-together`: no member waits for another. O((V + E) log V).
 * @param count - positions from here on are gates ("all calls of a tool"), which stand for what they wait for: who gives up a gate
 * still waits for what is behind it outside the cycle. Further gates are appended for that. Default: no gates
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
    const giveUp = (index: number, isDone: (other: number) => boolean) => {
      kept[index] = (kept[index] ?? []).flatMap((other) => {
        if (!inside.has(other) || isDone(other)) return other;
        dropped.push([index, other]);
        if (other < count) return [];
        const done = (dependencies[other] ?? []).filter((call) => inside.has(call) && isDone(call));
        return [...outsideGate(other), ...done];
      });
    };
    if (onCycle === "run-together") {
      for (const index of members) if (index < count) giveUp(index, () => false);
    } else breakFewest(members, { dependencies, dependents, inside, count, giveUp });
  }
  return { dependencies: kept, dropped };
}

/**
 * The positions that open a cycle under `break-fewest`, and how many dependencies each gave up: they go only when nothing else can run,
 * the one with the fewest first. Under `run-together` there is none: whatever is in a cycle goes when it can.
 */
export function openersOf({ dropped }: Acyclic, onCycle: Policy["onCycle"]): Map<number, number> {
  const openers = new Map<number, number>();
  if (onCycle !== "break-fewest") return openers;
  for (const [position] of dropped) openers.set(position, (openers.get(position) ?? 0) + 1);
  return openers;
}

/** For a gate of a cycle: the gate that stands for what is behind it outside the cycle, made once; nothing when nothing is. */
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
    giveUp: (index: number, isDone: (other: number) => boolean) => void;
  },
): void {
  const { dependencies, dependents, inside, count, giveUp } = component;
  const unmet = new Map<number, number>();
  const fewest = new MinHeap();
  const size = dependencies.length;
  const done = new Set<number>();
  for (const index of members) {
    const waits = dependencies[index]?.filter((other) => inside.has(other)).length ?? 0;
    unmet.set(index, waits);
    if (index < count) fewest.push(waits * size + index);
  }
  for (let entry = fewest.pop(); entry !== undefined; entry = fewest.pop()) {
    const chosen = entry % size;
    // An entry made before the count went down again, or for a member that has gone.
    if (done.has(chosen) || unmet.get(chosen) !== (entry - chosen) / size) continue;
    if (unmet.get(chosen) !== 0) giveUp(chosen, (other) => done.has(other));
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
