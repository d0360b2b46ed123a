/**
 * Backpressure: limits the work that the service accepts. To refuse at once is better than to accept work
 * that cannot be done in time: a refused operation did nothing, and its client knows when to retry.
 *
 * 1. A mutation holds a slot from its start until it is answered, or until it only waits for others. When the
 *    database answers slowly, all slots are in use, and further mutations are refused instead of queued.
 * 2. A query waits for its slot for a short time: see {@link createQuerySlots}.
 * 3. New plans are refused while their tenant has too many unfinished ones, or all tenants together. Plans
 *    that wait for a person do not count for their tenant. Accepted plans are never dropped.
 */
import { LRUCache } from "lru-cache";
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
  /** Most unfinished plans and planning requests of all tenants. */
  maxUnfinishedPlans: number;
  /** Most unfinished plans and planning requests of one tenant. */
  maxUnfinishedPlansOf: (tenant: string) => Promise<number>;
  /** Counts unfinished plans and planning requests, up to `limit`. @param tenant - default: of all tenants */
  countUnfinished: (limit: number, tenant?: string) => Promise<number>;
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
  /** Reserves one more unfinished plan of a tenant. @throws {OverloadedError} */
  reserve(tenant: string): Promise<void>;
}

/** How long a count is used, in milliseconds. */
const COUNT_FOR_MS = 1_000;
/** Most tenants whose counts are kept. */
const MAX_TENANTS = 10_000;

/** The admission of one process. */
export function createAdmission(dependencies: AdmissionDependencies): Admission {
  const { maxPendingMutations, maxPendingQueries, maxUnfinishedPlans, maxUnfinishedPlansOf } = dependencies;
  const { countUnfinished } = dependencies;
  const { metrics, random = Math.random, now = () => performance.now() } = dependencies;
  const querySlots = createQuerySlots({ maxRunning: maxPendingQueries, metrics, random });
  let pending = 0;
  const all = createPlanCount((limit) => countUnfinished(limit), now);
  const counts = new LRUCache<string, PlanCount>({ max: MAX_TENANTS });

  function countOf(tenant: string): PlanCount {
    const found = counts.get(tenant);
    if (found) return found;
    const made = createPlanCount((limit) => countUnfinished(limit, tenant), now);
    counts.set(tenant, made);
    return made;
  }

  function overloaded(what: "mutations" | "plans", reason: string): OverloadedError {
    metrics?.refused(what);
    return new OverloadedError(reason, retryAfterMs(random));
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

    async reserve(tenant) {
      const mine = countOf(tenant);
      const max = await maxUnfinishedPlansOf(tenant);
      const counting = [all.refresh(maxUnfinishedPlans), mine.refresh(max)].filter((count) => count !== null);
      if (counting.length > 0) await Promise.all(counting);
      if (all.size() >= maxUnfinishedPlans)
        throw overloaded(
          "plans",
          `${all.size()} plans of all tenants are unfinished, and MAX_TOTAL_UNFINISHED_PLANS is ${maxUnfinishedPlans}`,
        );
      if (mine.size() >= max)
        throw overloaded(
          "plans",
          `${mine.size()} plans of the tenant ${tenant} are unfinished, and its limit max-unfinished-plans is ${max}: wait until some have ended, cancel some, or ask the operator of the service for a higher limit (keys tenant set)`,
        );
      all.reserve();
      mine.reserve();
    },
  };
}

/** The number of unfinished plans, as far as this process knows it. */
type PlanCount = ReturnType<typeof createPlanCount>;

function createPlanCount(countUnfinished: (limit: number) => Promise<number>, now: () => number) {
  let known = 0;
  /** Plans reserved since the count started: it may not include them. */
  let reserved = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let counting: Promise<void> | null = null;

  /** Concurrent callers share one count. A failed count changes nothing: the operation itself will fail. */
  function count(max: number): Promise<void> {
    if (counting) return counting;
    known += reserved;
    reserved = 0;
    counting = countUnfinished(max)
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

  const size = (): number => known + reserved;
  return {
    size,
    reserve() {
      reserved += 1;
    },
    /** Counts again when the last count is old. To be awaited only before a caller would be refused. */
    refresh(max: number): Promise<void> | null {
      if (now() - countedAt < COUNT_FOR_MS) return null;
      const counted = count(max);
      return size() >= max ? counted : null;
    },
  };
}
