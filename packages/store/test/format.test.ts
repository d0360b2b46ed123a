import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsePlan } from "@planwright/plan";
import {
  backupDatabase,
  createStore,
  DatabaseFormatError,
  inspectDatabase,
  restoreDatabase,
} from "@planwright/store";
import { testServers } from "@planwright/testing";
import { BSON, type Db, MongoClient } from "mongodb";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { DATABASE_FORMAT, openCollections } from "../src/database/collections.ts";
import { CONVERSIONS, type Conversion, type ConversionProgress, prepareFormat } from "../src/format.ts";

let client: MongoClient;
let db: Db;
let url: string;
beforeEach(async () => {
  url = testServers().mongodbUrl;
  client = await MongoClient.connect(url);
  db = client.db();
});
afterEach(() => client.close());

const meta = () => db.collection<{ _id: string; version: number }>("meta");
const names = () => db.collection<{ _id: number; name?: string; first?: string }>("names");

test("a new database gets its format number from the first process, and all processes use it", async () => {
  const stores = await Promise.all(Array.from({ length: 5 }, () => createStore({ url })));
  await Promise.all(stores.map((store) => store.close()));
  expect(await meta().find().toArray()).toEqual([{ _id: "format", version: DATABASE_FORMAT }]);
  await (await createStore({ url })).close();
});

test("a database of a later format is refused with a message that says what to do, and is not changed", async () => {
  await db.dropDatabase();
  await meta().insertOne({ _id: "format", version: DATABASE_FORMAT + 1 });
  const refused = createStore({ url });
  await expect(refused).rejects.toBeInstanceOf(DatabaseFormatError);
  await expect(refused).rejects.toThrow(
    `format ${DATABASE_FORMAT + 1}, and this version of Planwright reads format ${DATABASE_FORMAT}: install the version that wrote it`,
  );
  expect((await db.listCollections().toArray()).map(({ name }) => name)).toEqual(["meta"]);
});

test("a database without a format number cannot be converted, and is not changed", async () => {
  await db.collection<{ _id: string }>("requests").insertOne({ _id: "req_1" });
  await expect(createStore({ url })).rejects.toMatchObject({
    facts: { found: 1, expected: DATABASE_FORMAT },
  });
  expect(await meta().countDocuments()).toBe(0);
});

test("every format from the first that is converted has a conversion to the next", () => {
  const [first] = CONVERSIONS;
  expect(CONVERSIONS.map(({ from }) => from)).toEqual(
    Array.from(
      { length: DATABASE_FORMAT - (first?.from ?? DATABASE_FORMAT) },
      (_, n) => (first?.from ?? 0) + n,
    ),
  );
});

test("what a start would convert is told before, and nothing is changed", async () => {
  expect((await inspectDatabase({ url })).format).toEqual({
    found: null,
    expected: DATABASE_FORMAT,
    conversions: [],
  });
  await meta().insertOne({ _id: "format", version: 6 });
  await db.collection("outbox").insertOne({ requestId: "req_1" });
  expect((await inspectDatabase({ url })).format).toEqual({
    found: 6,
    expected: DATABASE_FORMAT,
    conversions: [{ to: 7, what: "changes that a killed process left in the outbox", left: 1 }],
  });
  expect(await meta().findOne()).toEqual({ _id: "format", version: 6 });
});

/** A plan whose start has its entry, and documents that follow it only in the outbox of a killed process of format 6. */
async function halfStarted(): Promise<{ requestId: string; planId: string }> {
  const store = await createStore({ url });
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const input = { tenant: "t", query: null, raw: "", diagnostics: [], autoExecute: false };
  const { request, plan } = await store.submitPlan({ ...input, plan: parsed.plan });
  const heads = [
    { collection: "plans", _id: String(plan._id) },
    { collection: "requests", _id: String(request._id) },
  ].map(({ collection, _id }) => ({
    collection,
    _id,
    documents: db.collection<{ _id: string }>(collection),
  }));
  const before = await Promise.all(heads.map(({ _id, documents }) => documents.findOne({ _id })));
  await store.queuePlan("t", plan._id, request._id);
  await store.close();
  const entry = await db.collection("journal").findOne({ requestId: request._id }, { sort: { _id: -1 } });
  const following = await Promise.all(
    heads.map(async ({ collection, _id, documents }, at) => {
      const { _id: id, ...set } = (await documents.findOne({ _id })) ?? { _id };
      const { _id: _, ...earlier } = before[at] ?? { _id };
      await documents.replaceOne({ _id }, earlier);
      return { collection, filter: { _id: id }, set };
    }),
  );
  const kept = { _id: entry?.["writeId"], requestId: request._id, writes: BSON.serialize({ following }) };
  await db.collection("outbox").insertOne(kept);
  await meta().updateOne({ _id: "format" }, { $set: { version: 6 } });
  return { requestId: request._id, planId: plan._id };
}

