import { LeaseLostError, type PlanningClaim } from "@planwright/store";
import type { PlanRequestParts } from "./plan-request.ts";

/**
 * Renews a claim until it is stopped. `lost` aborts when the store says that somebody else holds the request; a renewal that fails
 * in any other way is reported and tried again at the next time.
 */
export function keepLease(
  claim: PlanningClaim,
  {
    store,
    renewEveryMs,
    onRenewalFailed,
  }: Pick<PlanRequestParts, "store" | "renewEveryMs" | "onRenewalFailed">,
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
