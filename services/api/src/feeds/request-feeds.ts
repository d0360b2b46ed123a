import type { RequestId } from "@planwright/plan";
import type { ChangeWatch, ClientStore, LiveStore, RequestFilter } from "@planwright/store";
import { OverloadedError } from "../errors/service-errors.ts";
import type { ApiLogger } from "../telemetry/api-logger.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import type { RequestChange } from "./change-box.ts";
import { createListFeeds } from "./list-feeds.ts";
import { createRequestFeed, type RequestFeed, type RequestSnapshot } from "./request-feed.ts";
import { createRestWaits, type RestWaits } from "./rest-waits.ts";

/** Dependencies of {@link createRequestFeeds}. */
export interface RequestFeedsDependencies {
  store: Pick<ClientStore, "getRequest" | "getPlanHeads" | "listStepHeads"> & LiveStore;
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

  /** Takes a reader's slot. @returns a function that releases it @throws {OverloadedError} */
  async function enter(tenant: string): Promise<() => void> {
    const leavePlace = await takePlace(tenant);
    readers += 1;
    await open().ready;
    return () => {
      leavePlace();
      readers -= 1;
      if (readers > 0) return;
      closeWatch().catch((error: unknown) => logger.warn({ err: error }, "could not close a change stream"));
    };
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
    async follow(tenant, requestId) {
      const leave = await enter(tenant);
      const key = `${tenant}/${requestId}`;
      const feed =
        feeds.get(key) ??
        createRequestFeed({ store, tenant, requestId, onIdle: () => void feeds.delete(key) });
      feeds.set(key, feed);
      return feed.follow(leave);
    },
    followList: async (tenant, filter) => lists.follow(tenant, filter, await enter(tenant)),
    size: () => readers + waiting,
    async close() {
      for (const feed of feeds.values()) feed.end();
      lists.end();
      await Promise.all([rests.close(), closeWatch()]);
    },
  };
}
