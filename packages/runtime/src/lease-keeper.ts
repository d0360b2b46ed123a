/**
 * Acts when leases are lost, and when this process holds work that is not in progress: plans of an executor,
 * or requests of a planner.
 */
import type { Logger } from "./create-logger.ts";
import type { Liveness, RunClock } from "./start-heartbeat.ts";

/** Work in progress here. */
interface WorkInProgress<Id extends string> extends Held<Id> {
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
  const outageOf = (work: string) => createOutageLog({ logger, clock, work });
  const comparing = outageOf(`check for ${what} that are not worked on`);
  const recording = outageOf(`record that lost ${what} did not end this process`);
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
      comparing.worked();
      parts.onFound?.(found);
      const unheld = found.filter(({ id }) => !parts.isHeld(id));
      if (unheld.length === 0) return;
      // Work that ended while the database answered is in `unheld` too, and is not released.
      const released = await store.releaseUnheld(unheld);
      if (released.length === 0) return;
      const ids = released.map(({ id }) => id);
      logger.warn({ [what]: ids }, `${what} are released that are not worked on here`);
    } catch (error) {
      comparing.failed(error);
    }
  }

  /** Work that did not kill this process must not be ended as poisoned because leases were lost. */
  async function recordSurvived(): Promise<void> {
    const claims = lostLeases.takeSurvived();
    if (claims.length === 0) return;
    try {
      await store.recordSurvived(claims);
      recording.worked();
    } catch (error) {
      recording.failed(error, { [what]: claims.length });
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

/**
 * Logs work that is tried again at an interval: once when it begins to fail, and once when it works again, with
 * the length of the outage (`failedForMs`).
 * @param options.work - what is tried, such as "read the controls of clients"
 */
export function createOutageLog({
  logger,
  clock,
  work,
}: {
  logger: Pick<Logger, "warn">;
  clock: Pick<RunClock, "now">;
  work: string;
}) {
  let failingSince: number | null = null;
  return {
    failed(error: unknown, facts: Readonly<Record<string, unknown>> = {}): void {
      if (failingSince === null)
        logger.warn({ err: error, ...facts }, `could not ${work}; it is tried again`);
      failingSince ??= clock.now();
    },
    worked(): void {
      if (failingSince === null) return;
      const failedForMs = Math.round(clock.now() - failingSince);
      failingSince = null;
      logger.warn({ failedForMs }, `can ${work} again`);
    },
  };
}

/** How much work a process may hold, given how well it keeps its leases. */
interface WorkQuota {
  /** How many plans or requests it may hold now. */
  allowed(): number;
  /** Reports that a lease was lost while the process held this number. */
  lost(held: number): void;
  /** Called at each check of the held work. */
  beat(): void;
}

/**
 * Beats without a loss in which the quota rises from 0 to the maximum. Only a few: after a short problem,
 * such as a restart of the database, another worker must be able to take over the work of a dead one within
 * seconds.
 */
const BEATS_TO_MAX = 4;
/**
 * The share of the maximum that may always be held: small enough for any machine, and large enough to take
 * over the work of a dead worker.
 */
const LEAST_SHARE = 1 / 8;

/**
 * Additive increase and multiplicative decrease, like the congestion control of TCP (RFC 5681): a process
 * that loses leases has more work than its machine or its database can do in time, and an overloaded system
 * has to repeat the lost work.
 * @param max - how many plans or requests a process may hold when no leases are lost
 */
export function createWorkQuota(max: number): WorkQuota {
  const step = Math.ceil(max / BEATS_TO_MAX);
  const least = Math.ceil(max * LEAST_SHARE);
  let allowed = max;
  let heldAtLoss: number | null = null;
  return {
    allowed: () => allowed,
    lost(held) {
      heldAtLoss = Math.max(heldAtLoss ?? 0, held);
    },
    beat() {
      allowed =
        heldAtLoss === null
          ? Math.min(max, allowed + step)
          : Math.max(least, Math.floor(Math.min(allowed, heldAtLoss) / 2));
      heldAtLoss = null;
    },
  };
}

/** The leases that a process has lost. */
interface LostLeases<Id extends string> {
  /**
   * Called regularly, to detect gaps. Returns for how many milliseconds the process was blocked by its own
   * computation, usually 0.
   */
  beat(at: { nowMs: number; computedMs: number }): number;
  /** The lease of a claim was lost, or the database was, and this process still runs. */
  lost(claim: Held<Id>, begunAtMs: number): void;
  /**
   * Returns, each once, the claims of work that did not cause the loss of leases: the process still runs, and
   * was not blocked since it started it. Work that blocks its process until leases are lost is as bad as work
   * that kills it. An overloaded machine, or one that stops the process, is not the fault of the work.
   */
  takeSurvived(): Held<Id>[];
  /** These claims could not be recorded and are returned again. */
  putBack(claims: readonly Held<Id>[]): void;
}

/** A process that used the CPU for this share of a gap was busy, not suspended. */
const BUSY_SHARE = 0.5;

/**
 * Starts without lost leases. Times are monotonic milliseconds.
 * @param options.everyMs - interval of the beats
 * @param options.deadAfterMs - time without a heartbeat after which others take over; a beat that is late by
 *   half of it is a gap
 */
export function createLostLeases<Id extends string>(options: {
  everyMs: number;
  deadAfterMs: number;
  nowMs: number;
  computedMs: number;
}): LostLeases<Id> {
  const { everyMs, deadAfterMs } = options;
  const begunAt = new Map<Held<Id>, number>();
  let last = { nowMs: options.nowMs, computedMs: options.computedMs };
  let blockedUntil = Number.NEGATIVE_INFINITY;
  return {
    beat(at) {
      const gapMs = at.nowMs - last.nowMs;
      const isBusy = at.computedMs - last.computedMs >= gapMs * BUSY_SHARE;
      last = at;
      if (gapMs <= everyMs + deadAfterMs / 2 || !isBusy) return 0;
      blockedUntil = at.nowMs;
      return gapMs;
    },
    lost(claim, at) {
      begunAt.set(claim, at);
    },
    takeSurvived() {
      const survived = [...begunAt].flatMap(([claim, at]) => (at > blockedUntil ? [claim] : []));
      begunAt.clear();
      return survived;
    },
    putBack(claims) {
      for (const claim of claims) begunAt.set(claim, Number.POSITIVE_INFINITY);
    },
  };
}

/** A plan or a request under a claim of this process. */
export interface Held<Id extends string> {
  id: Id;
  /** Proves the claim (fencing token). */
  epoch: number;
}

/** The part of the store for leases (`LeaseStore`). */
export interface LeaseStore<Id extends string> {
  findHeld(owner: string): Promise<Held<Id>[]>;
  /** @returns the work that this call released */
  releaseUnheld(held: readonly Held<Id>[]): Promise<Held<Id>[]>;
  recordSurvived(held: readonly Held<Id>[]): Promise<void>;
}
