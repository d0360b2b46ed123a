/** Numbers, smallest first. Push and pop take O(log n). */
export class MinHeap {
  readonly #values: number[] = [];

  get smallest(): number | undefined {
    return this.#values[0];
  }

  push(value: number): void {
    const values = this.#values;
    let index = values.push(value) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = values[above];
      if (parent === undefined || parent <= value) break;
      values[index] = parent;
      index = above;
    }
    values[index] = value;
  }

  pop(): number | undefined {
    const values = this.#values;
    const top = values[0];
    const last = values.pop();
    if (last === undefined || values.length === 0) return top;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const child = (values[left + 1] ?? Infinity) < (values[left] ?? Infinity) ? left + 1 : left;
      const value = values[child];
      if (value === undefined || value >= last) break;
      values[index] = value;
      index = child;
    }
    values[index] = last;
    return top;
  }
}
