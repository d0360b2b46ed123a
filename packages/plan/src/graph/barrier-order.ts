/**
 * Where the barriers of a plan come in its order.
 *
 * 1. Positions come in plan order, except that all that a barrier waits for, directly or not, comes before
 *    that barrier.
 * 2. Barriers are looked at in this order, so of two barriers that would wait for each other's followers the
 *    first one decides.
 * 3. A position waits for all barriers that come before it, and for no other. Together with the dependencies
 *    that makes no cycle: whatever a barrier waits for comes before it.
 *
 * A barrier pulls what it waits for in front of it. Of all barriers that wait for a position the one that
 * comes first pulls it, and among what that one waits for the first barrier again, and so on: each position
 * has a scope, which is a path of barriers with growing positions. The scopes make a tree, and the order is a
 * walk through it.
 */
import { type Edges, reversed, topologicalOrder } from "./edges.ts";

/** The barriers of a graph, and the positions that wait for them. */
export interface BarrierOrder {
  /** Positions of the barriers, in the order in which they come. */
  barriers: number[];
  /** For each position, how many of these come before it: it starts when they have ended. */
  before: number[];
}

/**
 * Decides which positions wait for which barriers (start rule: no unfinished barrier stands before it, unless
 * that barrier waits for it). Takes O((V + E) log V).
 * @param dependencies - without cycles
 * @param count - positions from here on are gates, which stand for what they wait for and are no steps.
 * Default: no gates
 */
export function barrierOrder(
  dependencies: Edges,
  isBarrier: (position: number) => boolean,
  count: number = dependencies.length,
): BarrierOrder {
  const isBarrierAt = (position: number) => position < count && isBarrier(position);
  const scopes = new ScopeTree(dependencies.length);
  const dependents = reversed(dependencies);
  /** The first scope in which something waits for it; what stands behind it in the plan is in it as well. */
  const widest = new Int32Array(dependencies.length);
  // A position that waits comes before the positions that it waits for.
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

/** The positions of each scope in plan order, a barrier behind its own scope. */
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

/** The scope of the whole plan; that of a barrier is one more than its position. */
const ROOT = 0;

/**
 * Scopes as paths from the root, with jumps over many at once.
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

  /** Makes the scope of a barrier, inside that in which the barrier comes. */
  open(barrier: number, parent: number): void {
    const scope = barrier + 1;
    const jump = this.#up(this.#jump, parent);
    const isEven =
      this.#at(parent) - this.#at(jump) === this.#at(jump) - this.#at(this.#up(this.#jump, jump));
    this.#parent[scope] = parent;
    this.#depth[scope] = this.#at(parent) + 1;
    this.#jump[scope] = isEven ? this.#up(this.#jump, jump) : parent;
  }

  /** The part of a path that holds only barriers in front of a position: later ones come after it. */
  upTo(scope: number, position: number): number {
    let at = scope;
    while (at > position) {
      const jump = this.#up(this.#jump, at);
      at = jump > position ? jump : this.#up(this.#parent, at);
    }
    return at;
  }

  /**
   * Of two scopes the one that comes first: where they part the one with the earlier barrier, or the inner
   * one of the other.
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
