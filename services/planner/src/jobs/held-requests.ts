import type { RequestId } from "@planwright/plan";
import {
  createLeaseKeeper,
  createRunClock,
  type Held,
  type LeaseStore,
  type Liveness,
  type Logger,
  type RunClock,
} from "@planwright/runtime";
import { LeaseLostError, type PlanningClaim, type PlanningStore } from "@planwright/store";

/** Dependencies of {@link createHeldRequests}. */
interface HeldRequestsParts {
  store: Pick<PlanningStore, "claimRequest">;
  /** The leases of requests. */
  leases: LeaseStore<RequestId>;
  /** Names this process in the leases that it takes, and gives the time until which they certainly hold. */
  liveness: Pick<Liveness, "owner" | "validUntil">;
  /** Most requests in progress. */
  maxRequests: number;
  /** Silence after which other workers declare this process dead, in milliseconds. */
  deadAfterMs: number;
  logger: Pick<Logger, "warn">;
  /** Default: the clock of the platform. */
  clock?: Pick<RunClock, "now" | "computed" | "every"> | undefined;
}

/** A request that this process holds. */
interface HeldRequest {
  claim: PlanningClaim;
  /**
   * Aborts when this planner no longer holds the request: another planner holds it, it was cancelled, or this
   * process was declared dead.
   */
  lost: AbortSignal;
  /**
   * Must be called when the work has ended or failed.
   * @param options.isLost - it failed because the lease was lost: the request did not kill this planner
   */
  release(options: { isLost: boolean }): void;
}

/** The requests that this process holds, compared regularly with the database. */
export interface HeldRequests {
  /** How many requests it may hold now: fewer while leases are lost, none while no heartbeat is answered. */
  allowed(): number;
  /** Claims a request; null when it was not claimed. */
  take(requestId: RequestId): Promise<HeldRequest | null>;
  /** This process was declared dead: all its requests are lost. */
  loseAll(): void;
  /** Ends the regular comparison. */
  end(): void;
}

/**
 * A claim that is missing in the database this many times in a row is lost. The first time, its last write
 * may still be in progress.
 */
const ROUNDS_TO_LOSE = 2;

interface HeldClaim {
  claim: PlanningClaim;
  lost: AbortController;
  missed: number;
}

/** Starts the regular comparison. */
export function createHeldRequests(parts: HeldRequestsParts): HeldRequests {
  const { store, liveness, clock = createRunClock() } = parts;
  const held = new Map<RequestId, HeldClaim>();
  const claiming = new Set<RequestId>();
  const keeper = createLeaseKeeper({
    store: parts.leases,
    liveness,
    what: "requests",
    inProgress: () => [...held].map(([id, { claim }]) => ({ id, epoch: claim.epoch, requestId: id })),
    isHeld: (id) => held.has(id) || claiming.has(id),
    onFound: loseMissing,
    max: parts.maxRequests,
    deadAfterMs: parts.deadAfterMs,
    logger: parts.logger,
    clock,
  });

  function lose({ claim, lost }: HeldClaim): void {
    lost.abort(new LeaseLostError({ id: claim.request._id, epoch: claim.epoch }));
  }

  /** Other planners now hold these requests, or their planning was cancelled. */
  function loseMissing(found: readonly Held<RequestId>[]): void {
    const epochs = new Map(found.map(({ id, epoch }) => [id, epoch]));
    for (const [id, one] of held) {
      one.missed = epochs.get(id) === one.claim.epoch ? 0 : one.missed + 1;
      if (one.missed >= ROUNDS_TO_LOSE) lose(one);
    }
  }

  return {
    allowed: () => keeper.allowed(),
    async take(requestId) {
      claiming.add(requestId);
      try {
        const owner = liveness.owner();
        const begunAt = clock.now();
        const claim = await store.claimRequest(requestId, owner);
        if (!claim) return null;
        const lost = new AbortController();
        const one: HeldClaim = { claim, lost, missed: 0 };
        held.set(requestId, one);
        // This process was declared dead during the claim.
        if (owner !== liveness.owner()) lose(one);
        return {
          claim,
          lost: lost.signal,
          release({ isLost }) {
            held.delete(requestId);
            if (isLost) keeper.lost({ id: requestId, epoch: claim.epoch }, begunAt);
          },
        };
      } finally {
        claiming.delete(requestId);
      }
    },
    loseAll() {
      if (held.size > 0) keeper.overloaded();
      for (const one of held.values()) lose(one);
    },
    end: () => keeper.end(),
  };
}
