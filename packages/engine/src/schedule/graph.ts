import type { Policy } from "@planwright/plan";
import { Heap } from "./heap.ts";

/** Dependencies and dependents by position in the plan; each edge once. */
export interface Edges {
  dependencies: number[][];
  dependents: number[][];
}

/** Builds both directions from the dependencies alone; edges to oneself and repeated edges are dropped. */
export function edgesOf(dependencies: readonly (readonly number[])[]): Edges {
  const own = dependencies.map((list, index) => [...new Set(list)].filter((other) => other !== index));
  const dependents: number[][] = own.map(() => []);
  own.forEach((list, index) => {
    for (const dependency of list) dependents[dependency]?.push(index);
  });
  return { dependencies: own, dependents };
}

/**
 * The edges without cycles, so that every step can start some time; an acyclic graph comes back as it is.
 * `break-fewest`: where nothing is ready, the step with the fewest unmet dependencies (then the first in the plan) stops
 * waiting for them. `run-together`: all steps that wait for each other start together, whatever they wait for.
 * Takes O((V+E) log V). Returns undefined when there is a cycle and the policy is `error`.
 */
export function withoutCycles(edges: Edges, onCycle: Policy["onCycle"]): Edges | undefined {
  const count = edges.dependencies.length;
  const unmet = edges.dependencies.map((list) => list.length);
  const done = new Uint8Array(count);
  const met: number[] = [];
  const freed = new Set<number>();
  let stuck = 0;
  const byFewest = new Heap<{ index: number; unmet: number }>(
    (a, b) => a.unmet < b.unmet || (a.unmet === b.unmet && a.index < b.index),
  );
  const finish = (index: number) => {
    done[index] = 1;
    for (const dependent of edges.dependents[index] ?? []) {
      if (done[dependent]) continue;
      const left = (unmet[dependent] ?? 0) - 1;
      unmet[dependent] = left;
      if (left === 0) met.push(dependent);
      else if (onCycle === "break-fewest") byFewest.push({ index: dependent, unmet: left });
    }
  };
  unmet.forEach((left, index) => {
    if (left === 0) met.push(index);
    else if (onCycle === "break-fewest") byFewest.push({ index, unmet: left });
  });
  const kept = edges.dependencies.map((list) => list);
  for (;;) {
    for (let next = met.pop(); next !== undefined; next = met.pop()) if (!done[next]) finish(next);
    while (done[stuck]) stuck++;
    if (stuck >= count) break;
    if (onCycle === "error") return undefined;
    if (onCycle === "run-together") {
      for (const group of waitingForEachOther(edges, done)) {
        for (const index of group) {
          freed.add(index);
          kept[index] = (kept[index] ?? []).filter((dependency) => !group.has(dependency));
        }
      }
      break;
    }
    let fewest = byFewest.pop();
    while (fewest && (done[fewest.index] || unmet[fewest.index] !== fewest.unmet)) fewest = byFewest.pop();
    const chosen = fewest?.index ?? stuck;
    freed.add(chosen);
    kept[chosen] = (kept[chosen] ?? []).filter((dependency) => done[dependency]);
    finish(chosen);
  }
  return freed.size === 0 ? edges : edgesOf(kept);
}

/** The strongly connected components with more than one step, among those not `done`. R. Tarjan, 1972, without recursion. */
function waitingForEachOther(edges: Edges, done: Uint8Array): Set<number>[] {
  const groups: Set<number>[] = [];
  const order = new Int32Array(done.length).fill(-1);
  const low = new Int32Array(done.length);
  const onStack = new Uint8Array(done.length);
  const stack: number[] = [];
  let counter = 0;
  const enter = (index: number) => {
    order[index] = low[index] = counter++;
    stack.push(index);
    onStack[index] = 1;
    return { index, next: 0 };
  };
  for (let root = 0; root < done.length; root++) {
    if (done[root] || order[root] !== -1) continue;
    const path = [enter(root)];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const neighbour = edges.dependencies[top.index]?.[top.next++];
      if (neighbour !== undefined) {
        if (done[neighbour]) continue;
        if (order[neighbour] === -1) path.push(enter(neighbour));
        else if (onStack[neighbour]) low[top.index] = Math.min(low[top.index] ?? 0, order[neighbour] ?? 0);
        continue;
      }
      path.pop();
      const below = path.at(-1);
      if (below) low[below.index] = Math.min(low[below.index] ?? 0, low[top.index] ?? 0);
      if (low[top.index] !== order[top.index]) continue;
      const group = new Set<number>();
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        onStack[member] = 0;
        group.add(member);
        if (member === top.index) break;
      }
      if (group.size > 1) groups.push(group);
    }
  }
  return groups;
}

/**
 * Weight of the heaviest path from each step to an end of the plan, its own weight included. Needs an acyclic graph; O(V+E).
 * @param weight - expected duration of a step, or 1 where nothing is known
 */
export function remainingPaths(edges: Edges, weight: (index: number) => number): number[] {
  const paths = edges.dependents.map((_, index) => weight(index));
  const left = edges.dependents.map((list) => list.length);
  const ends = left.flatMap((count, index) => (count === 0 ? [index] : []));
  for (let index = ends.pop(); index !== undefined; index = ends.pop()) {
    for (const dependency of edges.dependencies[index] ?? []) {
      const through = weight(dependency) + (paths[index] ?? 0);
      if (through > (paths[dependency] ?? 0)) paths[dependency] = through;
      const remaining = (left[dependency] ?? 0) - 1;
      left[dependency] = remaining;
      if (remaining === 0) ends.push(dependency);
    }
  }
  return paths;
}
