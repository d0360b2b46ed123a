import { LeaseLostError, type PlanningClaim, type PlanningStore } from "@planwright/store";

/** What holding a lease needs. */
export interface KeepLeaseParts {
  store: Pick<PlanningStore, "renewPlanning">;
  /** A third of the lease, in milliseconds. */
  renewEveryMs: number;
  onRenewalFailed: (claim: PlanningClaim, error: unknown) => void;
}

/**
 * Renews a claim until it is stopped. `lost` aborts when the store says that another planner holds the request; a renewal that fails
 * in any other way is reported and tried again at the next time.
 */
export function keepLease(
  claim: PlanningClaim,
  { store, renewEveryMs, onRenewalFailed }: KeepLeaseParts,
): { lost: AbortSignal; stop: () => void } {
  const lost = new AbortController();
  const renew = async () => {
    try {
      const isHeld = await store.renewPlanning(claim);
      if (!isHeld) lost.abort(new LeaseLostError({ id: claim.request._id, epoch: claim.epoch }));
    } catch (error) {
      onRenewalFailed(claim, error);
    }
  };
  const timer = setInterval(() => void renew(), renewEveryMs);
  return { lost: lost.signal, stop: () => clearInterval(timer) };
}
