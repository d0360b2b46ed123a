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
import { OverloadedError } from "../errors/api-error.ts";
import type { ApiMetrics } from "../errors/telemetry.ts";

/** Dependencies of {@link createAdmission}. */
interface AdmissionDependencies {
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

/*
 * Slots for queries. Without them an overload persists: very many queries run at once, none of them ends in
 * time, their clients leave and retry, and the process works on answers that no client waits for.
 *
 * 1. At most `maxRunning` queries run at once; others wait before any part of them runs. A query that only
 *    waits for a plan holds no slot.
 * 2. The tenant with the fewest running queries is served first, its callers in order.
 * 3. A caller waits for a short time. After that, or when too many callers wait, it is refused with a retry
 *    time. A caller that disconnects leaves the queue, and its query never runs.
 */

/** Settings of {@link createQuerySlots}. */
interface QuerySlotOptions {
  /** Most queries that run at once. */
  maxRunning: number;
  /** How long a caller waits before it is refused, in milliseconds. Default 2,000. */
  waitMs?: number | undefined;
  /** Most callers that wait at once. Default 5,000. */
  maxWaiting?: number | undefined;
  /** Counts refusals. Default: nothing is counted. */
  metrics?: Pick<ApiMetrics, "refused"> | undefined;
  /** Uniform in [0, 1). Default: Math.random. */
  random?: (() => number) | undefined;
}

/** A request for a slot. */
interface SlotRequest {
  tenant: string;
  /** Aborted when the client disconnects. */
  signal?: AbortSignal | undefined;
}

/** The slots of a process. */
interface QuerySlots {
  /**
   * Takes a slot, at once or after a wait.
   * @returns a function that releases it; safe to call twice
   * @throws {OverloadedError}
   */
  enter(request: SlotRequest): Promise<() => void>;
}

const WAIT_MS = 2_000;
const MAX_WAITING = 5_000;

/** A waiting caller. */
interface Waiting {
  serve: () => void;
}

/** The queries of one tenant. */
interface TenantQueue {
  running: number;
  /** In order; a caller that leaves is removed at once. */
  waiting: Set<Waiting>;
}

/** Unused slots. */
export function createQuerySlots(options: QuerySlotOptions): QuerySlots {
  const { maxRunning, waitMs = WAIT_MS, maxWaiting = MAX_WAITING, metrics, random = Math.random } = options;
  const queues = new Map<string, TenantQueue>();
  let running = 0;
  let waiting = 0;

  function queueOf(tenant: string): TenantQueue {
    const queue = queues.get(tenant) ?? { running: 0, waiting: new Set() };
    queues.set(tenant, queue);
    return queue;
  }

  function overloaded(): OverloadedError {
    return new OverloadedError(`${running} queries are running and ${waiting} wait`, retryAfterMs(random));
  }

  function removeUnused(tenant: string, queue: TenantQueue): void {
    if (queue.running === 0 && queue.waiting.size === 0) queues.delete(tenant);
  }

  function take(tenant: string): () => void {
    const queue = queueOf(tenant);
    running += 1;
    queue.running += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      running -= 1;
      queue.running -= 1;
      serveNext();
      removeUnused(tenant, queue);
    };
  }

  /** A slot is free: serves the caller of invariant 2. */
  function serveNext(): void {
    let next: TenantQueue | undefined;
    for (const queue of queues.values()) {
      if (queue.waiting.size > 0 && (!next || queue.running < next.running)) next = queue;
    }
    const [first] = next?.waiting ?? [];
    first?.serve();
  }

  function waitInQueue({ tenant, signal }: SlotRequest): Promise<() => void> {
    const queue = queueOf(tenant);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", drop);
        queue.waiting.delete(own);
        waiting -= 1;
      };
      const drop = (): void => {
        const error = overloaded();
        leave();
        removeUnused(tenant, queue);
        reject(error);
      };
      const refuse = (): void => {
        metrics?.refused("queries");
        drop();
      };
      const own: Waiting = {
        serve() {
          leave();
          resolve(take(tenant));
        },
      };
      const timer = setTimeout(refuse, waitMs);
      signal?.addEventListener("abort", drop, { once: true });
      queue.waiting.add(own);
      waiting += 1;
    });
  }

  return {
    async enter(request) {
      // While a slot is free, no caller waits.
      if (running < maxRunning) return take(request.tenant);
      if (request.signal?.aborted) throw overloaded();
      if (waiting < maxWaiting) return waitInQueue(request);
      metrics?.refused("queries");
      throw overloaded();
    },
  };
}

const RETRY_AFTER_MS = 1_000;

/**
 * When a refused client may retry: after 0.5 to 1.5 s, in milliseconds. Random, so that clients do not return
 * together.
 * @param random - uniform in [0, 1)
 */
function retryAfterMs(random: () => number): number {
  return Math.round(RETRY_AFTER_MS * (0.5 + random()));
}
