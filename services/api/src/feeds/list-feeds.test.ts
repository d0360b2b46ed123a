import type { RequestStatus } from "@planwright/plan";
import type { ChangedRequest, ClientStore, LiveStore, RequestDocument } from "@planwright/store";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RequestChange } from "./request-feed.ts";
import { createListFeeds, createRequestFeeds, type ListFeeds } from "./request-feeds.ts";

const A = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
const DONE = { status: ["COMPLETED" as const] };

let feeds: ListFeeds;
/** The stored requests, and the ids of each read. */
let stored: Map<string, ChangedRequest>;
let reads: string[][];
let isUnavailable: boolean;
let warned: string[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  stored = new Map();
  reads = [];
  warned = [];
  isUnavailable = false;
  feeds = createListFeeds({
    store: {
      async readChanged(ids) {
        reads.push([...ids]);
        if (isUnavailable) throw new TypeError("planned");
        return ids.flatMap((id) => stored.get(id) ?? []);
      },
    },
    logger: {
      info: () => undefined,
      warn: (_, message) => void warned.push(message),
      error: () => undefined,
    },
  });
});
afterEach(() => {
  feeds.end();
  vi.useRealTimers();
});

let writes = 0;
/** Writes a request, and reports the change. */
function write(id: string, status: RequestStatus, tenant = "t1"): void {
  writes += 1;
  const request = { _id: id, tenant, status, query: null, error: null, writeId: `w${writes}` };
  // No other field of the request is read.
  stored.set(id, { request: request as RequestDocument, plan: null, versions: [] });
  feeds.changed(id);
}

/** The events of a reader, collected as they arrive. */
function follow(filter: object, tenant = "t1"): string[] {
  const events: string[] = [];
  const source = feeds.follow(tenant, filter, () => events.push("left"));
  void (async () => {
    for await (const change of source) events.push(textOf(change));
  })();
  return events;
}

const textOf = (change: RequestChange): string =>
  change.kind === "CHANGED" ? `CHANGED ${change.changed.request.status}` : change.kind;

/** Waits until changes were read and delivered, and the pause after them has ended. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  await vi.advanceTimersByTimeAsync(10_000);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("changes that come together are read once for any number of lists", async () => {
  const lists = [follow({}), follow(DONE), follow({ text: "x" }), follow({})];
  for (let change = 0; change < 50; change++) write(A, "EXECUTING");
  await settle();
  expect(reads.length).toBeLessThanOrEqual(2);
  expect(lists[0]).toEqual(lists[3]);
  expect(lists[0]?.at(-1)).toBe("CHANGED EXECUTING");
  // The query of the request does not contain the text.
  expect(lists[2]).toEqual(["READ_LIST"]);
});

test("a request outside a list is reported LEFT once for each write, and again after it was in the list", async () => {
  const list = follow(DONE);
  write(A, "EXECUTING");
  await settle();
  feeds.changed(A);
  await settle();
  write(A, "COMPLETED");
  await settle();
  write(A, "PLANNING");
  await settle();
  expect(list).toEqual(["READ_LIST", "LEFT", "CHANGED COMPLETED", "LEFT"]);
});

test("a later reader gets events that earlier readers have already got", async () => {
  const first = follow(DONE);
  write(A, "EXECUTING");
  await settle();
  const second = follow(DONE);
  feeds.changed(A);
  await settle();
  expect([first, second]).toEqual([
    ["READ_LIST", "LEFT"],
    ["READ_LIST", "LEFT"],
  ]);
});

test("after a gap all readers get READ_LIST, and LEFT events again", async () => {
  const list = follow(DONE);
  write(A, "EXECUTING");
  await settle();
  feeds.missed();
  feeds.changed(A);
  await settle();
  expect(list).toEqual(["READ_LIST", "LEFT", "READ_LIST", "LEFT"]);
});

test("when changes cannot be read, all readers get READ_LIST", async () => {
  const list = follow({});
  isUnavailable = true;
  write(A, "EXECUTING");
  await settle();
  isUnavailable = false;
  expect(list).toEqual(["READ_LIST", "READ_LIST"]);
  expect(warned).toHaveLength(1);
});

test("too many waiting changes are replaced by READ_LIST", async () => {
  const list = follow({});
  for (let index = 0; index <= 10_001; index++) feeds.changed(`req_1700000000_${index}`);
  await settle();
  expect(list.slice(0, 2)).toEqual(["READ_LIST", "READ_LIST"]);
});

test("a list has only requests of its tenant", async () => {
  const [same, other] = [follow({}), follow({}, "t2")];
  write(A, "EXECUTING");
  await settle();
  expect([same, other]).toEqual([["READ_LIST", "CHANGED EXECUTING"], ["READ_LIST"]]);
});

test("without readers nothing is read", async () => {
  const source = feeds.follow("t1", {}, () => undefined);
  await source.return?.();
  write(A, "EXECUTING");
  await settle();
  expect(reads).toEqual([]);
});

test.each(["leaves", "is ended by the service"])(
  "a reader that %s before the change stream is open holds no slot",
  async (how) => {
    const store = { watchChanges: () => ({ ready: new Promise<void>(() => {}), close: async () => {} }) };
    const all = createRequestFeeds({
      // No reader begins, so that nothing else is read.
      store: store as unknown as ClientStore & LiveStore,
      logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
      maxReaders: 1,
      maxReadersOf: async () => 1,
    });
    const reader = await all.followList("t1", DONE);
    const first = reader.next();
    await (how === "leaves" ? reader.return?.() : all.close());
    expect(await first).toEqual({ done: true, value: undefined });
    expect(all.size()).toBe(0);
    const next = await all.followList("t1", DONE);
    await next.return?.();
    await all.close();
  },
);