test("a restore completes what a killed process of format 6 left, so that its plan is paused too", async () => {
  const { requestId, planId } = await halfStarted();
  const plans = db.collection<{ _id: string }>("plans");
  expect(await plans.findOne({ _id: planId })).toMatchObject({ status: "READY" });
  const folder = await mkdtemp(join(tmpdir(), "planwright-format-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "planwright.backup");
  await backupDatabase({ url }, { to: createWriteStream(path), version: "0.1.0" });

  const target = testServers().mongodbUrl;
  const restored = await restoreDatabase({ url: target }, { path });
  expect(restored.paused).toEqual([{ requestId, tenant: "t" }]);
  const there = await MongoClient.connect(target);
  onTestFinished(() => there.close());
  const found = await there.db().collection<{ _id: string }>("plans").findOne({ _id: planId });
  expect(found).toMatchObject({ status: "PAUSED", dueAt: null });
  expect(await there.db().collection("outbox").countDocuments()).toBe(0);
  expect((await inspectDatabase({ url: target })).format.found).toBe(6);
});

describe("a conversion", () => {
  const TO = DATABASE_FORMAT + 1;
  /** Renames a field of ten documents, two at a time. @param onBatch - before each batch */
  const renaming = (onBatch: () => Promise<void> | void = () => undefined): Conversion => ({
    from: DATABASE_FORMAT,
    what: "names",
    countLeft: () => names().countDocuments({ name: { $exists: true } }),
    async convertSome() {
      await onBatch();
      const some = await names()
        .find({ name: { $exists: true } })
        .limit(2)
        .toArray();
      const change = { $rename: { name: "first" } };
      await names().updateMany({ _id: { $in: some.map(({ _id }) => _id) } }, change);
      return some.length;
    },
  });
  const prepare = (conversion: Conversion, more: object = {}) =>
    prepareFormat(
      { db, collections: openCollections(client, db) },
      { conversions: [conversion], format: TO, lookEveryMs: 10, ...more },
    );
  const converted = async () => ({
    version: (await meta().findOne({ _id: "format" }))?.version,
    first: await names().countDocuments({ first: { $exists: true } }),
  });

  beforeEach(async () => {
    await meta().insertOne({ _id: "format", version: DATABASE_FORMAT });
    await names().insertMany(Array.from({ length: 10 }, (_, _id) => ({ _id, name: `n${_id}` })));
  });

  test("tells how far it is, and the number changes at its end", async () => {
    const told: ConversionProgress[] = [];
    await prepare(renaming(), { onProgress: (progress: ConversionProgress) => void told.push(progress) });
    expect(told.map(({ done, left }) => [done, left])).toEqual([
      [0, 10],
      [2, 8],
      [4, 6],
      [6, 4],
      [8, 2],
      [10, 0],
    ]);
    expect(told[0]).toMatchObject({ from: DATABASE_FORMAT, to: TO, what: "names", isElsewhere: false });
    expect(await converted()).toEqual({ version: TO, first: 10 });
  });

  test("is made by one process, and others wait for its end", async () => {
    let running = 0;
    let most = 0;
    const counted = renaming(async () => {
      running += 1;
      most = Math.max(most, running);
      await names().countDocuments();
      running -= 1;
    });
    await Promise.all(Array.from({ length: 5 }, () => prepare(counted)));
    expect(most).toBe(1);
    expect(await converted()).toEqual({ version: TO, first: 10 });
  });

  test("goes on where a process died", async () => {
    let batches = 0;
    const dies = renaming(() => {
      batches += 1;
      if (batches === 3) throw new Error("killed");
    });
    await expect(prepare(dies, { leaseMs: 50 })).rejects.toThrow("killed");
    expect(await converted()).toEqual({ version: DATABASE_FORMAT, first: 4 });
    await prepare(renaming(), { leaseMs: 50 });
    expect(await converted()).toEqual({ version: TO, first: 10 });
  });

  test("stops when its lease has ended, and does not set the number", async () => {
    const steals = renaming(async () => {
      await meta().updateOne({ _id: "format" }, { $set: { version: TO } });
    });
    await prepare(steals);
    expect(await converted()).toEqual({ version: TO, first: 2 });
  });
});

test("work that names a later format is not claimed, so that a process of the format before leaves it", async () => {
  const store = await createStore({ url });
  try {
    const accepted = { tenant: "t", query: "x", autoExecute: true };
    const [later, now] = [await store.createRequest(accepted), await store.createRequest(accepted)];
    const requests = db.collection<{ _id: string; minFormat?: number }>("requests");
    await requests.updateOne({ _id: later._id }, { $set: { minFormat: DATABASE_FORMAT + 1 } });
    await requests.updateOne({ _id: now._id }, { $set: { minFormat: DATABASE_FORMAT } });
    expect(await store.claimRequest(later._id, "p1")).toBeNull();
    expect(await store.claimRequest(now._id, "p1")).not.toBeNull();
  } finally {
    await store.close();
  }
});
