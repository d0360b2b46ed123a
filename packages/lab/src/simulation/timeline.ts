/** Simulated time: what happens when, one thing after the other. */
export interface Timeline {
  /** Milliseconds since the beginning. */
  now(): number;
  /** Lets something happen at a time, or now if that is past; what is asked for first happens first. Returns what takes it back. */
  at(timeMs: number, happen: () => void): () => void;
  /** Moves from one thing to the next until `isOver`, or until nothing is left. */
  run(isOver: () => boolean): Promise<void>;
  /** Things that happened. */
  count(): number;
}

interface Entry {
  at: number;
  order: number;
  happen: (() => void) | undefined;
}

/**
 * A timeline at 0. After each thing that happens, all promises that it settled are followed to their end before time moves on,
 * so what runs on it must wait for nothing but the timeline.
 */
export function createTimeline(): Timeline {
  const heap: Entry[] = [];
  let nowMs = 0;
  let order = 0;
  let count = 0;

  return {
    now: () => nowMs,
    at(timeMs, happen) {
      const entry: Entry = { at: Math.max(nowMs, timeMs), order: order++, happen };
      push(heap, entry);
      return () => {
        entry.happen = undefined;
      };
    },
    run: (isOver) =>
      new Promise((resolve, reject) => {
        const step = (): void => {
          try {
            let entry = pop(heap);
            while (entry && !entry.happen) entry = pop(heap);
            if (!entry?.happen || isOver()) return resolve();
            nowMs = entry.at;
            count += 1;
            entry.happen();
          } catch (error) {
            return reject(error);
          }
          // A turn of the event loop: Node follows all promises before the next one.
          setImmediate(step);
        };
        setImmediate(step);
      }),
    count: () => count,
  };
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Entry[], entry: Entry): void {
  let index = heap.push(entry) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (!above || isBefore(above, entry)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = entry;
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (!last || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    const [left, right] = [heap[child], heap[child + 1]];
    if (!left) break;
    if (right && isBefore(right, left)) child += 1;
    const smaller = heap[child];
    if (!smaller || isBefore(last, smaller)) break;
    heap[index] = smaller;
    index = child;
  }
  heap[index] = last;
  return first;
}
