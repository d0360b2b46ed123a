import type { Liveness, RunClock } from "@planwright/runtime";
import type { PlanClaim } from "@planwright/store";

/** A call starts only this long before other workers may declare this process dead, in milliseconds. */
const LIVENESS_MARGIN_MS = 500;

/** Whether a run may start calls now. */
export interface RightToCall {
  /** True while no other worker can have taken the plan, as far as this process knows. */
  isHeld(): boolean;
  /** While the database does not answer nothing starts. False when the run is over by then, or the plan is lost. */
  wait(): Promise<boolean>;
}

/** What that needs. */
export interface RightToCallParts {
  claim: Pick<PlanClaim, "owner">;
  liveness: Liveness;
  clock: Pick<RunClock, "now">;
  isOver: () => boolean;
  /** This process was declared dead: it goes on under another name. */
  onLost: () => void;
}

export function createRightToCall({ claim, liveness, clock, isOver, onLost }: RightToCallParts): RightToCall {
  const isOwned = (): boolean => liveness.owner() === claim.owner;
  const isHeld = (): boolean => isOwned() && clock.now() <= liveness.validUntil() - LIVENESS_MARGIN_MS;
  return {
    isHeld,
    async wait() {
      while (!isOver() && isOwned() && !isHeld()) await liveness.heard();
      if (!isOwned()) onLost();
      return !isOver();
    },
  };
}
