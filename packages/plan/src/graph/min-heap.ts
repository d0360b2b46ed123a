/** Numbers, smallest first. Push and pop take O(log n). */
export class MinHeap {
  readonly #values: number[] = [];

  get smallest(): number | undefined {
    return this.#values[0];
  }

  push(value: number): void {
    const values = this.#values;
    let place = values.push(value) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = values[above];
      if (parent === undefined || parent <= value) break;
      values[place] = parent;
      place = above;
    }
    values[place] = value;
  }

  pop(): number | undefined {
    const values = this.#values;
    const top = values[0];
    const last = values.pop();
    if (last === undefined || values.length === 0) return top;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const child = (values[left + 1] ?? Infinity) < (values[left] ?? Infinity) ? left + 1 : left;
      const value = values[child];
      if (value === undefined || value >= last) break;
      values[place] = value;
      place = child;
    }
    values[place] = last;
    return top;
  }
}
