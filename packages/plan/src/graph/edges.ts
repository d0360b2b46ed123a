/**
 * Graphs by position: `dependencies[i]` are the positions that `i` waits for. All functions are iterative, so
 * depth does not matter, and linear unless stated otherwise.
 */

/** Edges by position. */
export type Edges = readonly (readonly number[])[];

/** The reversed edges, in order of position. */
export function reversed(dependencies: Edges): number[][] {
  const dependents: number[][] = dependencies.map(() => []);
  dependencies.forEach((list, index) => {
    for (const other of list) dependents[other]?.push(index);
  });
  return dependents;
}

/** True for positions on a cycle and positions that wait for one. All false for an acyclic graph. */
export function stuckPositions(dependencies: Edges): boolean[] {
  const dependents = reversed(dependencies);
  const unmet = dependencies.map((list) => list.length);
  const done: number[] = [];
  unmet.forEach((count, index) => {
    if (count === 0) done.push(index);
  });
  // `done` grows during the loop.
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
  // A stuck position waits for a stuck position, so the walk returns to one that it has seen.
  for (;;) {
    const place = placeOf.get(current);
    if (place !== undefined) return walk.slice(place);
    placeOf.set(current, walk.length);
    walk.push(current);
    current = dependencies[current]?.find((other) => stuck[other]) ?? current;
  }
}

/** All positions with dependencies first, in order of position wherever possible. Needs an acyclic graph. */
export function topologicalOrder(dependencies: Edges): number[] {
  const order: number[] = [];
  // 0: not seen. Otherwise one more than the number of visited dependencies.
  const visited = new Uint32Array(dependencies.length);
  for (let start = 0; start < dependencies.length; start += 1) {
    if (visited[start]) continue;
    const path = [start];
    visited[start] = 1;
    for (let index = path.at(-1); index !== undefined; index = path.at(-1)) {
      const position = visited[index] ?? 0;
      const next = dependencies[index]?.[position - 1];
      visited[index] = position + 1;
      if (next === undefined) order.push(path.pop() ?? index);
      else if (!visited[next]) {
        visited[next] = 1;
        path.push(next);
      }
    }
  }
  return order;
}

/**
 * Strongly connected components, each after its dependencies.
 * @see R. Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972; without
 *   recursion
 */
export function components(dependencies: Edges): number[][] {
  const found: number[][] = [];
  const seenAt = new Uint32Array(dependencies.length);
  const lowest = new Uint32Array(dependencies.length);
  const visited = new Uint32Array(dependencies.length);
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
      const position = visited[index] ?? 0;
      const next = dependencies[index]?.[position];
      visited[index] = position + 1;
      if (next === undefined) leave(index);
      else if (!seenAt[next]) enter(next);
      else if (isOpen[next]) lower(index, seenAt[next] ?? 0);
    }
  }
  return found;
}

/** A binary heap: the first element is the one that `precedes` all others. `push` and `pop` take O(log n). */
export class Heap<T> {
  readonly #elements: T[] = [];
  readonly #precedes: (a: T, b: T) => boolean;

  /** @param precedes - a strict total order, so that the order of results depends only on the elements */
  constructor(precedes: (a: T, b: T) => boolean) {
    this.#precedes = precedes;
  }

  get size(): number {
    return this.#elements.length;
  }

  /** The first element, without removing it. */
  peek(): T | undefined {
    return this.#elements[0];
  }

  push(element: T): void {
    const elements = this.#elements;
    let at = elements.length;
    elements.push(element);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = elements[above];
      if (parent === undefined || !this.#precedes(element, parent)) break;
      elements[at] = parent;
      at = above;
    }
    elements[at] = element;
  }

  /** Removes and returns the first element. */
  pop(): T | undefined {
    const first = this.#elements[0];
    const last = this.#elements.pop();
    if (last !== undefined && this.#elements.length > 0) this.#sink(last);
    return first;
  }

  #sink(element: T): void {
    const elements = this.#elements;
    let at = 0;
    for (;;) {
      const left = elements[2 * at + 1];
      if (left === undefined) break;
      const right = elements[2 * at + 2];
      const takeRight = right !== undefined && this.#precedes(right, left);
      const child = takeRight ? right : left;
      if (!this.#precedes(child, element)) break;
      elements[at] = child;
      at = 2 * at + (takeRight ? 2 : 1);
    }
    elements[at] = element;
  }
}

/** The order of a {@link Heap} of different numbers. */
export const smallerFirst = (a: number, b: number): boolean => a < b;
