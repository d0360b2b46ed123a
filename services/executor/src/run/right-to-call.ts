import type { Liveness, RunClock } from "@planwright/runtime";
import type { PlanClaim } from "@planwright/store";

/**
 * No call starts in the last part of the time after which other workers may declare this process dead. Length
 * of this part, in milliseconds.
 */
const LIVENESS_MARGIN_MS = 500;

/** Whether a run may start calls now. */
export interface RightToCall {
  /** True while, as far as this process knows, no other worker can have claimed the plan. */
  isHeld(): boolean;
  /** Waits while the database does not answer. False when the run has ended by then, or the plan is lost. */
  wait(): Promise<boolean>;
}

/** Dependencies of {@link createRightToCall}. */
export interface RightToCallParts {
  claim: Pick<PlanClaim, "owner">;
  liveness: Liveness;
  clock: Pick<RunClock, "now">;
  hasEnded: () => boolean;
  /** This process was declared dead and continues under another name. */
  onLost: () => void;
}

export function createRightToCall({
  claim,
  liveness,
  clock,
  hasEnded,
  onLost,
}: RightToCallParts): RightToCall {
  const isOwned = (): boolean => liveness.owner() === claim.owner;
  const isHeld = (): boolean => isOwned() && clock.now() <= liveness.validUntil() - LIVENESS_MARGIN_MS;
  return {
    isHeld,
    async wait() {
      while (!hasEnded() && isOwned() && !isHeld()) await liveness.nextAnswer();
      if (!isOwned()) onLost();
      return !hasEnded();
    },
  };
}
