/** A semaphore: a limited number of slots, first come first served. */
export interface Slots {
  /**
   * Waits for a slot. The returned function releases it and is called once.
   * @throws the signal's reason
   */
  acquire(signal: AbortSignal): Promise<() => void>;
}

/** @param size - number of slots, at least 1 */
export function createSlots(size: number): Slots {
  let free = size;
  const waiting = new Set<() => void>();
  const release = () => {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  };

  return {
    async acquire(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return release;
      }
      return new Promise((resolve, reject) => {
        const take = () => {
          signal.removeEventListener("abort", refuse);
          resolve(release);
        };
        const refuse = () => {
          waiting.delete(take);
          reject(signal.reason);
        };
        waiting.add(take);
        signal.addEventListener("abort", refuse, { once: true });
      });
    },
  };
}
