/**
 * Changes of requests for those who look at lists. What changed is read once for all readers of the process, whatever their filters are, and
 * each distinct filter is compared with it once.
 *
 * 1. A reader hears of each request that is in its list since it was told to read the list, and of each that was in it and is not any more.
 * 2. Where changes may have been missed it is told to read the list again: nothing is lost without a word.
 * 3. A request of which only other things change is told as LEFT once for each write of its documents, not for each step that it makes.
 */
import { setImmediate } from "node:timers/promises";
import {
  asksForVersions,
  type ChangedRequest,
  fitOf,
  type LiveStore,
  type RequestFilter,
} from "@planwright/store";
import { LRUCache } from "lru-cache";
import type { ApiLogger } from "../telemetry/api-logger.ts";
import { type ChangeBox, createChangeBox, type RequestChange } from "./change-box.ts";

/** What feeds of lists need. */
export interface ListFeedsDependencies {
  store: Pick<LiveStore, "readChanged">;
  logger: ApiLogger;
}

/** All lists that clients of this process follow. */
export interface ListFeeds {
  /**
   * The word to read the list first, then what changes.
   * @param onLeave - called once: the reader wants no more, or everything has ended
   */
  follow(tenant: string, filter: RequestFilter, onLeave: () => void): AsyncIterableIterator<RequestChange>;
  /** A request, or a plan, with this id changed. */
  changed(id: string): void;
  /** Changes may have been missed. */
  missed(): void;
  /** Ends everybody's reading. */
  end(): void;
}

/** Changes are read at most this often, in milliseconds: a list is for people to look at. */
const READ_EVERY_MS = 250;
/** Times the last reading that is waited between two. */
const REST_FACTOR = 2;
/** Ids that one reading takes, at most. */
const MAX_IDS = 200;
/** Ids that wait to be read, at most: beyond that everybody reads the lists again. */
const MAX_WAITING = 10_000;
/** Requests of which it is remembered, by filter, that they were told as LEFT. Forgetting one repeats the word. */
const MAX_REMEMBERED = 100_000;

interface Reader {
  box: ChangeBox;
  /** What was told before is nothing to this reader. */
  since: number;
}

/** Those who look at the same list. */
interface ListFeed {
  key: string;
  tenant: string;
  filter: RequestFilter;
  readers: Set<Reader>;
}

/** Without readers nothing is read. */
export function createListFeeds({ store, logger }: ListFeedsDependencies): ListFeeds {
  const feeds = new Map<string, ListFeed>();
  const waiting = new Set<string>();
  const left = new LRUCache<string, { mark: string; at: number }>({ max: MAX_REMEMBERED });
  let isReading = false;
  /** Counts what is told, to compare with {@link Reader.since}. */
  let told = 0;

  function refresh(): void {
    if (isReading || waiting.size === 0 || feeds.size === 0) return;
    isReading = true;
    const startedAt = performance.now();
    void readSome().finally(() => {
      const restMs = Math.max(READ_EVERY_MS, (performance.now() - startedAt) * REST_FACTOR);
      setTimeout(() => {
        isReading = false;
        refresh();
      }, restMs).unref();
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
        tell(changed);
        // There may be thousands of filters: others have their turn in between.
        await setImmediate();
      }
    } catch (error) {
      logger.warn(
        { err: error },
        "could not read changes; clients that follow lists are told to read them again",
      );
      missed();
    }
  }

  function tell(changed: ChangedRequest): void {
    const { request, versions } = changed;
    const { _id: requestId, tenant } = request;
    // One object for all, so that those who select the same share what is made of it.
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
        told += 1;
        left.set(name, { mark, at: told });
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
          reader.since = told;
        },
        () => {
          feed.readers.delete(reader);
          if (feed.readers.size === 0) feeds.delete(key);
          if (feeds.size === 0) waiting.clear();
          onLeave();
        },
      );
      const reader: Reader = { box, since: told };
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

/** Differs between two states of which one is newer, unless only the journal grew: every write leaves its own mark in its document. */
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
