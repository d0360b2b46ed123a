import type { RequestStatus } from "@planwright/plan";
import type { ChangedRequest, RequestDocument } from "@planwright/store";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RequestChange } from "./change-box.ts";
import { createListFeeds, type ListFeeds } from "./list-feeds.ts";

const A = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
const DONE = { status: ["COMPLETED" as const] };

let feeds: ListFeeds;
/** What is stored, and how often it was asked for. */
let stored: Map<string, ChangedRequest>;
let reads: string[][];
let isAway: boolean;
let warned: string[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  stored = new Map();
  reads = [];
  warned = [];
  isAway = false;
  feeds = createListFeeds({
    store: {
      async readChanged(ids) {
        reads.push([...ids]);
        if (isAway) throw new TypeError("planned");
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
/** A write of a request, of which the watch tells. */
function write(id: string, status: RequestStatus, tenant = "t1"): void {
  writes += 1;
  const request = { _id: id, tenant, status, query: null, error: null, writeId: `w${writes}` };
  // Of a request nothing else is looked at.
  stored.set(id, { request: request as RequestDocument, plan: null, versions: [] });
  feeds.changed(id);
}

/** What is told, gathered as it comes. */
function follow(filter: object, tenant = "t1"): string[] {
  const told: string[] = [];
  const source = feeds.follow(tenant, filter, () => told.push("gone"));
  void (async () => {
    for await (const change of source) told.push(textOf(change));
  })();
  return told;
}

const textOf = (change: RequestChange): string =>
  change.kind === "CHANGED" ? `CHANGED ${change.changed.request.status}` : change.kind;

/** Until what changed was read and told, and the rest behind it has ended. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  await vi.advanceTimersByTimeAsync(10_000);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("changes that come together are read once, however many lists there are", async () => {
  const lists = [follow({}), follow(DONE), follow({ text: "x" }), follow({})];
  for (let change = 0; change < 50; change++) write(A, "EXECUTING");
  await settle();
  expect(reads.length).toBeLessThanOrEqual(2);
  expect(lists[0]).toEqual(lists[3]);
  expect(lists[0]?.at(-1)).toBe("CHANGED EXECUTING");
  // Its sentence never contained the text.
  expect(lists[2]).toEqual(["READ_LIST"]);
});

test("a request that fits a list no more is told once for each write of it, and again after it fitted", async () => {
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

test("a reader that comes later is told anew what others were told before", async () => {
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

test("after a gap everybody reads the lists again, and is told anew what leaves them", async () => {
  const list = follow(DONE);
  write(A, "EXECUTING");
  await settle();
  feeds.missed();
  feeds.changed(A);
  await settle();
  expect(list).toEqual(["READ_LIST", "LEFT", "READ_LIST", "LEFT"]);
});

test("where changes cannot be read, everybody is told to read the lists again", async () => {
  const list = follow({});
  isAway = true;
  write(A, "EXECUTING");
  await settle();
  isAway = false;
  expect(list).toEqual(["READ_LIST", "READ_LIST"]);
  expect(warned).toHaveLength(1);
});

test("more changes than can wait are told by reading the lists again", async () => {
  const list = follow({});
  for (let index = 0; index <= 10_001; index++) feeds.changed(`req_1700000000_${index}`);
  await settle();
  expect(list.slice(0, 2)).toEqual(["READ_LIST", "READ_LIST"]);
});

test("a list holds its own tenant's requests alone", async () => {
  const [own, other] = [follow({}), follow({}, "t2")];
  write(A, "EXECUTING");
  await settle();
  expect([own, other]).toEqual([["READ_LIST", "CHANGED EXECUTING"], ["READ_LIST"]]);
});

test("without readers nothing is read", async () => {
  const source = feeds.follow("t1", {}, () => undefined);
  await source.return?.();
  write(A, "EXECUTING");
  await settle();
  expect(reads).toEqual([]);
});
