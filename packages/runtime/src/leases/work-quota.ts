/** How much work a process may hold, given how well it keeps its leases. */
export interface WorkQuota {
  /** How many plans or requests it may hold now. */
  allowed(): number;
  /** Reports that a lease was lost while the process held this number. */
  lost(held: number): void;
  /** Called at each check of the held work. */
  beat(): void;
}

/**
 * Beats without a loss in which the quota rises from 0 to the maximum. Only a few: after a short problem,
 * such as a restart of the database, another worker must be able to take over the work of a dead one within
 * seconds.
 */
const BEATS_TO_MAX = 4;
/**
 * The share of the maximum that may always be held: small enough for any machine, and large enough to take
 * over the work of a dead worker.
 */
const LEAST_SHARE = 1 / 8;

/**
 * Additive increase and multiplicative decrease, like the congestion control of TCP (RFC 5681): a process
 * that loses leases has more work than its machine or its database can do in time, and an overloaded system
 * has to repeat the lost work.
 * @param max - how many plans or requests a process may hold when no leases are lost
 */
export function createWorkQuota(max: number): WorkQuota {
  const step = Math.ceil(max / BEATS_TO_MAX);
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
