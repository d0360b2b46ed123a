/**
 * The guarantees of a cold write, over MongoDB and in memory: the entry and the writes that follow, all of them or
 * nothing, once, also when answers are lost.
 */
import type { EventOf, JournalEntry } from "@planwright/engine";
import { createPlanId, createRequestId } from "@planwright/plan";
import { createMemoryDatabase, UnreachableError } from "@planwright/store/memory";
import { testServers } from "@planwright/testing";
import { BSON, type Document, MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Collections, openCollections } from "../src/database/collections.ts";
import { prepareFormat } from "../src/database/format.ts";
import type { HeadWrite } from "../src/journal/pending-write.ts";
import { type ColdWrite, createTransact, type TransactOptions } from "../src/journal/transact.ts";
import { createMemoryCollections } from "../src/memory/create-memory-store.ts";
import { type Reach, reachAtOnce } from "../src/memory/memory-database.ts";

let client: MongoClient;
beforeAll(async () => {
  client = await MongoClient.connect(testServers().mongodbUrl);
  // A collection that is made inside a transaction conflicts with the other transactions.
  await client
    .db()
    .createCollection("journal")
    .catch(() => undefined);
  await client
    .db()
    .createCollection("plans")
    .catch(() => undefined);
});
afterAll(() => client.close());

const DATABASES: { name: string; open: (reach?: Reach) => Collections }[] = [
  { name: "MongoDB", open: () => openCollections(client, client.db()) },
  {
    name: "memory",
    open: (reach = reachAtOnce) => createMemoryCollections(createMemoryDatabase(), reach),
  },
];

const random = (bytes: Uint8Array) => crypto.getRandomValues(bytes);
let owners = 0;

function transactOver(collections: Collections, more: Partial<TransactOptions> = {}) {
  owners += 1;
  return createTransact({
    collections,
    owner: `w${owners}`,
    now: () => 1_700_000_000_000,
    monotonic: () => performance.now(),
    sleep: async () => undefined,
    retryForMs: 10_000,
    retryEveryMs: 1,
    ...more,
  });
}

/** A request at version 1, and the write that moves it to version 2. */
async function moving(collections: Collections) {
  const now = new Date(1_700_000_000_000);
  const requestId = createRequestId(now.getTime(), random);
  const planId = createPlanId(now.getTime(), random);
  const stored: EventOf<"plan.stored"> = {
    type: "plan.stored",
    planId,
    version: 2,
    isValid: true,
    carried: [],
    settled: [],
    unanswered: [],
  };
  // Names with a special meaning in BSON or MongoDB.
  const plan = { _id: planId, requestId, version: 2, plan: { $date: "today", "a.b": { $set: 1 } }, at: now };
  const following: HeadWrite[] = [
    { collection: "plans", insert: plan },
    { collection: "requests", id: requestId, condition: { version: 1 }, set: { version: 2, planId } },
    {
      collection: "requests",
      id: requestId,
      condition: { version: 2, moves: { $lt: 1 } },
      expressions: { moves: { $add: ["$moves", 1] } },
    },
  ];
  const by = { kind: "api" as const, id: "Olga" };
  const entry = { requestId, tenant: "t1", planId, seq: 1, by, events: [stored] };
  const write: ColdWrite = { entry, following: () => following };
  const request = { _id: requestId, tenant: "t1", version: 1, moves: 0, createdAt: now };
  await collections.requests.insertOne(request as never);
  const read = async (): Promise<{
    entry: Document | null;
    plan: Document | null;
    request: Document | null;
  }> => ({
    entry: await collections.journal.findOne({ _id: `${requestId}/00000001` }),
    plan: await collections.plans.findOne({ _id: planId }),
    request: await collections.requests.findOne({ _id: requestId }),
  });
  return { write, following, stored, plan, requestId, planId, read };
}

const NOTHING = { entry: null, plan: null, request: { version: 1, moves: 0 } };

