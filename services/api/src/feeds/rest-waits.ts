/**
 * Waits for the ends of requests. A waiting client causes no read of earlier changes: a separate change
 * stream reports only the few changes after which a request may have ended or wait for a person.
 */
import type { PlanId, RequestId } from "@planwright/plan";
import type { ChangeWatch, ClientStore, LiveStore, RequestWithPlan } from "@planwright/store";
import { LRUCache } from "lru-cache";
import type { ApiLogger } from "../errors/telemetry.ts";
import { isAtRest } from "./request-feed.ts";

/** Dependencies of {@link createRestWaits}. */
interface RestWaitsDependencies {
  store: Pick<ClientStore, "getRequest" | "getPlanHeads" | "getRequestWithPlan"> &
    Pick<LiveStore, "watchRequestsAtRest">;
  logger: ApiLogger;
}

/** Options of one wait. */
export interface WaitOptions {
  /** Longest wait, in milliseconds. */
  waitMs: number;
  /** Ends the wait early: the client has disconnected, or the service stops. */
  signal?: AbortSignal | undefined;
  /**
   * The plan of a request that was accepted after {@link RestWaits.listen} returned true: no first read is
   * needed unless a change was reported.
   */
  acceptedPlanId?: PlanId | undefined;
}

/** All waits of a process, over one change stream of MongoDB. */
export interface RestWaits {
  /** Opens the change stream; true when it is already open, so that no later change is missed. */
  listen(): boolean;
  /**
   * The request when it has ended or waits for a person, or its state after the wait; undefined for an
   * unknown request.
   */
  untilAtRest(
    tenant: string,
    requestId: RequestId,
    options: WaitOptions,
  ): Promise<RequestWithPlan | undefined>;
  /** Ends all waits with the current state. */
  close(): Promise<void>;
}

/** One waiting client. */
interface Wait {
  /** Ids of the request and of its plan. */
  ids: ReadonlySet<string>;
  /** A change was reported since the last read. */
  isDirty: boolean;
  hasEnded: boolean;
  wake: () => void;
}

/**
 * Most recently changed ids that are remembered: a wait may begin a moment after its request was accepted.
 */
const REMEMBERED = 10_000;
/**
 * How long the change stream stays open without a wait, in milliseconds, so that the next wait need not open
 * it again.
 */
const LINGER_MS = 30_000;

/** Opens the change stream only while there are waits. */
export function createRestWaits({ store, logger }: RestWaitsDependencies): RestWaits {
  const byId = new Map<string, Set<Wait>>();
  const waits = new Set<Wait>();
  const changed = new LRUCache<string, true>({ max: REMEMBERED });
  let watch: ChangeWatch | undefined;
  let isOpen = false;
  let linger: NodeJS.Timeout | undefined;

  function markDirty(wait: Wait): void {
    wait.isDirty = true;
    wait.wake();
  }

  function open(): ChangeWatch {
    clearTimeout(linger);
    if (watch) return watch;
    const opened = store.watchRequestsAtRest({
      onChange(id) {
        changed.set(id, true);
        for (const wait of byId.get(id) ?? []) markDirty(wait);
      },
      onGap() {
        for (const wait of waits) markDirty(wait);
      },
      onError: (error) =>
        logger.warn(
          { err: error },
          "the change stream of ended requests was interrupted; it is opened again",
        ),
    });
    watch = opened;
    void opened.ready.then(() => {
      isOpen = watch === opened;
    });
    return opened;
  }

  async function closeWatch(): Promise<void> {
    clearTimeout(linger);
    const closing = watch;
    watch = undefined;
    isOpen = false;
    await closing?.close();
  }

  function begin(): Wait {
    const wait: Wait = { ids: new Set(), isDirty: false, hasEnded: false, wake: () => undefined };
    waits.add(wait);
    clearTimeout(linger);
    return wait;
  }

  /** Replaces the ids whose changes wake this wait. */
  function wakeOn(wait: Wait, ids: readonly string[]): void {
    for (const id of wait.ids) {
      const others = byId.get(id);
      others?.delete(wait);
      if (others?.size === 0) byId.delete(id);
    }
    wait.ids = new Set(ids);
    for (const id of ids) byId.set(id, (byId.get(id) ?? new Set()).add(wait));
  }

  function end(wait: Wait): void {
    wakeOn(wait, []);
    waits.delete(wait);
    closeLater();
  }

  function closeLater(): void {
    if (waits.size > 0) return;
    clearTimeout(linger);
    linger = setTimeout(() => {
      closeWatch().catch((error: unknown) => logger.warn({ err: error }, "could not close a change stream"));
    }, LINGER_MS).unref();
  }

  /**
   * When a new plan replaces this one during the read, the change of the request causes another read with the
   * new id. Once the id of the plan is known both are one read.
   */
  async function read(
    tenant: string,
    requestId: RequestId,
    wait: Wait,
  ): Promise<RequestWithPlan | undefined> {
    const isPlanKnown = wait.ids.size > 1;
    const both = isPlanKnown ? await store.getRequestWithPlan(tenant, requestId) : null;
    const request = isPlanKnown ? both?.request : await store.getRequest(tenant, requestId);
    if (!request) return undefined;
    if (both && wait.ids.has(request.planId)) return both;
    wakeOn(wait, [requestId, request.planId]);
    // Read after the request: the plan of an ended request has ended.
    const [plan = null] = await store.getPlanHeads(tenant, [request.planId]);
    return { request, plan };
  }

  return {
    listen() {
      open();
      closeLater();
      return isOpen;
    },
    async untilAtRest(tenant, requestId, { waitMs, signal, acceptedPlanId }) {
      const wait = begin();
      const stop = (): void => stopWait(wait);
      const timer = setTimeout(stop, waitMs);
      signal?.addEventListener("abort", stop, { once: true });
      try {
        const ids = acceptedPlanId === undefined ? [requestId] : [requestId, acceptedPlanId];
        wakeOn(wait, ids);
        // The change stream was closed again when the acceptance took longer than it lingers.
        wait.isDirty = acceptedPlanId === undefined || !isOpen || ids.some((id) => changed.has(id));
        if (signal?.aborted) stop();
        // MongoDB may be unavailable for longer than the wait.
        await (wait.isDirty ? Promise.race([open().ready, ended(wait)]) : changedOrEnded(wait));
        for (;;) {
          wait.isDirty = false;
          const isLast = wait.hasEnded;
          const state = await read(tenant, requestId, wait);
          if (!state || isAtRest(state) || isLast) return state;
          await changedOrEnded(wait);
        }
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
        end(wait);
      }
    },
    async close() {
      for (const wait of waits) stopWait(wait);
      await closeWatch();
    },
  };
}

function stopWait(wait: Wait): void {
  wait.hasEnded = true;
  wait.wake();
}

/** Resolves when the wait has ended. */
function ended(wait: Wait): Promise<void> {
  return new Promise((resolve) => {
    wait.wake = () => {
      if (wait.hasEnded) resolve();
    };
    wait.wake();
  });
}

/** Resolves when there is something to read, or the wait has ended. */
function changedOrEnded(wait: Wait): Promise<void> {
  return new Promise((resolve) => {
    wait.wake = resolve;
    if (wait.isDirty || wait.hasEnded) resolve();
  });
}
