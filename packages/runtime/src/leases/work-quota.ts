/** How many plans a process may hold, given how well it keeps their leases. */
export interface PlanQuota {
  /** Plans that it may hold now. */
  allowed(): number;
  /** A lease was lost while the process held so many plans. */
  lost(held: number): void;
  /** To be called at each look at the held plans. */
  beat(): void;
}

/**
 * Looks without a loss until a process that may hold none may hold all of its plans again. Only a few: after
 * a short problem, such as a restart of the database, the plans of a dead executor must find an executor
 * within seconds.
 */
const BEATS_TO_ALL = 4;
/**
 * The share of all plans that may always be held: few enough to keep no machine busy, and enough to take over
 * plans of a dead executor.
 */
const LEAST_SHARE = 1 / 8;

/**
 * Additive increase and multiplicative decrease, like the congestion control of TCP (RFC 5681): a process
 * that loses leases has more plans than its machine or its database can serve in time, and each lost plan is
 * work to be repeated by an overloaded system.
 * @param max - plans that a process may hold when no leases are lost
 */
export function createPlanQuota(max: number): PlanQuota {
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