describe.each(DATABASES)("with $name", ({ open }) => {
  test("the entry and the writes that follow are stored", async () => {
    const collections = open();
    const of = await moving(collections);
    expect(await transactOver(collections)(of.write)).toMatchObject({
      type: "appended",
      entry: { seq: 1, writeId: expect.stringContaining(":cold:1") },
    });
    expect(await of.read()).toMatchObject({
      entry: { seq: 1 },
      plan: of.plan,
      request: { version: 2, planId: of.planId, moves: 1 },
    });
  });

  test("nothing is written when another entry has the seq", async () => {
    const collections = open();
    const { write, read } = await moving(collections);
    const by = { kind: "executor" as const, id: "e1" };
    const other: JournalEntry = { ...write.entry, by, at: new Date(), writeId: "other", events: [] };
    await collections.journal.insertOne({ _id: `${other.requestId}/00000001`, ...other });
    expect(await transactOver(collections)(write)).toEqual({ type: "taken" });
    expect(await read()).toMatchObject({ ...NOTHING, entry: { writeId: "other" } });
  });

  test.each([
    { name: "has changed", change: { version: 3 } },
    { name: "has another owner", change: { version: 1, moves: 1 } },
  ])("nothing is written when a document $name", async ({ change }) => {
    const collections = open();
    const { write, requestId, read } = await moving(collections);
    await collections.requests.updateOne({ _id: requestId }, { $set: change as never });
    expect(await transactOver(collections)(write)).toEqual({ type: "taken" });
    expect(await read()).toMatchObject({ entry: null, plan: null, request: change });
  });

  test("nothing is written when the request was removed", async () => {
    const collections = open();
    const { write, requestId, read } = await moving(collections);
    await collections.requests.deleteMany({ _id: requestId });
    expect(await transactOver(collections)(write)).toEqual({ type: "taken" });
    expect(await read()).toEqual({ entry: null, plan: null, request: null });
  });

  test("of simultaneous writes with different entries to one document one after the other is done", async () => {
    const collections = open();
    const { requestId, write, read } = await moving(collections);
    const count: HeadWrite = {
      collection: "requests",
      id: requestId,
      condition: {},
      expressions: { moves: { $add: ["$moves", 1] } },
    };
    const writes = Array.from({ length: 8 }, (_, index) =>
      transactOver(collections)({ entry: { ...write.entry, seq: index + 2 }, following: () => [count] }),
    );
    expect((await Promise.all(writes)).map(({ type }) => type)).toEqual(writes.map(() => "appended"));
    expect((await read()).request).toMatchObject({ moves: 8 });
  });

  test("of simultaneous writes at one seq one is done, completely", async () => {
    const collections = open();
    const { write, requestId, read, plan } = await moving(collections);
    const writes = Array.from({ length: 8 }, (_, index) => {
      const insert = { ...plan, _id: createPlanId(1_700_000_000_000 + index * 1_000, random) };
      const set = { planId: insert._id };
      const following = (): HeadWrite[] => [
        { collection: "plans", insert },
        { collection: "requests", id: requestId, condition: {}, set },
      ];
      return transactOver(collections)({ ...write, following });
    });
    const types = (await Promise.all(writes)).map(({ type }) => type);
    expect(types.toSorted()).toEqual(["appended", ...Array(7).fill("taken")]);
    const stored = await collections.plans.find({ requestId }).toArray();
    expect(stored.map(({ _id }) => _id)).toEqual([(await read()).request?.["planId"]]);
  });

  test("a version with too many carried items for one entry is refused, and nothing is written", async () => {
    const collections = open();
    const { write, stored, requestId, read } = await moving(collections);
    const carried = Array.from({ length: 700_000 }, (_, index) => `createAuthors[${index}]`);
    const entry = { ...write.entry, events: [{ ...stored, carried }] };
    await expect(transactOver(collections)({ ...write, entry })).rejects.toMatchObject({
      code: "STORE_ENTRY_TOO_LARGE",
      facts: { place: `${requestId}/00000001`, maxBytes: 16_000_000 },
    });
    expect(await read()).toMatchObject(NOTHING);
  });
});

