import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import type { RequestId } from "@planwright/plan";
import {
  asksForVersions,
  type ChangedRequest,
  type ChangeWatch,
  type ClientStore,
  fitOf,
  type LiveStore,
  type RequestFilter,
} from "@planwright/store";
import { LRUCache } from "lru-cache";
import { OverloadedError } from "../errors/api-error.ts";
import type { ApiLogger, ApiMetrics } from "../errors/telemetry.ts";
import {
  type ChangeBox,
  createChangeBox,
  createRequestFeed,
  type RequestChange,
  type RequestFeed,
  type RequestSnapshot,
} from "./request-feed.ts";
import { createRestWaits, type RestWaits } from "./rest-waits.ts";

/** Dependencies of {@link createRequestFeeds}. */
interface RequestFeedsDependencies {
  store: Pick<ClientStore, "getRequest" | "getPlanHeads" | "getRequestWithPlan" | "listStepHeads"> &
    LiveStore;
  logger: ApiLogger;
  /** Most readers and waiting clients at the same time, of all tenants. */
  maxReaders: number;
  /** Most of them of one tenant. */
  maxReadersOf: (tenant: string) => Promise<number>;
  /** Counts refusals. Default: nothing is counted. */
  metrics?: Pick<ApiMetrics, "refused"> | undefined;
}

/** All requests that clients of this process follow, over one change stream of MongoDB. */
export interface RequestFeeds {
  /**
   * The current state first, then each newer one; ends after the last. A slow reader skips states, except the
   * last.
   * @throws {OverloadedError}
   */
  follow(tenant: string, requestId: RequestId): Promise<AsyncIterableIterator<RequestSnapshot>>;
  /**
   * READ_LIST for the list of matching requests, then its changes. A slow reader gets only the newest change
   * of each request, or READ_LIST again. Ends when the service stops. @throws {OverloadedError}
   */
  followList(tenant: string, filter: RequestFilter): Promise<AsyncIterableIterator<RequestChange>>;
  listen: RestWaits["listen"];
  /**
   * The request when it has ended or waits for a person, or its state after the wait.
   * @throws {OverloadedError}
   */
  untilAtRest: RestWaits["untilAtRest"];
  /** Number of readers and waiting clients. */
  size(): number;
  /** Ends all reading and waiting. */
  close(): Promise<void>;
}

/** When a client may try again after all slots were taken, in milliseconds. */
const RETRY_AFTER_MS = 5_000;

