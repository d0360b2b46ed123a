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
  happen: (() => void) | undefined;
}

/**
 * A timeline at 0. After each thing that happens, all promises that it settled are followed to their end before time moves on,
 * so what runs on it must wait for nothing but the timeline.
 */
export function createTimeline(): Timeline {
  /** In the order in which it happens. */
  const waiting: Entry[] = [];
  let nowMs = 0;
  let count = 0;

  return {
    now: () => nowMs,
    at(timeMs, happen) {
      const entry: Entry = { at: Math.max(nowMs, timeMs), happen };
      waiting.splice(waiting.findLastIndex(({ at }) => at <= entry.at) + 1, 0, entry);
      return () => {
        entry.happen = undefined;
      };
    },
    run: (isOver) =>
      new Promise((resolve, reject) => {
        const step = (): void => {
          try {
            let entry = waiting.shift();
            while (entry && !entry.happen) entry = waiting.shift();
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
