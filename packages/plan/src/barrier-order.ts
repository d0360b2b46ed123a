/**
 * Where the barriers of a plan come in its order.
 *
 * 1. Positions come in plan order, except that all that a barrier waits for, directly or not, comes before that barrier.
 * 2. Barriers are looked at in this order, so of two barriers that would wait for each other's followers the first one decides.
 * 3. A position waits for all barriers that come before it, and for no other. Together with the dependencies that makes no cycle:
 *    whatever a barrier waits for comes before it.
 */
import type { Edges } from "./graph-edges.ts";

/** The barriers of a graph, and who waits for them. */
export interface BarrierOrder {
  /** Positions of the barriers, in the order in which they come. */
  barriers: number[];
  /** For each position, how many of these come before it: it starts when they are over. */
  before: number[];
}

/**
 * Decides which positions wait for which barriers (start rule: no unfinished barrier stands before it, unless that barrier waits for
 * it). Takes O((V + E) * d) for an acyclic graph, d being how many barriers wait for later barriers one behind the other: 1 for a
 * plan whose dependencies all point backwards.
 * @param dependencies - without cycles
 * @param count - positions from here on are gates, which stand for what they wait for and are no steps. Default: no gates
 */
export function barrierOrder(
  dependencies: Edges,
  isBarrier: (position: number) => boolean,
  count: number = dependencies.length,
): BarrierOrder {
  const placing = new BarrierPlacing(dependencies, isBarrier, count);
  for (let position = 0; position < count; position += 1) {
    if (isBarrier(position)) placing.placeBarrier(position);
    else placing.place(position);
  }
  return { barriers: placing.barriers, before: placing.before };
}

/** A barrier that is placed when all that it waits for has been. */
interface Pending {
  barrier: number;
  /** Everything that it waits for, gates included. */
  reached: readonly number[];
  /** The steps among them, in plan order. */
  waits: readonly number[];
  next: number;
}

class BarrierPlacing {
  readonly barriers: number[] = [];
  readonly before: number[];
  readonly #dependencies: Edges;
  readonly #isBarrier: (position: number) => boolean;
  readonly #isPlaced: Uint8Array;
  /** What it waits for is all placed. */
  readonly #isClosed: Uint8Array;

  constructor(dependencies: Edges, isBarrier: (position: number) => boolean, count: number) {
    this.#dependencies = dependencies;
    this.#isBarrier = isBarrier;
    this.#isPlaced = new Uint8Array(count);
    this.#isClosed = new Uint8Array(dependencies.length);
    this.before = Array.from({ length: count }, () => 0);
  }

  place(position: number): void {
    if (this.#isPlaced[position]) return;
    this.#isPlaced[position] = 1;
    this.before[position] = this.barriers.length;
    if (this.#isBarrier(position)) this.barriers.push(position);
  }

  placeBarrier(position: number): void {
    if (this.#isPlaced[position]) return;
    const path = [this.#pending(position)];
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.waits[top.next];
      if (next === undefined) {
        this.place(top.barrier);
        for (const reached of top.reached) this.#isClosed[reached] = 1;
        path.pop();
        continue;
      }
      top.next += 1;
      if (this.#isPlaced[next]) continue;
      if (this.#isBarrier(next)) path.push(this.#pending(next));
      else this.place(next);
    }
  }

  #pending(barrier: number): Pending {
    const reached = new Set([barrier]);
    // `reached` grows while it is walked.
    for (const position of reached) {
      for (const other of this.#dependencies[position] ?? []) if (!this.#isClosed[other]) reached.add(other);
    }
    const waits = [...reached].filter(
      (position) => position < this.#isPlaced.length && position !== barrier && !this.#isPlaced[position],
    );
    return { barrier, reached: [...reached], waits: waits.toSorted((a, b) => a - b), next: 0 };
  }
}
