import { type BarrierOrder, barrierOrder } from "../graph/barrier-order.ts";
import { type Edges, reversed } from "../graph/edges.ts";
import { Heap, smallerFirst } from "../graph/heap.ts";

/** What decides the groups, in addition to dependencies. */
export interface Grouping {
  /**
   * Positions from here on are gates ("all calls of a tool"), each with dependencies: they are in no group.
   */
  count: number;
  /** True for a position that runs alone. */
  isBarrier: (position: number) => boolean;
  /** True for navigation that starts at once: no barrier holds it. */
  isFirst: (position: number) => boolean;
  /** Positions with the same key share a limit. */
  keyOf: (position: number) => string;
  /** Maximum number of positions of a key in one group. */
  limitOf: (key: string) => number;
  maxParallel: number;
  /**
   * By position, the number of removed dependencies of a position that breaks a cycle: it runs only when
   * nothing else can run.
   */
  openers: ReadonlyMap<number, number>;
}

/** Positions that run at once, in order; a barrier group has one position. */
export interface PositionGroup {
  isBarrier: boolean;
  positions: number[];
}

/** The groups of an acyclic graph, in order. Takes O(n log n) plus the time of {@link barrierOrder}. */
export function groupPositions(dependencies: Edges, grouping: Grouping): PositionGroup[] {
  const ready = new ReadyPositions(barrierOrder(dependencies, grouping.isBarrier, grouping.count), grouping);
  const dependents = reversed(dependencies);
  const unmet = dependencies.map((list) => list.length);
  const settle = (met: number[]) => {
    // Gates whose last position has ended are added to `met` during the loop.
    for (const index of met) {
      for (const dependent of dependents[index] ?? []) {
        const left = (unmet[dependent] ?? 0) - 1;
        unmet[dependent] = left;
        if (left > 0) continue;
        if (dependent < grouping.count) ready.add(dependent);
        else met.push(dependent);
      }
    }
  };
  unmet.forEach((count, index) => {
    if (count === 0 && index < grouping.count) ready.add(index);
  });
  const groups: PositionGroup[] = [];
  for (let next = ready.take(); next; next = ready.take()) {
    groups.push(next);
    settle([...next.positions]);
    if (next.isBarrier) ready.release();
  }
  return groups;
}

/** Positions whose dependencies are met. */
class ReadyPositions {
  readonly #grouping: Grouping;
  readonly #order: BarrierOrder;
  /** Number of barriers that have ended, counted from the first. */
  #passed = 0;
  readonly #overBarriers = new Set<number>();
  /** Positions by the number of barriers that must end before. */
  readonly #held = new Map<number, number[]>();
  readonly #firstBarriers = new Heap(smallerFirst);
  readonly #barriers = new Heap(smallerFirst);
  /**
   * Positions except barriers, by key, so that the calls of a tool at its limit are not scanned for each
   * group.
   */
  readonly #byKey = new Map<string, Heap<number>>();
  /** The first position of each key; may contain outdated entries. */
  readonly #heads = new Heap(smallerFirst);
  /** By number of removed dependencies, then position. */
  readonly #openers = new Heap(smallerFirst);

  constructor(order: BarrierOrder, grouping: Grouping) {
    this.#order = order;
    this.#grouping = grouping;
  }

  add(position: number): void {
    const before = this.#grouping.isFirst(position) ? 0 : (this.#order.before[position] ?? 0);
    if (before > this.#passed) {
      const held = this.#held.get(before) ?? [];
      this.#held.set(before, held);
      held.push(position);
    } else this.#offer(position);
  }

  /** Releases the positions whose barriers have ended. */
  release(): void {
    const { barriers } = this.#order;
    for (let next = barriers[this.#passed]; next !== undefined; next = barriers[this.#passed]) {
      if (!this.#overBarriers.has(next)) return;
      this.#passed += 1;
      for (const position of this.#held.get(this.#passed) ?? []) this.#offer(position);
      this.#held.delete(this.#passed);
    }
  }

  /** The next group; undefined when nothing can run. */
  take(): PositionGroup | undefined {
    const first = this.#firstBarriers.pop();
    if (first !== undefined) return this.#alone(first);
    if (this.#firstHead() !== undefined) return { isBarrier: false, positions: this.#takeOthers() };
    // Everything that could run before the barrier has run: now the barrier runs.
    const barrier = this.#barriers.pop();
    if (barrier !== undefined) return this.#alone(barrier);
    const opener = this.#openers.pop();
    if (opener === undefined) return undefined;
    return this.#alone(opener % this.#grouping.count);
  }

  #alone(position: number): PositionGroup {
    const isBarrier = this.#grouping.isBarrier(position);
    if (isBarrier) this.#overBarriers.add(position);
    return { isBarrier, positions: [position] };
  }

  #offer(position: number): void {
    const { openers, count, isBarrier, isFirst, keyOf } = this.#grouping;
    const givenUp = openers.get(position);
    if (givenUp !== undefined) this.#openers.push(givenUp * count + position);
    else if (isBarrier(position)) (isFirst(position) ? this.#firstBarriers : this.#barriers).push(position);
    else {
      const key = keyOf(position);
      const queue = this.#byKey.get(key) ?? new Heap(smallerFirst);
      this.#byKey.set(key, queue);
      queue.push(position);
      if (queue.peek() === position) this.#heads.push(position);
    }
  }

  #takeOthers(): number[] {
    const { keyOf, limitOf, maxParallel } = this.#grouping;
    const positions: number[] = [];
    const counts = new Map<string, number>();
    const full: Heap<number>[] = [];
    while (positions.length < maxParallel) {
      const index = this.#firstHead();
      if (index === undefined) break;
      this.#heads.pop();
      const key = keyOf(index);
      const limit = limitOf(key);
      const count = (counts.get(key) ?? 0) + 1;
      if (count > limit) continue;
      counts.set(key, count);
      positions.push(index);
      const queue = this.#byKey.get(key);
      queue?.pop();
      const head = queue?.peek();
      if (!queue || head === undefined) continue;
      if (count < limit) this.#heads.push(head);
      else full.push(queue);
    }
    for (const queue of full) this.#heads.push(queue.peek() ?? Infinity);
    return positions;
  }

  #firstHead(): number | undefined {
    for (let head = this.#heads.peek(); head !== undefined; head = this.#heads.peek()) {
      if (this.#byKey.get(this.#grouping.keyOf(head))?.peek() === head) return head;
      this.#heads.pop();
    }
    return undefined;
  }
}