describe("when a process dies or gets no answer", () => {
  /** The operations of one cold write; `at` does something instead of, or after, one of them. */
  async function interrupted(at: (operation: number) => "apply" | "lose answer" | "die") {
    let operations = -1;
    const reach: Reach = async ({ apply }) => {
      if (operations < 0) return apply();
      const fate = at(operations++);
      if (fate === "die") return new Promise(() => undefined);
      const result = await apply();
      if (fate === "lose answer") throw new UnreachableError("no answer");
      return result;
    };
    const collections = createMemoryCollections(createMemoryDatabase(), reach);
    const of = await moving(collections);
    operations = 0;
    const writing = transactOver(collections)(of.write);
    return { ...of, writing, ready: () => void (operations = -1) };
  }

  test.each([0, 1, 2, 3, 4])("at its operation %i, nothing is written", async (last) => {
    const { read, ready } = await interrupted((operation) => (operation >= last ? "die" : "apply"));
    await new Promise((resolve) => setImmediate(resolve));
    ready();
    expect(await read()).toMatchObject(NOTHING);
  });

  test.each([0, 1, 2, 3, 4])("to its operation %i, it is done once", async (lost) => {
    const { read, ready, writing, planId } = await interrupted((operation) =>
      operation === lost ? "lose answer" : "apply",
    );
    expect((await writing).type).toBe("appended");
    ready();
    expect(await read()).toMatchObject({ plan: { version: 2 }, request: { version: 2, planId, moves: 1 } });
  });
});

test("a transaction that conflicts with another write to its document is done after it", async () => {
  const database = createMemoryDatabase();
  let isOther = false;
  const collections: Collections = createMemoryCollections(database, async ({ name, apply }) => {
    if (name === "transaction.commit" && !isOther) {
      isOther = true;
      database.update("requests", {}, { set: { lease: { owner: "e1" } }, isPipeline: false });
    }
    return apply();
  });
  const { write, read } = await moving(collections);
  expect((await transactOver(collections)(write)).type).toBe("appended");
  expect((await read()).request).toMatchObject({ version: 2, moves: 1, lease: { owner: "e1" } });
});

describe("documents that a program of format 6 left in its outbox", () => {
  /** As the start of a program of this format does. */
  const converted = async (collections: ReturnType<typeof openCollections>): Promise<void> => {
    const meta = client.db().collection<{ _id: string; version: number }>("meta");
    await meta.updateOne({ _id: "format" }, { $set: { version: 6 } }, { upsert: true });
    await prepareFormat({ db: client.db(), collections });
  };
  const keep = async (_id: string, requestId: string, following: Document[]) => {
    const writes = BSON.serialize({ following });
    const outbox = client.db().collection<{ _id: string }>("outbox");
    await outbox.insertOne({ _id, requestId, writes, createdAt: new Date() } as never);
    return () => outbox.findOne({ _id });
  };
  /** As an earlier version described the writes. */
  const earlier = ({ plan, planId, requestId }: Awaited<ReturnType<typeof moving>>): Document[] => [
    { collection: "plans", insert: plan },
    { collection: "requests", filter: { _id: requestId, version: { $lt: 2 } }, set: { version: 2, planId } },
    {
      collection: "requests",
      filter: { _id: requestId, moves: 0 },
      expressions: { moves: { $add: ["$moves", 1] } },
    },
  ];

  test("are settled by the conversion to the next format, once", async () => {
    const collections = openCollections(client, client.db());
    const of = await moving(collections);
    const entry: JournalEntry = { ...of.write.entry, at: new Date(), writeId: `w:${of.requestId}` };
    await collections.journal.insertOne({ _id: `${of.requestId}/00000001`, ...entry });
    const find = await keep(entry.writeId, of.requestId, earlier(of));
    for (const _ of [1, 2]) await converted(collections);
    expect(await of.read()).toMatchObject({
      plan: of.plan,
      request: { version: 2, planId: of.planId, moves: 1 },
    });
    expect(await find()).toBeNull();
  });

  test("change nothing without their entry, and bring no removed request back", async () => {
    const collections = openCollections(client, client.db());
    const unmade = await moving(collections);
    const find = await keep(`u:${unmade.requestId}`, unmade.requestId, earlier(unmade));
    const gone = await moving(collections);
    await collections.requests.deleteOne({ _id: gone.requestId });
    const entry: JournalEntry = { ...gone.write.entry, at: new Date(), writeId: `g:${gone.requestId}` };
    await collections.journal.insertOne({ _id: `${gone.requestId}/00000001`, ...entry });
    const findGone = await keep(entry.writeId, gone.requestId, earlier(gone));
    await converted(collections);
    expect(await unmade.read()).toMatchObject(NOTHING);
    expect(await find()).toBeNull();
    expect(await gone.read()).toEqual({ entry: null, plan: null, request: null });
    expect(await findGone()).toBeNull();
  });
});
