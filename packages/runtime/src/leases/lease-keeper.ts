/**
 * Acts when leases are lost, and when this process holds what it does not work on: the plans of an executor,
 * or the requests of a planner.
 */
import type { Logger } from "../logging/create-logger.ts";
import type { RunClock } from "../workers/run-clock.ts";
import type { Liveness } from "../workers/start-heartbeat.ts";
import type { Held, LeaseStore } from "./held.ts";
import { createLostLeases } from "./lost-leases.ts";
import { createWorkQuota } from "./work-quota.ts";

/** Work in progress here. */
export interface WorkInProgress<Id extends string> extends Held<Id> {
  /** For the log. */
  requestId: string;
}

/** Keeps the leases of one process. */
export interface LeaseKeeper<Id extends string> {
  /**
   * How much the process may hold now: less while leases are lost, nothing while no heartbeat is answered.
   */
  allowed(): number;
  /**
   * Work ended here because its lease or the database was lost, and this process lives on: the work did not
   * kill it. `begunAtMs` is when this process started the claim.
   */
  lost(claim: Held<Id>, begunAtMs: number): void;
  /** Leases were lost because this process holds too much: it holds less for a while. */
  overloaded(): void;
  /** Ends the regular look. */
  end(): void;
}

/** What a lease keeper needs. */
export interface LeaseKeeperParts<Id extends string> {
  store: LeaseStore<Id>;
  liveness: Pick<Liveness, "owner" | "validUntil">;
  /** Names the work in the log. */
  what: "plans" | "requests";
  /** The work in progress, at the time of each call. */
  inProgress: () => readonly WorkInProgress<Id>[];
  /** True for work that is in progress, or is being claimed. */
  isHeld: (id: Id) => boolean;
  /** Told at each look what the process holds according to the database. Default: nothing is done with it. */
  onFound?: ((held: readonly Held<Id>[]) => void) | undefined;
  /** Most that the process holds at once. */
  max: number;
  /** Silence after which others declare this process dead, in milliseconds. */
  deadAfterMs: number;
  logger: Pick<Logger, "warn">;
  clock: Pick<RunClock, "now" | "computed" | "every">;
}

/** Looks within the silence after which a process counts as dead. */
const LOOKS = 3.3;
/** Most request ids in one line of the log: enough for all that a process holds with the usual settings. */
const MAX_REQUEST_IDS = 64;

/** Starts to look regularly. */
export function createLeaseKeeper<Id extends string>(parts: LeaseKeeperParts<Id>): LeaseKeeper<Id> {
  const { store, liveness, what, inProgress, max, deadAfterMs, logger, clock } = parts;
  const everyMs = Math.floor(deadAfterMs / LOOKS);
  const timesNow = () => ({ nowMs: clock.now(), computedMs: clock.computed() });
  const lostLeases = createLostLeases<Id>({ everyMs, deadAfterMs, ...timesNow() });
  const quota = createWorkQuota(max);
  let wasHeard = true;

  function look(): void {
    const before = quota.allowed();
    quota.beat();
    if (quota.allowed() < before)
      logger.warn({ [what]: quota.allowed() }, `leases were lost; fewer ${what} are held for a while`);
    const blockedMs = lostLeases.beat(timesNow());
    if (blockedMs > 0) {
      const ids = inProgress().map(({ id }) => id);
      logger.warn({ blockedMs, [what]: ids, requestIds: requestIds() }, "this process was blocked");
    }
    logSilence();
    void compareWithDatabase();
    void recordSurvived();
  }

  const isHeard = (): boolean => clock.now() <= liveness.validUntil();
  const requestIds = (): string[] =>
    inProgress()
      .slice(0, MAX_REQUEST_IDS)
      .map(({ requestId }) => requestId);

  /** No call starts until the database answers again, so its silence is logged at once. */
  function logSilence(): void {
    if (wasHeard && !isHeard()) {
      const facts = { [what]: inProgress().length, requestIds: requestIds() };
      logger.warn(
        facts,
        "no heartbeat was answered in time, the database may be lost; no call starts until one is",
      );
    }
    wasHeard = isHeard();
  }

  /**
   * Releases the leases under which this process does no work, because the answer to a claim was lost or the
   * work failed. No other worker would take them over while this process lives.
   */
  async function compareWithDatabase(): Promise<void> {
    try {
      const found = await store.findHeld(liveness.owner());
      parts.onFound?.(found);
      const unheld = found.filter(({ id }) => !parts.isHeld(id));
      if (unheld.length === 0) return;
      await store.releaseUnheld(unheld);
      logger.warn({ [what]: unheld.map(({ id }) => id) }, `${what} are released that are not worked on here`);
    } catch (error) {
      logger.warn(
        { err: error },
        `could not look for ${what} that are not worked on; the next look tries again`,
      );
    }
  }

  /** Work that this process survived must not be ended as poisoned because leases were lost. */
  async function recordSurvived(): Promise<void> {
    const claims = lostLeases.takeSurvived();
    if (claims.length === 0) return;
    try {
      await store.recordSurvived(claims);
    } catch (error) {
      logger.warn(
        { err: error, [what]: claims.length },
        `could not record that lost ${what} did not end this process; the next look tries again`,
      );
      lostLeases.putBack(claims);
    }
  }

  const end = clock.every(everyMs, look);
  return {
    allowed: () => (isHeard() ? quota.allowed() : 0),
    lost: (claim, begunAtMs) => lostLeases.lost(claim, begunAtMs),
    overloaded: () => quota.lost(inProgress().length),
    end,
  };
}
