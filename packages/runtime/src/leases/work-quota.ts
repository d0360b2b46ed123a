/** How much work a process may hold, given how well it keeps its leases. */
export interface WorkQuota {
  /** How many plans or requests it may hold now. */
  allowed(): number;
  /** A lease was lost while the process held so many. */
  lost(held: number): void;
  /** To be called at each look at what is held. */
  beat(): void;
}

/**
 * Looks without a loss until a process that may hold nothing may hold all of its work again. Only a few:
 * after a short problem, such as a restart of the database, the work of a dead worker must find another one
 * within seconds.
 */
const BEATS_TO_ALL = 4;
/**
 * The share of all work that may always be held: little enough to keep no machine busy, and enough to take
 * over the work of a dead worker.
 */
const LEAST_SHARE = 1 / 8;

/**
 * Additive increase and multiplicative decrease, like the congestion control of TCP (RFC 5681): a process
 * that loses leases has more work than its machine or its database can serve in time, and what is lost is
 * repeated by an overloaded system.
 * @param max - what a process may hold when no leases are lost
 */
export function createWorkQuota(max: number): WorkQuota {
  const step = Math.ceil(max / BEATS_TO_ALL);
  const least = Math.ceil(max * LEAST_SHARE);
  let allowed = max;
  let heldAtLoss: number | null = null;
  return {
    allowed: () => allowed,
    lost(held) {
      heldAtLoss = Math.max(heldAtLoss ?? 0, held);
    },
    beat() {
      allowed =
        heldAtLoss === null
          ? Math.min(max, allowed + step)
          : Math.max(least, Math.floor(Math.min(allowed, heldAtLoss) / 2));
      heldAtLoss = null;
    },
  };
}