/** Opens the change stream only while there are readers. */
export function createRequestFeeds({
  store,
  logger,
  maxReaders,
  maxReadersOf,
  metrics,
}: RequestFeedsDependencies): RequestFeeds {
  const feeds = new Map<string, RequestFeed>();
  const lists = createListFeeds({ store, logger });
  const rests = createRestWaits({ store, logger });
  let watch: ChangeWatch | undefined;
  /** Ends readers that wait for the change stream to open. */
  const early = new Set<() => Promise<unknown>>();
  let readers = 0;
  let waiting = 0;
  /** Places of readers and waiting clients, in all and by tenant. */
  let places = 0;
  const byTenant = new Map<string, number>();

  function open(): ChangeWatch {
    watch ??= store.watchChanges({
      onChange(id) {
        for (const feed of feeds.values()) if (feed.concerns(id)) feed.refresh();
        lists.changed(id);
      },
      onGap() {
        for (const feed of feeds.values()) feed.refresh();
        lists.missed();
      },
      onError: (error) =>
        logger.warn({ err: error }, "the change stream was interrupted; it is opened again"),
    });
    return watch;
  }

  async function closeWatch(): Promise<void> {
    const closing = watch;
    watch = undefined;
    await closing?.close();
  }

  /** Takes one of the tenant's places. @returns a function that releases it @throws {OverloadedError} */
  async function takePlace(tenant: string): Promise<() => void> {
    const max = await maxReadersOf(tenant);
    const taken = byTenant.get(tenant) ?? 0;
    const reason =
      places >= maxReaders
        ? `${maxReaders} subscriptions of all tenants are open here, which is MAX_TOTAL_SUBSCRIPTIONS`
        : `${taken} subscriptions of the tenant ${tenant} are open here, and its limit max-subscriptions is ${max}: close some, or ask the operator of the service for a higher limit (keys tenant set)`;
    if (places >= maxReaders || taken >= max) {
      metrics?.refused("subscriptions");
      throw new OverloadedError(reason, RETRY_AFTER_MS);
    }
    places += 1;
    byTenant.set(tenant, taken + 1);
    return () => {
      places -= 1;
      const rest = (byTenant.get(tenant) ?? 1) - 1;
      if (rest > 0) byTenant.set(tenant, rest);
      else byTenant.delete(tenant);
    };
  }

  /**
   * A reader with a slot. It begins when the change stream is open, so that it misses no change; when it leaves
   * before that, its slot is free at once.
   * @param begin - calls its argument once, when the reader has read everything or has left
   * @throws {OverloadedError}
   */
  async function enter<T>(
    tenant: string,
    begin: (leave: () => void) => AsyncIterableIterator<T>,
  ): Promise<AsyncIterableIterator<T>> {
    const leavePlace = await takePlace(tenant);
    readers += 1;
    const leave = (): void => {
      leavePlace();
      readers -= 1;
      if (readers > 0) return;
      closeWatch().catch((error: unknown) => logger.warn({ err: error }, "could not close a change stream"));
    };
    const { ready } = open();
    const leaving = new AbortController();
    const left = once(leaving.signal, "abort");
    let source: AsyncIterableIterator<T> | undefined;
    const reader: AsyncIterableIterator<T> = {
      async next() {
        if (!source) await Promise.race([ready, left]);
        if (leaving.signal.aborted) return { done: true, value: undefined };
        early.delete(end);
        source ??= begin(leave);
        return source.next();
      },
      async return() {
        if (source) await source.return?.();
        else if (!leaving.signal.aborted) leave();
        early.delete(end);
        leaving.abort();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => reader,
    };
    const end = () => reader.return?.() ?? Promise.resolve();
    early.add(end);
    return reader;
  }

  return {
    listen: () => rests.listen(),
    async untilAtRest(...wanted) {
      const leavePlace = await takePlace(wanted[0]);
      waiting += 1;
      try {
        return await rests.untilAtRest(...wanted);
      } finally {
        leavePlace();
        waiting -= 1;
      }
    },
    follow: (tenant, requestId) =>
      enter(tenant, (leave) => {
        const key = `${tenant}/${requestId}`;
        const feed =
          feeds.get(key) ??
          createRequestFeed({ store, tenant, requestId, onIdle: () => void feeds.delete(key) });
        feeds.set(key, feed);
        return feed.follow(leave);
      }),
    followList: (tenant, filter) => enter(tenant, (leave) => lists.follow(tenant, filter, leave)),
    size: () => readers + waiting,
    async close() {
      for (const feed of feeds.values()) feed.end();
      lists.end();
      for (const end of early) await end();
      await Promise.all([rests.close(), closeWatch()]);
    },
  };
}

/*
 * Changes of requests for clients that show lists. A change is read once for all readers of the process, and
 * compared once with each distinct filter.
 *
 * 1. After READ_LIST, a reader gets an event for each change of a request in its list, and for each request
 *    that leaves it.
 * 2. When changes may have been missed, the reader gets READ_LIST again: no change is lost silently.
 * 3. A request outside the list is reported as LEFT once for each write of its documents, not for each of its
 *    steps.
 */

/** Dependencies of {@link createListFeeds}. */
interface ListFeedsDependencies {
  store: Pick<LiveStore, "readChanged">;
  logger: ApiLogger;
}

/** All lists that clients of this process follow. */
export interface ListFeeds {
  /**
   * READ_LIST first, then every change.
   * @param onLeave - called once: the reader has left, or the feed has ended
   */
  follow(tenant: string, filter: RequestFilter, onLeave: () => void): AsyncIterableIterator<RequestChange>;
  /** A request, or a plan, with this id changed. */
  changed(id: string): void;
  /** Changes may have been missed. */
  missed(): void;
  /** Ends the feed for all readers. */
  end(): void;
}

/** Changes are read at most once in this time, in milliseconds: lists are for people. */
const READ_EVERY_MS = 250;
/** The pause between two reads, as a multiple of the duration of the last one. */
const PAUSE_FACTOR = 2;
/** Most ids of one read. */
const MAX_IDS = 200;
/** Most ids that wait to be read. Above it all readers read their lists again. */
const MAX_WAITING = 10_000;
/** Most requests, by filter, that are remembered as reported LEFT. A forgotten one may be reported again. */
const MAX_REMEMBERED = 100_000;

interface Reader {
  box: ChangeBox;
  /** Number of LEFT events before this reader; these do not concern it. */
  since: number;
}

/** The readers with the same tenant and filter. */
interface ListFeed {
  key: string;
  tenant: string;
  filter: RequestFilter;
  readers: Set<Reader>;
}

/** Reads nothing while there are no readers. */
export function createListFeeds({ store, logger }: ListFeedsDependencies): ListFeeds {
  const feeds = new Map<string, ListFeed>();
  const waiting = new Set<string>();
  const left = new LRUCache<string, { mark: string; at: number }>({ max: MAX_REMEMBERED });
  let isReading = false;
  /** Number of LEFT events so far, to compare with {@link Reader.since}. */
  let leftCount = 0;

  function refresh(): void {
    if (isReading || waiting.size === 0 || feeds.size === 0) return;
    isReading = true;
    const startedAt = performance.now();
    void readSome().finally(() => {
      const pauseMs = Math.max(READ_EVERY_MS, (performance.now() - startedAt) * PAUSE_FACTOR);
      setTimeout(() => {
        isReading = false;
        refresh();
      }, pauseMs).unref();
    });
  }

  async function readSome(): Promise<void> {
    const ids = [...waiting].slice(0, MAX_IDS);
    for (const id of ids) waiting.delete(id);
    const all = [...feeds.values()];
    try {
      const found = await store.readChanged(ids, {
        tenants: [...new Set(all.map(({ tenant }) => tenant))],
        versions: all.some(({ filter }) => asksForVersions(filter)),
      });
      for (const changed of found) {
        publish(changed);
        // There may be thousands of filters: other work runs in between.
        await setImmediate();
      }
    } catch (error) {
      logger.warn({ err: error }, "could not read changes; clients that follow lists must read them again");
      missed();
    }
  }

  function publish(changed: ChangedRequest): void {
    const { request, versions } = changed;
    const { _id: requestId, tenant } = request;
    // One object for all readers, so that equal selections share one result.
    const isHere = { kind: "CHANGED", requestId, changed } as const;
    const isGone = { kind: "LEFT", requestId } as const;
    let mark: string | undefined;
    for (const feed of feeds.values()) {
      if (feed.tenant !== tenant) continue;
      const fit = fitOf(feed.filter, request, versions);
      if (fit === "never") continue;
      const name = `${feed.key} ${requestId}`;
      if (fit === "fits") {
        left.delete(name);
        for (const { box } of feed.readers) box.put(isHere);
      } else {
        mark ??= markOf(changed);
        const before = left.get(name);
        for (const { box, since } of feed.readers) {
          if (before?.mark !== mark || before.at <= since) box.put(isGone);
        }
        leftCount += 1;
        left.set(name, { mark, at: leftCount });
      }
    }
  }

  function missed(): void {
    for (const { readers } of feeds.values()) for (const { box } of readers) box.readList();
  }

  return {
    follow(tenant, filter, onLeave) {
      const key = JSON.stringify([tenant, filter]);
      const feed = feeds.get(key) ?? { key, tenant, filter, readers: new Set<Reader>() };
      feeds.set(key, feed);
      const box = createChangeBox(
        () => {
          reader.since = leftCount;
        },
        () => {
          feed.readers.delete(reader);
          if (feed.readers.size === 0) feeds.delete(key);
          if (feeds.size === 0) waiting.clear();
          onLeave();
        },
      );
      const reader: Reader = { box, since: leftCount };
      feed.readers.add(reader);
      return box;
    },
    changed(id) {
      if (feeds.size === 0) return;
      waiting.add(id);
      if (waiting.size > MAX_WAITING) {
        waiting.clear();
        missed();
      }
      refresh();
    },
    missed,
    end() {
      for (const { readers } of feeds.values()) for (const { box } of readers) box.end();
    },
  };
}

/** Differs for two states of a request unless only its journal grew: every write changes its document. */
function markOf({ request, plan, versions }: ChangedRequest): string {
  const { status, error, planId, writeId, updatedAt } = request;
  const facts = versions.map(({ needs, errorCode }) => [needs, errorCode]);
  return JSON.stringify([
    status,
    error?.code,
    planId,
    writeId,
    updatedAt,
    plan?.writeId,
    plan?.updatedAt,
    facts,
  ]);
}
