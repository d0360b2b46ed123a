/**
 * Slots for queries. Without them an overload persists: very many queries run at once, none of them ends in
 * time, their clients leave and retry, and the process works on answers that no client waits for.
 *
 * 1. At most `maxRunning` queries run at once; others wait before any part of them runs. A query that only
 *    waits for a plan holds no slot.
 * 2. The tenant with the fewest running queries is served first, its callers in order.
 * 3. A caller waits for a short time. After that, or when too many callers wait, it is refused with a retry
 *    time. A caller that disconnects leaves the queue, and its query never runs.
 */
import { OverloadedError } from "../errors/service-errors.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import { retryAfterMs } from "./retry-after.ts";

/** Settings of {@link createQuerySlots}. */
export interface QuerySlotOptions {
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
export interface SlotRequest {
  tenant: string;
  /** Aborted when the client disconnects. */
  signal?: AbortSignal | undefined;
}

/** The slots of a process. */
export interface QuerySlots {
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
