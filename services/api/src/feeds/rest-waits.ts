/**
 * Waiting for the ends of requests. Who waits for an end reads nothing of what happens before it: a watch of its own tells of the few changes
 * after which a request may be at rest.
 */
import type { PlanId, RequestId } from "@planwright/plan";
import type { ChangeWatch, ClientStore, LiveStore, PlanHead, RequestDocument } from "@planwright/store";
import { LRUCache } from "lru-cache";
import type { ApiLogger } from "../telemetry/api-logger.ts";
import { isAtRest } from "./is-at-rest.ts";

/** A request with its current plan. */
export interface RequestState {
  request: RequestDocument;
  plan: PlanHead | null;
}

/** What waiting needs. */
export interface RestWaitsDependencies {
  store: Pick<ClientStore, "getRequest" | "getPlanHeads"> & Pick<LiveStore, "watchRests">;
  logger: ApiLogger;
}

/** How long is waited. */
export interface WaitOptions {
  /** Longest wait, in milliseconds. */
  waitMs: number;
  /** Ends the wait early: the client is gone, or the service stops. */
  signal?: AbortSignal | undefined;
  /** The plan of a request that was accepted since {@link RestWaits.listen} said yes: unless a change was told, it need not be read first. */
  acceptedPlanId?: PlanId | undefined;
}

/** All waits of a process, over one watch on the database. */
export interface RestWaits {
  /** Has the watch opened; true when it is open: of all that changes from now on is told. */
  listen(): boolean;
  /** The request once nothing more happens to it by itself, or as it stands when the wait is over; undefined for an unknown one. */
  untilAtRest(tenant: string, requestId: RequestId, options: WaitOptions): Promise<RequestState | undefined>;
  /** Ends all waits, with what is known. */
  close(): Promise<void>;
}

/** One client that waits. */
interface Wait {
  /** Of the request and of its plan. */
  ids: ReadonlySet<string>;
  /** Something changed since it was read. */
  isDirty: boolean;
  isOver: boolean;
  wake: () => void;
}

/** Ids of which something was told lately are remembered, so many at most: a wait may begin a moment after its request was accepted. */
const REMEMBERED = 10_000;
/** How long the watch stays open without a wait, in milliseconds: the next client that waits needs not open it again. */
const LINGER_MS = 30_000;

/** Without waits nothing is watched. */
export function createRestWaits({ store, logger }: RestWaitsDependencies): RestWaits {
  const byId = new Map<string, Set<Wait>>();
  const waits = new Set<Wait>();
  const told = new LRUCache<string, true>({ max: REMEMBERED });
  let watch: ChangeWatch | undefined;
  let isOpen = false;
  let linger: NodeJS.Timeout | undefined;

  function note(wait: Wait): void {
    wait.isDirty = true;
    wait.wake();
  }

  function open(): ChangeWatch {
    clearTimeout(linger);
    if (watch) return watch;
    const opened = store.watchRests({
      onChange(id) {
        told.set(id, true);
        for (const wait of byId.get(id) ?? []) note(wait);
      },
      onGap() {
        for (const wait of waits) note(wait);
      },
      onError: (error) =>
        logger.warn({ err: error }, "the change stream of ended requests broke off; it is opened again"),
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
    const wait: Wait = { ids: new Set(), isDirty: false, isOver: false, wake: () => undefined };
    waits.add(wait);
    return wait;
  }

  /** Has the wait hear of these ids, and of no others. */
  function listen(wait: Wait, ids: readonly string[]): void {
    for (const id of wait.ids) {
      const others = byId.get(id);
      others?.delete(wait);
      if (others?.size === 0) byId.delete(id);
    }
    wait.ids = new Set(ids);
    for (const id of ids) byId.set(id, (byId.get(id) ?? new Set()).add(wait));
  }

  function end(wait: Wait): void {
    listen(wait, []);
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

  /** Of a plan that follows while it is read its changes are heard from the next reading on, which its request's change brings about. */
  async function read(tenant: string, requestId: RequestId, wait: Wait): Promise<RequestState | undefined> {
    const request = await store.getRequest(tenant, requestId);
    if (!request) return undefined;
    listen(wait, [requestId, request.planId]);
    // After the request: one that is over has a plan that is over.
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
        listen(wait, ids);
        wait.isDirty = acceptedPlanId === undefined || ids.some((id) => told.has(id));
        if (signal?.aborted) stop();
        // MongoDB may be away for longer than is waited.
        await (wait.isDirty ? Promise.race([open().ready, over(wait)]) : asleep(wait));
        for (;;) {
          wait.isDirty = false;
          const isLast = wait.isOver;
          const state = await read(tenant, requestId, wait);
          if (!state || isAtRest(state) || isLast) return state;
          await asleep(wait);
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
  wait.isOver = true;
  wait.wake();
}

/** Resolves when the wait is over. */
function over(wait: Wait): Promise<void> {
  return new Promise((resolve) => {
    wait.wake = () => {
      if (wait.isOver) resolve();
    };
    wait.wake();
  });
}

/** Resolves when there is something to be read, or the wait is over. */
function asleep(wait: Wait): Promise<void> {
  return new Promise((resolve) => {
    wait.wake = resolve;
    if (wait.isDirty || wait.isOver) resolve();
  });
}
