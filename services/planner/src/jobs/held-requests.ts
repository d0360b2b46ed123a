import type { RequestId } from "@planwright/plan";
import { type Liveness, releaseUnheld } from "@planwright/runtime";
import { LeaseLostError, type PlanningClaim, type PlanningStore } from "@planwright/store";

/** What holding requests needs. */
export interface HeldRequestsParts {
  store: Pick<PlanningStore, "claimRequest" | "findHeldRequests" | "releaseUnheldRequests">;
  /** Names this process in the leases that it takes. */
  liveness: Pick<Liveness, "owner">;
  /** Interval at which the held requests are compared with the database, in milliseconds. */
  lookEveryMs: number;
  /** Called when a comparison failed; the next one comes as usual. */
  onError: (error: unknown) => void;
}

/** A request that this process holds. */
export interface HeldRequest {
  claim: PlanningClaim;
  /**
   * Aborts when this planner no longer holds the request: another planner holds it, it was cancelled, or this
   * process was declared dead.
   */
  lost: AbortSignal;
  /** To be called when the work has ended or failed. */
  release(): void;
}

/** The requests that this process holds, compared regularly with the database. */
export interface HeldRequests {
  /** Claims a request; null when there is nothing to do. */
  take(requestId: RequestId): Promise<HeldRequest | null>;
  /** This process was declared dead: all that it holds is lost. */
  loseAll(): void;
  /** Ends the regular comparison. */
  end(): void;
}

/**
 * A claim that is missing in the database so many times in a row is lost; the first time, its last write may
 * be in progress.
 */
const LOOKS_TO_LOSE = 2;

interface Held {
  claim: PlanningClaim;
  lost: AbortController;
  missed: number;
}

/** Starts the regular comparison. */
export function createHeldRequests(parts: HeldRequestsParts): HeldRequests {
  const { store, liveness, lookEveryMs, onError } = parts;
  const held = new Map<RequestId, Held>();
  const claiming = new Set<RequestId>();

  function lose({ claim, lost }: Held): void {
    lost.abort(new LeaseLostError({ id: claim.request._id, epoch: claim.epoch }));
  }

  /**
   * The requests that this process holds by the database. A claim that is missing there repeatedly is lost.
   */
  async function findHeld(): Promise<Awaited<ReturnType<PlanningStore["findHeldRequests"]>>> {
    const before = new Set(held.values());
    const found = await store.findHeldRequests(liveness.owner());
    const epochs = new Map(found.map(({ requestId, epoch }) => [requestId, epoch]));
    for (const one of before) {
      const { request, epoch } = one.claim;
      one.missed = epochs.get(request._id) === epoch ? 0 : one.missed + 1;
      if (one.missed >= LOOKS_TO_LOSE) lose(one);
    }
    return found;
  }

  async function look(): Promise<void> {
    await releaseUnheld({
      find: findHeld,
      isHeld: ({ requestId }) => held.has(requestId) || claiming.has(requestId),
      release: (requests) => store.releaseUnheldRequests(requests),
    });
  }

  const timer = setInterval(() => void look().catch(onError), lookEveryMs).unref();
  return {
    async take(requestId) {
      claiming.add(requestId);
      try {
        const owner = liveness.owner();
        const claim = await store.claimRequest(requestId, owner);
        if (!claim) return null;
        const lost = new AbortController();
        const one: Held = { claim, lost, missed: 0 };
        held.set(requestId, one);
        // This process was declared dead during the claim.
        if (owner !== liveness.owner()) lose(one);
        return { claim, lost: lost.signal, release: () => void held.delete(requestId) };
      } finally {
        claiming.delete(requestId);
      }
    },
    loseAll: () => [...held.values()].forEach(lose),
    end: () => clearInterval(timer),
  };
}
