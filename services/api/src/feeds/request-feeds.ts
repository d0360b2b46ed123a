import type { RequestId } from "@planwright/plan";
import type { ChangeWatch, ClientStore, LiveStore, RequestFilter } from "@planwright/store";
import { OverloadedError } from "../errors/api-errors.ts";
import type { ApiLogger } from "../telemetry/api-logger.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import type { RequestChange } from "./change-box.ts";
import { createListFeeds } from "./list-feeds.ts";
import { createRequestFeed, type RequestFeed, type RequestSnapshot } from "./request-feed.ts";
import { createRestWaits, type RestWaits } from "./rest-waits.ts";

/** What following requests needs. */
export interface RequestFeedsDependencies {
  store: Pick<ClientStore, "getRequest" | "getPlanHeads" | "listStepHeads"> & LiveStore;
  logger: ApiLogger;
  /** Requests followed, and waited for, at once, at most, counted by reader. */
  maxReaders: number;
  /** Told of refusals. Default: none. */
  metrics?: Pick<ApiMetrics, "refused"> | undefined;
}

/** All requests that clients of this process follow, over one watch on the database. */
export interface RequestFeeds {
  /**
   * The current state first, then each newer one, and the end with the last. A slow reader skips states, never the last.
   * @throws {OverloadedError}
   */
  follow(tenant: string, requestId: RequestId): Promise<AsyncIterableIterator<RequestSnapshot>>;
  /**
   * The word to read the list of requests that fit, then what changes of it. A slow reader hears of each request the newest alone, or is told to read
   * the list again. It ends when everything does. @throws {OverloadedError}
   */
  followList(tenant: string, filter: RequestFilter): Promise<AsyncIterableIterator<RequestChange>>;
  listen: RestWaits["listen"];
  /**
   * The request once nothing more happens to it by itself, or as it stands when the wait is over.
   * @throws {OverloadedError}
   */
  untilAtRest: RestWaits["untilAtRest"];
  /** Readers now, and clients that wait for an end. */
  size(): number;
  /** Ends all reading and waiting. */
  close(): Promise<void>;
}

/** When a client that found all places taken may try again, in milliseconds. */
const RETRY_AFTER_MS = 5_000;

/** Without readers nothing is watched. */
export function createRequestFeeds({
  store,
  logger,
  maxReaders,
  metrics,
}: RequestFeedsDependencies): RequestFeeds {
  const feeds = new Map<string, RequestFeed>();
  const lists = createListFeeds({ store, logger });
  const rests = createRestWaits({ store, logger });
  let watch: ChangeWatch | undefined;
  let readers = 0;
  let waiting = 0;

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
      onError: (error) => logger.warn({ err: error }, "the change stream broke off; it is opened again"),
    });
    return watch;
  }

  async function closeWatch(): Promise<void> {
    const closing = watch;
    watch = undefined;
    await closing?.close();
  }

  /** @throws {OverloadedError} */
  function requireRoom(): void {
    if (readers + waiting < maxReaders) return;
    metrics?.refused("subscriptions");
    throw new OverloadedError(`${maxReaders} subscriptions are open, which is the limit`, RETRY_AFTER_MS);
  }

  /** Takes a place among the readers, and gives it back once its result is called. @throws {OverloadedError} */
  async function enter(): Promise<() => void> {
    requireRoom();
    readers += 1;
    await open().ready;
    return () => {
      readers -= 1;
      if (readers > 0) return;
      closeWatch().catch((error: unknown) => logger.warn({ err: error }, "could not close a change stream"));
    };
  }

  return {
    listen: () => rests.listen(),
    async untilAtRest(...wanted) {
      requireRoom();
      waiting += 1;
      try {
        return await rests.untilAtRest(...wanted);
      } finally {
        waiting -= 1;
      }
    },
    async follow(tenant, requestId) {
      const leave = await enter();
      const key = `${tenant}/${requestId}`;
      const feed =
        feeds.get(key) ??
        createRequestFeed({ store, tenant, requestId, onIdle: () => void feeds.delete(key) });
      feeds.set(key, feed);
      return feed.follow(leave);
    },
    followList: async (tenant, filter) => lists.follow(tenant, filter, await enter()),
    size: () => readers + waiting,
    async close() {
      for (const feed of feeds.values()) feed.end();
      lists.end();
      await Promise.all([rests.close(), closeWatch()]);
    },
  };
}
