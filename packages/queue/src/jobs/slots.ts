/**
 * Places for work in one process, shared among tenants.
 *
 * 1. At most `max` pieces of work are in progress.
 * 2. A tenant that holds no slot may take any free one.
 * 3. A tenant that holds slots may take a further one if afterwards it holds at most three times as many as
 *    stay free. So one tenant alone holds three quarters of the slots; of the rest the next one gets three
 *    quarters, and so on: with 64 slots, four tenants that come one after another and fill all that they may
 *    hold 48, 12, 3 and 1. Work in progress is never interrupted, so this is what a newcomer can rely on.
 * 4. A tenant that is blocked takes none.
 * 5. While only one tenant is known, it may take all slots.
 *
 * The rule is the dynamic threshold of shared buffers. It needs at least two slots to keep one free.
 * @see A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches",
 *   IEEE/ACM Transactions on Networking 6(2), 1998
 */
export interface Slots {
  /** Number of slots. */
  readonly max: number;
  /** Takes a slot for a tenant. Returns its release, safe to call twice; null when the tenant gets none. */
  take(tenant: string): (() => void) | null;
  /** Number of free slots. */
  free(): number;
  /** The tenants that get no further slot now, although some are free. */
  full(): string[];
}

/** Dependencies of {@link createSlots}. */
export interface SlotsParts {
  /** Number of slots, from 1. */
  max: number;
  /** How many more pieces of work the process may start now. Default: as many as slots are free. */
  capacity?: (() => number) | undefined;
  /** True when more than one tenant is known. */
  isShared: () => boolean;
  /** Tenants that may start no work now. Default: none. */
  blocked?: (() => readonly string[]) | undefined;
}

/** How many times the free slots a tenant may hold. */
const HELD_FOR_EACH_FREE = 3;

/** Slots of one process; all are free. */
export function createSlots({ max, capacity = () => max, isShared, blocked = () => [] }: SlotsParts): Slots {
  const held = new Map<string, number>();
  let taken = 0;

  const free = (): number => Math.max(0, Math.min(max - taken, capacity()));

  function mayTake(tenant: string): boolean {
    const holds = held.get(tenant) ?? 0;
    const left = free();
    if (left === 0 || blocked().includes(tenant)) return false;
    return holds === 0 || !isShared() || holds + 1 <= HELD_FOR_EACH_FREE * (left - 1);
  }

  return {
    max,
    free,
    full: () => [...new Set([...held.keys(), ...blocked()])].filter((tenant) => !mayTake(tenant)),
    take(tenant) {
      if (!mayTake(tenant)) return null;
      held.set(tenant, (held.get(tenant) ?? 0) + 1);
      taken += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        taken -= 1;
        const rest = (held.get(tenant) ?? 1) - 1;
        if (rest > 0) held.set(tenant, rest);
        else held.delete(tenant);
      };
    },
  };
}
