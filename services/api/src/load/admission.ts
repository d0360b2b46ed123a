/**
 * Backpressure: limits the work that the service accepts. To refuse at once is better than to accept work
 * that cannot be done in time: a refused operation did nothing, and its client knows when to retry.
 *
 * 1. A mutation holds a slot from its start until it is answered, or until it only waits for others. When the
 *    database answers slowly, all slots are in use, and further mutations are refused instead of queued.
 * 2. A query waits for its slot for a short time: see {@link createQuerySlots}.
 * 3. New plans are refused while too many are unfinished. Accepted plans are never dropped.
 */
import { OverloadedError } from "../errors/service-errors.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import { createQuerySlots, type QuerySlots } from "./query-slots.ts";
import { retryAfterMs } from "./retry-after.ts";

/** Dependencies of {@link createAdmission}. */
export interface AdmissionDependencies {
  /** Most mutations that run at once. */
  maxPendingMutations: number;
  /** Most queries that run at once. */
  maxPendingQueries: number;
  /** Most unfinished plans and planning requests. */
  maxUnfinishedPlans: number;
  /** Counts unfinished plans and planning requests, up to `limit`. */
  countUnfinished: (limit: number) => Promise<number>;
  /** Counts refusals. Default: nothing is counted. */
  metrics?: Pick<ApiMetrics, "refused"> | undefined;
  /** Uniform in [0, 1). Default: Math.random. */
  random?: (() => number) | undefined;
  /** Milliseconds of a monotonic clock. Default: performance.now. */
  now?: (() => number) | undefined;
}

/** Admits operations, or refuses them. */
export interface Admission {
  /** Takes a slot for a query, at once or after a wait. */
  enterQuery: QuerySlots["enter"];
  /**
   * Takes a slot for a mutation.
   * @returns a function that releases it; safe to call twice
   * @throws {OverloadedError}
   */
  enter(): () => void;
  /** Reserves one more unfinished plan. @throws {OverloadedError} */
  reserve(): Promise<void>;
}

/** How long a count is used, in milliseconds. */
const COUNT_FOR_MS = 1_000;

/** The admission of one process. */
export function createAdmission(dependencies: AdmissionDependencies): Admission {
  const { maxPendingMutations, maxPendingQueries, maxUnfinishedPlans, countUnfinished } = dependencies;
  const { metrics, random = Math.random, now = () => performance.now() } = dependencies;
  const querySlots = createQuerySlots({ maxRunning: maxPendingQueries, metrics, random });
  let pending = 0;
  let known = 0;
  /** Plans reserved since the count started: it may not include them. */
  let reserved = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let counting: Promise<void> | null = null;

  function overloaded(what: "mutations" | "plans", reason: string): OverloadedError {
    metrics?.refused(what);
    return new OverloadedError(reason, retryAfterMs(random));
  }

  /** Concurrent callers share one count. A failed count changes nothing: the operation itself will fail. */
  function count(): Promise<void> {
    if (counting) return counting;
    known += reserved;
    reserved = 0;
    counting = countUnfinished(maxUnfinishedPlans)
      .then(
        (found) => {
          known = found;
          countedAt = now();
        },
        () => undefined,
      )
      .finally(() => {
        counting = null;
      });
    return counting;
  }

  return {
    enterQuery: (request) => querySlots.enter(request),
    enter() {
      if (pending >= maxPendingMutations) throw overloaded("mutations", `${pending} mutations are running`);
      pending += 1;
      let isHeld = true;
      return () => {
        if (isHeld) pending -= 1;
        isHeld = false;
      };
    },

    async reserve() {
      const isFull = (): boolean => known + reserved >= maxUnfinishedPlans;
      if (now() - countedAt >= COUNT_FOR_MS) {
        const counted = count();
        // Waits for a new count only before it would refuse a caller because of an old one.
        if (isFull()) await counted;
      }
      if (isFull()) throw overloaded("plans", `${known + reserved} plans are unfinished`);
      reserved += 1;
    },
  };
}
