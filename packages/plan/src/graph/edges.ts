/**
 * Graphs by position: `dependencies[i]` are the positions that `i` waits for. Everything here is iterative,
 * so depth is no limit, and linear unless it says otherwise.
 */

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
  // A stuck position waits for a stuck position, so the walk reaches one that it has seen.
  for (;;) {
    const place = placeOf.get(current);
    if (place !== undefined) return walk.slice(place);
    placeOf.set(current, walk.length);
    walk.push(current);
    current = dependencies[current]?.find((other) => stuck[other]) ?? current;
  }
}

/**
 * Every position with what it waits for before it, in order of position wherever that is possible. Needs an
 * acyclic graph.
 */
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
 * @see R. Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972; without
 * recursion
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
