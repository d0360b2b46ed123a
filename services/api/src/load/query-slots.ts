/**
 * Slots for queries. Without them an overload lasts: very many queries run at once, none of them ends in
 * time, their clients leave and ask again, and the process works on answers that no client waits for.
 *
 * 1. At most `maxRunning` queries run at once; others wait before any part of them runs. A query that only
 *    waits for a plan holds no slot.
 * 2. The tenant with fewest running queries is served first, its callers in their order.
 * 3. A caller waits for a short time; then, or when too many wait, it is refused and knows when to try again.
 *    A caller that disconnects leaves the line, and its query never runs.
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
  /** Uniform in [0, 1). Default: the platform's. */
  random?: (() => number) | undefined;
}

/** Who asks for a slot. */
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

/** A caller in line. */
interface Waiting {
  serve: () => void;
}

/** The queries of one tenant. */
interface Line {
  running: number;
  /** In their order; a caller that leaves is removed at once. */
  waiting: Set<Waiting>;
}

/** Unused slots. */
export function createQuerySlots(options: QuerySlotOptions): QuerySlots {
  const { maxRunning, waitMs = WAIT_MS, maxWaiting = MAX_WAITING, metrics, random = Math.random } = options;
  const lines = new Map<string, Line>();
  let running = 0;
  let waiting = 0;

  function lineOf(tenant: string): Line {
    const line = lines.get(tenant) ?? { running: 0, waiting: new Set() };
    lines.set(tenant, line);
    return line;
  }

  function overloaded(): OverloadedError {
    return new OverloadedError(`${running} queries are running and ${waiting} wait`, retryAfterMs(random));
  }

  function removeUnused(tenant: string, line: Line): void {
    if (line.running === 0 && line.waiting.size === 0) lines.delete(tenant);
  }

  function take(tenant: string): () => void {
    const line = lineOf(tenant);
    running += 1;
    line.running += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      running -= 1;
      line.running -= 1;
      serveNext();
      removeUnused(tenant, line);
    };
  }

  /** A slot is free: serves the caller of invariant 2. */
  function serveNext(): void {
    let next: Line | undefined;
    for (const line of lines.values()) {
      if (line.waiting.size > 0 && (!next || line.running < next.running)) next = line;
    }
    const [first] = next?.waiting ?? [];
    first?.serve();
  }

  function waitInLine({ tenant, signal }: SlotRequest): Promise<() => void> {
    const line = lineOf(tenant);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", drop);
        line.waiting.delete(own);
        waiting -= 1;
      };
      const drop = (): void => {
        const error = overloaded();
        leave();
        removeUnused(tenant, line);
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
      line.waiting.add(own);
      waiting += 1;
    });
  }

  return {
    async enter(request) {
      // While a slot is free, no caller waits.
      if (running < maxRunning) return take(request.tenant);
      if (request.signal?.aborted) throw overloaded();
      if (waiting < maxWaiting) return waitInLine(request);
      metrics?.refused("queries");
      throw overloaded();
    },
  };
}
