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
