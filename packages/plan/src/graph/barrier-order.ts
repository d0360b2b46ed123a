/**
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
import { type Edges, reversed, topologicalOrder } from "./edges.ts";

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
