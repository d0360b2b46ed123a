/** A semaphore: a limited number of slots, shared among tenants. */
export interface Slots {
  /**
   * Waits for a slot. The returned function releases it and is called once. A free slot goes to the waiting
   * tenant that holds the fewest, and of several calls to the one that asked first.
   * @param tenant - default: all callers without a tenant count as one
   * @throws the signal's reason
   */
  acquire(signal: AbortSignal, tenant?: string): Promise<() => void>;
}

/** @param size - number of slots, at least 1 */
export function createSlots(size: number): Slots {
  let free = size;
  const held = new Map<string, number>();
  const waiting = new Set<{ tenant: string; take: () => void }>();
  const holds = (tenant: string): number => held.get(tenant) ?? 0;

  function slotOf(tenant: string): () => void {
    free -= 1;
    held.set(tenant, holds(tenant) + 1);
    return () => {
      free += 1;
      if (holds(tenant) > 1) held.set(tenant, holds(tenant) - 1);
      else held.delete(tenant);
      const [next] = [...waiting].toSorted((one, other) => holds(one.tenant) - holds(other.tenant));
      next?.take();
    };
  }

  return {
    async acquire(signal, tenant = "") {
      signal.throwIfAborted();
      if (free > 0) return slotOf(tenant);
      return new Promise((resolve, reject) => {
        const waiter = {
          tenant,
          take() {
            waiting.delete(waiter);
            signal.removeEventListener("abort", refuse);
            resolve(slotOf(tenant));
          },
        };
        const refuse = () => {
          waiting.delete(waiter);
          reject(signal.reason);
        };
        waiting.add(waiter);
        signal.addEventListener("abort", refuse, { once: true });
      });
    },
  };
}
