import { type Liveness, type Logger, type RunClock, releaseUnheld } from "@planwright/runtime";
import type { ExecutionStore, HeldPlan, PlanClaim } from "@planwright/store";
import { createLostLeases } from "./lost-leases.ts";
import { createPlanQuota } from "./plan-quota.ts";

/** Acts when leases are lost, and when this process holds plans that it does not work on. */
export interface LeaseKeeper {
  /**
   * Plans that the process may hold now: fewer while leases are lost, none while no heartbeat is answered.
   */
  allowed(): number;
  /**
   * A claim was given up because its lease or the database was lost. `begunAtMs` is when this process started
   * the claim.
   */
  lost(claim: PlanClaim, begunAtMs: number): void;
  /** Ends the regular look. */
  end(): void;
}

/** What a lease keeper needs. */
export interface LeaseKeeperParts {
  store: Pick<ExecutionStore, "findHeldPlans" | "releaseUnheldPlans" | "recordSurvivedClaims">;
  liveness: Pick<Liveness, "owner" | "validUntil">;
  /** The claims in progress, at the time of each call. */
  held: () => readonly PlanClaim[];
  /** True for a plan that is in progress, or is being claimed. */
  isHeld: (planId: HeldPlan["planId"]) => boolean;
  maxPlans: number;
  /** Silence after which others declare this process dead, in milliseconds. */
  deadAfterMs: number;
  logger: Logger;
  clock: RunClock;
}

/** Looks within the silence after which a process counts as dead. */
const LOOKS = 3.3;

/** Starts to look regularly. */
export function createLeaseKeeper(parts: LeaseKeeperParts): LeaseKeeper {
  const { store, liveness, held, isHeld, maxPlans, deadAfterMs, logger, clock } = parts;
  const everyMs = Math.floor(deadAfterMs / LOOKS);
  const timesNow = () => ({ nowMs: clock.now(), computedMs: clock.computed() });
  const lostLeases = createLostLeases({ everyMs, deadAfterMs, ...timesNow() });
  const quota = createPlanQuota(maxPlans);
  let wasHeard = true;

  function look(): void {
    const before = quota.allowed();
    quota.beat();
    if (quota.allowed() < before)
      logger.warn({ plans: quota.allowed() }, "leases were lost; fewer plans are held for a while");
    const blockedMs = lostLeases.beat(timesNow());
    if (blockedMs > 0) {
      const plans = held().map(({ plan }) => plan._id);
      logger.warn({ blockedMs, plans, requestIds: requestIdsOf(held()) }, "this process was blocked");
    }
    logSilence();
    void releaseUnheldPlansHere();
    void recordSurvivedPlans();
  }

  const isHeard = (): boolean => clock.now() <= liveness.validUntil();

  /** No call starts until the database answers again, so its silence is logged at once. */
  function logSilence(): void {
    if (wasHeard && !isHeard()) {
      const facts = { plans: held().length, requestIds: requestIdsOf(held()) };
      logger.warn(
        facts,
        "no heartbeat was answered in time, the database may be lost; no call starts until one is",
      );
    }
    wasHeard = isHeard();
  }

  async function releaseUnheldPlansHere(): Promise<void> {
    try {
      const { released } = await releaseUnheld({
        find: () => store.findHeldPlans(liveness.owner()),
        isHeld: ({ planId }) => isHeld(planId),
        release: (plans) => store.releaseUnheldPlans(plans),
      });
      const plans = released.map(({ planId }) => planId);
      if (plans.length > 0) logger.warn({ plans }, "plans are released that are not worked on here");
    } catch (error) {
      logger.warn(
        { err: error },
        "could not look for plans that are not worked on; the next look tries again",
      );
    }
  }

  /** Plans that this process survived must not be ended as poisoned because leases were lost. */
  async function recordSurvivedPlans(): Promise<void> {
    const claims = lostLeases.takeSurvived();
    if (claims.length === 0) return;
    try {
      await store.recordSurvivedClaims(claims);
    } catch (error) {
      logger.warn({ err: error, plans: claims.length }, "could not say that lost plans were outlived");
      lostLeases.putBack(claims);
    }
  }

  const end = clock.every(everyMs, look);
  return {
    allowed: () => (isHeard() ? quota.allowed() : 0),
    lost({ plan, epoch }, begunAtMs) {
      lostLeases.lost({ planId: plan._id, epoch }, begunAtMs);
      quota.lost(held().length);
    },
    end,
  };
}

/** Enough for all plans that a process holds with the usual settings. */
const MAX_REQUEST_IDS = 64;

function requestIdsOf(claims: readonly PlanClaim[]): string[] {
  return claims.slice(0, MAX_REQUEST_IDS).map(({ plan }) => plan.requestId);
}
