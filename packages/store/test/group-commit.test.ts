import { setTimeout as delay } from "node:timers/promises";
import { testServers } from "@planwright/testing";
import { type Collection, type Document, MongoClient } from "mongodb";
import { expect, onTestFinished, test } from "vitest";
import { createGroupCommit, type GroupCommit } from "../src/journal/group-commit.ts";
import { WriteNotPossibleError } from "../src/records/errors.ts";

const DATABASE = "group";

interface Counter {
  _id: string;
  owner: number;
}

/** `stuckAfterMs` of tests with a lock: short, so that they do not take long. */
const STUCK_AFTER_MS = 300;

/** A group commit over plans of owner 1. */
async function groupOver(ids: readonly string[], stuckAfterMs?: number) {
  const { mongodbUrl, redisPrefix } = testServers();
  const database = `${DATABASE}_${redisPrefix}`; // without the indexes of a store
  const client = new MongoClient(mongodbUrl, {
    retryWrites: false,
    writeConcern: { w: "majority" },
    monitorCommands: true,
  });
  onTestFinished(() => client.close());
  /** Number of writes in each command that was sent. */
  const sizes: number[] = [];
  client.on("commandStarted", ({ commandName, command }) => {
    const isOne = commandName === "update" || commandName === "findAndModify";
    if (isOne) sizes.push(1);
    if (commandName === "bulkWrite") sizes.push(command["ops"].length);
  });
  const plans = client.db(database).collection<Counter & Document>("plans");
  await plans.insertMany(ids.map((_id) => ({ _id, owner: 1 })));
  const group = createGroupCommit(client, { database, owner: "e1", stuckAfterMs: stuckAfterMs ?? 30_000 });
  return { client, group, plans, sizes: () => sizes };
}

/** Locks a document, like an operator's open transaction. */
async function lock(client: MongoClient, plans: Collection<Counter & Document>, _id: string) {
  const session = client.startSession();
  onTestFinished(() => session.endSession());
  session.startTransaction();
  await plans.updateOne({ _id }, { $set: { locked: true } }, { session });
  return () => session.abortTransaction();
}

const write = (group: GroupCommit, id: string, set: Document, owner = 1): Promise<boolean> =>
  group.write({ collection: "plans", id, condition: { owner }, set });

test("writes of one turn are one bulk, and each gets its own result", async () => {
  const { group, plans, sizes } = await groupOver(["a", "b", "c"]);
  const answers = await Promise.all([
    write(group, "a", { value: 1 }),
    write(group, "b", { value: 2 }, 2),
    write(group, "c", { value: 3 }),
  ]);
  expect(answers).toEqual([true, false, true]);
  expect(sizes()).toEqual([3]);
  expect(await plans.findOne({ _id: "b" })).not.toHaveProperty("value");
});

test("writes to one document are done in order; waiting writes under one condition are merged", async () => {
  const { group, plans, sizes } = await groupOver(["a"]);
  const first = write(group, "a", { value: 1, one: true });
  await new Promise((resolve) => setImmediate(resolve));
  const later = [write(group, "a", { value: 2, two: true }), write(group, "a", { value: 3 })];
  expect(await Promise.all([first, ...later])).toEqual([true, true, true]);
  expect(sizes()).toEqual([1, 1]);
  expect(await plans.findOne({ _id: "a" })).toMatchObject({ value: 3, one: true, two: true });
});

test("a write under another condition waits for the previous one and sees its result", async () => {
  const { group, plans } = await groupOver(["a"]);
  const passOn = group.write({
    collection: "plans",
    id: "a",
    condition: { owner: 1 },
    expressions: { owner: { $add: ["$owner", 1] } },
  });
  expect(await Promise.all([passOn, write(group, "a", { late: true })])).toEqual([true, false]);
  expect(await plans.findOne({ _id: "a" })).not.toHaveProperty("late");
});

test("a write that cannot be stored fails alone", async () => {
  const { group, plans } = await groupOver(["a", "b"]);
  const tooLarge = write(group, "a", { value: "x".repeat(17 * 1_048_576) });
  const fits = write(group, "b", { value: 1 });
  await expect(tooLarge).rejects.toBeInstanceOf(WriteNotPossibleError);
  expect(await fits).toBe(true);
  expect(await plans.findOne({ _id: "b" })).toMatchObject({ value: 1 });
});

test("the second of two ordered writes is not done when MongoDB refuses the first", async () => {
  const { group, plans } = await groupOver(["a", "b", "c"]);
  const large = "x".repeat(9 * 1_048_576);
  await plans.updateOne({ _id: "a" }, { $set: { before: large } });
  const of = (id: string, set: Document) => ({ collection: "plans" as const, id, condition: {}, set });
  const pair = group.writeInOrder(of("a", { value: large }), of("b", { value: 1 }));
  const other = write(group, "c", { value: 1 });
  await expect(pair).rejects.toBeInstanceOf(WriteNotPossibleError);
  expect(await other).toBe(true);
  expect(await plans.findOne({ _id: "b" })).not.toHaveProperty("value");
});

