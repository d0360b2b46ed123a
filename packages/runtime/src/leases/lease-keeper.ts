/**
 * Acts when leases are lost, and when this process holds work that is not in progress: plans of an executor,
 * or requests of a planner.
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
   * How many plans or requests the process may hold now: fewer after leases were lost, 0 while no heartbeat
   * is answered.
   */
  allowed(): number;
  /**
   * Reports that work ended because its lease or the database was lost, and that this process is alive: the
   * work did not kill it. `begunAtMs`: when this process started the claim.
   */
  lost(claim: Held<Id>, begunAtMs: number): void;
  /** Reports that leases were lost because this process holds too much work: it holds less for a while. */
  overloaded(): void;
  /** Ends the regular checks. */
  end(): void;
}

/** Dependencies of {@link createLeaseKeeper}. */
export interface LeaseKeeperParts<Id extends string> {
  store: LeaseStore<Id>;
  liveness: Pick<Liveness, "owner" | "validUntil">;
  /** Names the work in the log. */
  what: "plans" | "requests";
  /** The work in progress, at the time of each call. */
  inProgress: () => readonly WorkInProgress<Id>[];
  /** True for work that is in progress, or is being claimed. */
  isHeld: (id: Id) => boolean;
  /** Called at each check with the work that the process holds according to the database. Default: none. */
  onFound?: ((held: readonly Held<Id>[]) => void) | undefined;
  /** Maximum number of plans or requests that the process holds at once. */
  max: number;
  /** Time without a heartbeat after which others declare this process dead, in milliseconds. */
  deadAfterMs: number;
  logger: Pick<Logger, "warn">;
  clock: Pick<RunClock, "now" | "computed" | "every">;
}

/** Number of checks within `deadAfterMs`. */
const CHECKS_PER_SILENCE = 3.3;
/**
 * Maximum number of request ids in one log line: enough for all work of a process with the usual settings.
 */
const MAX_REQUEST_IDS = 64;

/** Starts the regular checks. */
export function createLeaseKeeper<Id extends string>(parts: LeaseKeeperParts<Id>): LeaseKeeper<Id> {
  const { store, liveness, what, inProgress, max, deadAfterMs, logger, clock } = parts;
  const everyMs = Math.floor(deadAfterMs / CHECKS_PER_SILENCE);
  const timesNow = () => ({ nowMs: clock.now(), computedMs: clock.computed() });
  const lostLeases = createLostLeases<Id>({ everyMs, deadAfterMs, ...timesNow() });
  const quota = createWorkQuota(max);
  let wasAnswered = true;

  function check(): void {
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

  const isAnswered = (): boolean => clock.now() <= liveness.validUntil();
  const requestIds = (): string[] =>
    inProgress()
      .slice(0, MAX_REQUEST_IDS)
      .map(({ requestId }) => requestId);

  /** No call starts until the database answers again, so its silence is logged at once. */
  function logSilence(): void {
    if (wasAnswered && !isAnswered()) {
      const facts = { [what]: inProgress().length, requestIds: requestIds() };
      logger.warn(
        facts,
        "no heartbeat was answered in time, the database may be lost; no call starts until one is",
      );
    }
    wasAnswered = isAnswered();
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
      // Work that ended while the database answered is in `unheld` too, and is not released.
      const released = await store.releaseUnheld(unheld);
      if (released.length === 0) return;
      const ids = released.map(({ id }) => id);
      logger.warn({ [what]: ids }, `${what} are released that are not worked on here`);
    } catch (error) {
      logger.warn(
        { err: error },
        `could not check for ${what} that are not worked on; the next check tries again`,
      );
    }
  }

  /** Work that did not kill this process must not be ended as poisoned because leases were lost. */
  async function recordSurvived(): Promise<void> {
    const claims = lostLeases.takeSurvived();
    if (claims.length === 0) return;
    try {
      await store.recordSurvived(claims);
    } catch (error) {
      logger.warn(
        { err: error, [what]: claims.length },
        `could not record that lost ${what} did not end this process; the next check tries again`,
      );
      lostLeases.putBack(claims);
    }
  }

  const end = clock.every(everyMs, check);
  return {
    allowed: () => (isAnswered() ? quota.allowed() : 0),
    lost: (claim, begunAtMs) => lostLeases.lost(claim, begunAtMs),
    overloaded: () => quota.lost(inProgress().length),
    end,
  };
}
