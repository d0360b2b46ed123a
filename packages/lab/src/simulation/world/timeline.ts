/** Simulated time: a queue of events. */
export interface Timeline {
  /** Milliseconds since the beginning. */
  now(): number;
  /**
   * Schedules an event at this time, or now if the time has passed. Events of the same time keep their order.
   * The returned function cancels it.
   */
  at(timeMs: number, happen: () => void): () => void;
  /** Runs events until `hasEnded` or until none is left. */
  run(hasEnded: () => boolean): Promise<void>;
  /** Number of events that happened. */
  count(): number;
}

interface Entry {
  at: number;
  happen: (() => void) | undefined;
}

/**
 * A timeline at 0. After each event, all promises that it settled run to their end before time moves on. Code
 * on a timeline must therefore wait only for the timeline.
 */
export function createTimeline(): Timeline {
  /** In the order in which they happen. */
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
    run: (hasEnded) =>
      new Promise((resolve, reject) => {
        const step = (): void => {
          try {
            let entry = waiting.shift();
            while (entry && !entry.happen) entry = waiting.shift();
            if (!entry?.happen || hasEnded()) return resolve();
            nowMs = entry.at;
            count += 1;
            entry.happen();
          } catch (error) {
            return reject(error);
          }
          // The next turn of the event loop: Node runs all settled promises before it.
          setImmediate(step);
        };
        setImmediate(step);
      }),
    count: () => count,
  };
}
