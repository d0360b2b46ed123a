/** Pages of the events of requests. */
import type { JournalEvent } from "@planwright/engine";
import type { PlanId, RequestId } from "@planwright/plan";
import { CursorInvalidError, createStore, eventCursor, planCursor, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { type Db, MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openCollections } from "../src/database/collections.ts";
import { createMongoEntryLog } from "../src/journal/entry-log.ts";
import { createJournal } from "../src/journal/journal.ts";

const TENANT = "t1";
const PLAN: PlanId = "plan_1700000000_aaaaaaaaaaaaaaaaaaaa";
const REQUESTS: RequestId[] = ["req_1700000000_aaaaaaaaaaaaaaaaaaaa", "req_1700000000_bbbbbbbbbbbbbbbbbbbb"];
/** Number of events of each entry of a journal. */
const SIZES = [1, 5, 1, 1, 3];

let store: Store;
let client: MongoClient;
let db: Db;

beforeAll(async () => {
  const url = testServers().mongodbUrl;
  store = await createStore({ url });
  client = await MongoClient.connect(url);
  db = client.db();
  const log = createMongoEntryLog(openCollections(client, db));
  const journal = createJournal({ log, owner: "w1", now: () => 1_700_000_000_000 });
  for (const requestId of REQUESTS) {
    for (const [index, size] of SIZES.entries()) {
      const events: JournalEvent[] = Array.from({ length: size }, () => ({ type: "execution.asked" }));
      const by = { kind: "api" as const, id: "ci" };
      await journal.append({ requestId, tenant: TENANT, planId: PLAN, seq: index + 1, by, events });
    }
  }
});
afterAll(async () => {
  await client.close();
  await store.close();
});

/** Positions of the events of a page: seq and position in the entry. */
async function positionsOf(page: { first: number; after?: string | undefined }, tenant = TENANT) {
  const found = (await store.listEventPages(tenant, REQUESTS, page)).get(REQUESTS[0]!)!;
  return { positions: found.items.map(({ seq, position }) => `${seq}.${position}`), cursor: found.cursor };
}

test.each([1, 2, 3, 100])("pages of %i have each event once, in the order of the journal", async (first) => {
  const all: string[] = [];
  let after: string | undefined;
  do {
    const { positions, cursor } = await positionsOf({ first, after });
    all.push(...positions);
    after = cursor ?? undefined;
  } while (after !== undefined);
  expect(all).toEqual(
    SIZES.flatMap((size, index) => Array.from({ length: size }, (_, at) => `${index + 1}.${at}`)),
  );
});

test("a page continues after a cursor within an entry, at its end, and after the last event", async () => {
  const after = (seq: number, position: number) => ({ first: 2, after: eventCursor({ seq, position }) });
  expect((await positionsOf(after(2, 1))).positions).toEqual(["2.2", "2.3"]);
  expect((await positionsOf(after(2, 4))).positions).toEqual(["3.0", "4.0"]);
  expect(await positionsOf(after(5, 2))).toEqual({ positions: [], cursor: null });
});

test.each([1, 2, 3, 100])(
  "pages of the latest %i have each event once, against the order of the journal",
  async (first) => {
    const all: string[] = [];
    let after: string | undefined;
    do {
      const page = (await store.listLatestEventPages(TENANT, REQUESTS, { first, after })).get(REQUESTS[1]!)!;
      all.push(...page.items.map(({ seq, position }) => `${seq}.${position}`));
      after = page.cursor ?? undefined;
    } while (after !== undefined);
    const inOrder = SIZES.flatMap((size, index) =>
      Array.from({ length: size }, (_, at) => `${index + 1}.${at}`),
    );
    expect(all).toEqual(inOrder.toReversed());
  },
);

test("another tenant has empty pages", async () => {
  expect(await positionsOf({ first: 10 }, "t2")).toEqual({ positions: [], cursor: null });
});

test("an invalid cursor, or one of another list, is refused", async () => {
  for (const after of ["nonsense", "", planCursor({ version: 3 })]) {
    await expect(positionsOf({ first: 1, after })).rejects.toBeInstanceOf(CursorInvalidError);
  }
});

test("pages of two requests are one read by index, for journals of any length", async () => {
  const first = 2;
  await db.command({ profile: 2 });
  await store.listEventPages(TENANT, REQUESTS, { first });
  await db.command({ profile: 0 });
  const profile = db.collection("system.profile");
  const reads = await profile.find({ "command.profile": { $exists: false } }).toArray();
  await profile.drop();
  expect(reads).toHaveLength(1);
  const [{ planSummary, docsExamined, hasSortStage } = expect.fail("no read")] = reads;
  expect(planSummary).toMatch(/^IXSCAN \{ _id: 1/);
  expect(hasSortStage ?? false).toBe(false);
  expect(docsExamined).toBeLessThanOrEqual(REQUESTS.length * (first + 2));
});

test("the last entries of many journals are one read, which examines one entry of each", async () => {
  const asked: RequestId[] = [...REQUESTS, "req_1700000000_cccccccccccccccccccc"];
  await db.command({ profile: 2 });
  const seqs = await store.readLastSeqs(TENANT, asked);
  await db.command({ profile: 0 });
  const profile = db.collection("system.profile");
  const reads = await profile.find({ "command.profile": { $exists: false } }).toArray();
  await profile.drop();
  expect(seqs).toEqual([SIZES.length, SIZES.length, 0]);
  expect(reads).toMatchObject([{ docsExamined: REQUESTS.length }]);
  expect(await store.readLastSeqs("t2", asked)).toEqual([0, 0, 0]);
});
