/** How many plans a process may hold, by how well it keeps their leases. */
export interface PlanQuota {
  /** Plans that it may hold now. */
  allowed(): number;
  /** A lease was lost while it held so many plans. */
  lost(held: number): void;
  /** To be called at each look at what is held. */
  beat(): void;
}

/**
 * Looks without a loss until a process may hold all of its plans again, from none. A few: after one bad moment, such
 * as a restart of the database, the plans of a dead executor must find room within seconds.
 */
const BEATS_TO_ALL = 4;
/** The share of all plans that may always be held: so few keep no machine busy, and those of a dead executor find room. */
const LEAST_SHARE = 1 / 8;

/**
 * Additive increase and multiplicative decrease, as TCP finds its rate (RFC 5681): who loses leases has more plans than its
 * machine or its database can serve in time, and each lost one is work to be done again, by a system that has too much
 * to do as it is.
 * @param max - plans that a process may hold when all is well
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
