import type { Logger } from "@planwright/runtime";
import type { ExecutionStore, PlanClaim } from "@planwright/store";
import { createLostLeases } from "./lost-leases.ts";
import { createPlanQuota } from "./plan-quota.ts";
import type { PlanRun } from "./plan-run.ts";
import type { RunClock } from "./run-clock.ts";

/** Keeps the leases of a process, and what follows from losing some. */
export interface LeaseKeeper {
  /** Plans that the process may hold now: fewer while leases are lost. */
  allowed(): number;
  /** A claim was given up because its lease was gone, or the database; the process, which began it then, lives on. */
  lost(claim: PlanClaim, begunAtMs: number): void;
  /** Renews nothing any more. */
  end(): void;
}

/** What keeping leases needs. */
export interface LeaseKeeperParts {
  store: Pick<ExecutionStore, "renewLeases" | "noteOutlived">;
  /** The plans of the process as they are at each call. */
  held: () => readonly { claim: PlanClaim; run: Pick<PlanRun, "lose"> }[];
  maxPlans: number;
  leaseMs: number;
  logger: Logger;
  clock: RunClock;
}

/** Renewals within the time of a lease: one may be late, and one may fail. */
const RENEWALS_PER_LEASE = 3.3;

/** Begins to renew leases. */
export function createLeaseKeeper({
  store,
  held,
  maxPlans,
  leaseMs,
  logger,
  clock,
}: LeaseKeeperParts): LeaseKeeper {
  const everyMs = Math.floor(leaseMs / RENEWALS_PER_LEASE);
  const timesNow = () => ({ nowMs: clock.now(), computedMs: clock.computed() });
  const lostLeases = createLostLeases({ everyMs, leaseMs, ...timesNow() });
  const quota = createPlanQuota(maxPlans);
  /** Claims of which it was said that their lease ran out. */
  const ranOut = new WeakSet<PlanClaim>();

  function beat(): void {
    const before = quota.allowed();
    quota.beat();
    if (quota.allowed() < before)
      logger.warn({ plans: quota.allowed() }, "leases were lost; fewer plans are held for a while");
    const blockedMs = lostLeases.beat(timesNow());
    if (blockedMs > 0) {
      const claims = held().map(({ claim }) => claim);
      const plans = claims.map(({ plan }) => plan._id);
      logger.warn({ blockedMs, plans, requestIds: requestIdsOf(claims) }, "this process was blocked");
    }
    tellRunOut();
    void renewAll();
    void tellOutlived();
  }

  /** What cannot be written is held for a while; that the database is away is said at once. */
  function tellRunOut(): void {
    const now = clock.now();
    const claims = held()
      .map(({ claim }) => claim)
      .filter((claim) => claim.validUntil < now && !ranOut.has(claim));
    if (claims.length === 0) return;
    for (const claim of claims) ranOut.add(claim);
    const facts = { plans: claims.length, requestIds: requestIdsOf(claims) };
    logger.warn(facts, "leases ran out before they were renewed; the database may be lost");
  }

  /** Renews every lease. One that cannot be renewed before it runs out is treated as lost. */
  async function renewAll(): Promise<void> {
    const plans = held();
    try {
      const lost = new Set(await store.renewLeases(plans.map(({ claim }) => claim)));
      for (const { claim, run } of plans) if (lost.has(claim)) run.lose();
    } catch (error) {
      const requestIds = requestIdsOf(plans.map(({ claim }) => claim));
      logger.warn({ err: error, plans: plans.length, requestIds }, "leases not renewed");
      for (const { claim, run } of plans) if (clock.now() > claim.validUntil) run.lose();
    }
  }

  /** Innocent plans are not to be ended as poison on a night on which leases are lost. */
  async function tellOutlived(): Promise<void> {
    const claims = lostLeases.takeOutlived();
    if (claims.length === 0) return;
    try {
      await store.noteOutlived(claims);
    } catch (error) {
      logger.warn({ err: error, plans: claims.length }, "could not say that lost plans were outlived");
      lostLeases.putBack(claims);
    }
  }

  const end = clock.every(everyMs, beat);
  return {
    allowed: () => quota.allowed(),
    lost({ plan, epoch }, begunAtMs) {
      lostLeases.lost({ planId: plan._id, epoch }, begunAtMs);
      quota.lost(held().length);
    },
    end,
  };
}

/** The requests of all plans that a process can hold, in a usual setting. */
const MAX_REQUEST_IDS = 64;

function requestIdsOf(claims: readonly PlanClaim[]): string[] {
  return claims.slice(0, MAX_REQUEST_IDS).map(({ plan }) => plan.requestId);
}