test("many documents share bulks, and idle waits for all of them", async () => {
  const ids = Array.from({ length: 300 }, (_, index) => `p${index}`);
  const { group, plans, sizes } = await groupOver(ids);
  let answered = 0;
  for (const id of ids) void write(group, id, { value: 1 }).then(() => (answered += 1));
  for (const id of ids) void write(group, id, { value: 2 }, 1).then(() => (answered += 1));
  await group.idle();
  expect(answered).toBe(600);
  expect(sizes().length).toBeLessThan(10);
  expect(await plans.countDocuments({ value: 2 })).toBe(300);
});

test("a locked document delays no other one, and its write is done when the lock is released", async () => {
  const { client, group, plans } = await groupOver(["a", "b", "c"], STUCK_AFTER_MS);
  const unlock = await lock(client, plans, "b");
  let isStuckDone = false;
  const stuck = write(group, "b", { value: 2 }).then((isDone) => (isStuckDone = isDone));
  expect(await Promise.all([write(group, "a", { value: 1 }), write(group, "c", { value: 3 })])).toEqual([
    true,
    true,
  ]);
  expect(await write(group, "a", { value: 4 })).toBe(true);
  expect(isStuckDone).toBe(false);
  await unlock();
  expect(await stuck).toBe(true);
  expect(await plans.findOne({ _id: "b" })).not.toHaveProperty("locked");
});

test("writes that a bulk did before it waited too long for a lock are not done again", async () => {
  const { client, group, plans } = await groupOver(["a", "b", "c"], STUCK_AFTER_MS);
  const unlock = await lock(client, plans, "b");
  const raised = Promise.all(
    ["a", "b", "c"].map((id) =>
      group.write({
        collection: "plans",
        id,
        condition: { owner: 1 },
        expressions: { value: { $add: [{ $ifNull: ["$value", 0] }, 1] } },
      }),
    ),
  );
  await expect.poll(() => plans.countDocuments({ value: { $gte: 1 } })).toBe(2);
  await delay(3 * STUCK_AFTER_MS);
  await unlock();
  expect(await raised).toEqual([true, true, true]);
  expect(await plans.find().sort({ _id: 1 }).toArray()).toMatchObject([
    { value: 1 },
    { value: 1 },
    { value: 1 },
  ]);
});

test("writeAndRead returns the document, alone, among few writes and in a bulk; null if the condition fails", async () => {
  const many = Array.from({ length: 20 }, (_, index) => `many${index}`);
  const { group, plans } = await groupOver(["a", "b", "c", ...many]);
  const raise = (id: string, owner = 1) =>
    group.writeAndRead({
      collection: "plans",
      id,
      condition: { owner },
      expressions: { value: { $add: [{ $ifNull: ["$value", 0] }, 1] } },
    });
  expect(await raise("a")).toMatchObject({ _id: "a", owner: 1, value: 1 });
  const amongFew = Promise.all([raise("a"), write(group, "c", { value: 5 }), raise("b"), raise("a", 2)]);
  expect(await amongFew).toMatchObject([{ value: 2 }, true, { value: 1 }, null]);
  expect(await plans.findOne({ _id: "a" })).toMatchObject({ value: 2 });
  expect(await plans.findOne({ _id: "c" })).toMatchObject({ value: 5 });
  const inBulk = await Promise.all([...many.map((id) => raise(id)), raise("b"), raise("c", 2)]);
  expect(inBulk).toMatchObject([...many.map((_id) => ({ _id, value: 1 })), { value: 2 }, null]);
});

test("a small batch of writeAndRead calls with one locked document: each call is done once", async () => {
  const { client, group, plans, sizes } = await groupOver(["a", "b"], STUCK_AFTER_MS);
  const unlock = await lock(client, plans, "b");
  // Like a claim: its condition does not hold a second time.
  const claim = (id: string) =>
    group.writeAndRead({
      collection: "plans",
      id,
      condition: { owner: 1, claimed: null },
      expressions: { claimed: true, value: { $add: [{ $ifNull: ["$value", 0] }, 1] } },
    });
  const both = Promise.all([claim("a"), claim("b")]);
  // The first try has reached its time limit.
  await expect.poll(() => sizes().length).toBeGreaterThan(2);
  expect(await plans.findOne({ _id: "a" })).toMatchObject({ value: 1 });
  await unlock();
  expect(await both).toMatchObject([
    { _id: "a", value: 1 },
    { _id: "b", value: 1 },
  ]);
});
