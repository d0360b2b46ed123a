/** What the database in memory computes is what MongoDB computes: filters and expressions, also of missing fields. */
import { createMemoryDatabase } from "@planwright/store/memory";
import { testServers } from "@planwright/testing";
import { type Document, MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let client: MongoClient;
beforeAll(async () => {
  // As the store reads and writes.
  client = await MongoClient.connect(testServers().mongodbUrl, { ignoreUndefined: true });
});
afterAll(() => client.close());

const AT = new Date(1_700_000_000_000);
const DOCUMENT = {
  _id: "one",
  nothing: null,
  flag: true,
  zero: 0,
  two: 2,
  text: "a",
  empty: "",
  at: AT,
  list: ["a", "b"],
  rows: [
    { id: 1, name: "x" },
    { id: 2, name: "y" },
  ],
  inner: { two: 2, nothing: null },
};

/** A document with its field `result` set to an expression; the error's name when that is not possible. */
async function inMongo(expression: unknown): Promise<unknown> {
  const collection = client.db().collection<{ _id: string }>("operators");
  await collection.deleteMany({});
  await collection.insertOne({ ...DOCUMENT });
  try {
    await collection.updateOne({ _id: "one" }, [{ $set: { result: expression } }]);
  } catch {
    return "refused";
  }
  const found: Document | null = await collection.findOne({ _id: "one" });
  return found && "result" in found ? found["result"] : "missing";
}

function inMemory(expression: unknown): unknown {
  const database = createMemoryDatabase();
  database.insert("operators", { ...DOCUMENT });
  try {
    const [after] = database.update(
      "operators",
      { _id: "one" },
      { set: { result: expression }, isPipeline: true },
    );
    return after && "result" in after ? after["result"] : "missing";
  } catch {
    return "refused";
  }
}

describe("expressions", () => {
  test.each<[unknown]>([
    ["$two"],
    ["$missing"],
    ["$inner.two"],
    ["$inner.missing"],
    ["$nothing.missing"],
    ["$rows.id"],
    [{ $eq: ["$nothing", null] }],
    [{ $eq: ["$missing", null] }],
    [{ $ne: ["$missing", null] }],
    [{ $eq: ["$inner.missing", null] }],
    [{ $eq: ["$missing", "$other"] }],
    [{ $lte: ["$missing", AT] }],
    [{ $lte: ["$nothing", AT] }],
    [{ $lt: ["$missing", "$nothing"] }],
    [{ $gt: ["$at", null] }],
    [{ $gte: ["$two", 2] }],
    [{ $add: ["$two", 1] }],
    [{ $add: ["$nothing", 1] }],
    [{ $add: ["$missing", 1] }],
    [{ $add: ["$at", 5] }],
    [{ $add: ["$text", 5] }],
    [{ $and: ["$flag", "$two"] }],
    [{ $and: ["$flag", "$zero"] }],
    [{ $and: ["$flag", "$empty"] }],
    [{ $or: ["$nothing", "$missing", "$zero"] }],
    [{ $or: ["$nothing", "$empty"] }],
    [{ $not: ["$flag"] }],
    [{ $not: ["$nothing"] }],
    [{ $not: ["$missing"] }],
    [{ $not: ["$two"] }],
    [{ $not: ["$zero"] }],
    [{ $cond: ["$two", "yes", "no"] }],
    [{ $cond: ["$text", "yes", "no"] }],
    [{ $cond: ["$missing", "yes", "no"] }],
    [{ $cond: ["$flag", "$missing", "no"] }],
    [{ $ifNull: ["$missing", "$nothing", "x"] }],
    [{ $ifNull: ["$missing", "$nothing"] }],
    [{ $ifNull: ["$nothing", "$missing"] }],
    [{ $in: ["$text", ["a", "b"]] }],
    [{ $in: ["$text", "$list"] }],
    [{ $in: ["$missing", [null]] }],
    [{ $in: ["$text", "$missing"] }],
    [{ $max: ["$missing", "$two", null] }],
    [{ $min: ["$at", "$nothing"] }],
    [{ $min: ["$missing", "$nothing"] }],
    [{ $size: "$list" }],
    [{ $size: "$missing" }],
    [{ $concatArrays: ["$list", ["c"]] }],
    [{ $concatArrays: ["$list", "$missing"] }],
    [{ $concatArrays: ["$list", "$text"] }],
    [{ $mergeObjects: ["$inner", { three: 3 }] }],
    [{ $mergeObjects: ["$missing", { three: 3 }] }],
    [{ $mergeObjects: ["$text", { three: 3 }] }],
    [{ $filter: { input: "$rows", cond: { $gt: ["$$this.id", 1] } } }],
    [{ $filter: { input: "$missing", cond: { $gt: ["$$this.id", 1] } } }],
    [{ $filter: { input: "$list", cond: "$$this.id" } }],
    [{ $literal: { $a: "$two" } }],
    [{ a: "$two", b: { c: "$missing" } }],
    [["$two", "$missing"]],
    [{ $bsonSize: "$inner" }],
    [{ $bsonSize: "$missing" }],
  ])("%j", async (expression) => {
    expect(inMemory(expression)).toEqual(await inMongo(expression));
  });
});

test("what is undefined is not stored: a new field is not there, and an old one stays", async () => {
  const collection = client.db().collection<Document & { _id: string }>("undefined");
  await collection.insertOne({ _id: "one", kept: 1, absent: undefined });
  await collection.updateOne({ _id: "one" }, { $set: { kept: undefined } });
  await collection.updateOne({ _id: "one" }, [{ $set: { kept: undefined, other: { absent: undefined } } }]);
  const database = createMemoryDatabase();
  database.insert("undefined", { _id: "one", kept: 1, absent: undefined });
  database.update("undefined", { _id: "one" }, { set: { kept: undefined }, isPipeline: false });
  const set = { kept: undefined, other: { absent: undefined } };
  database.update("undefined", { _id: "one" }, { set, isPipeline: true });
  const [found] = database.find("undefined", {});
  expect(found).toStrictEqual(await collection.findOne({ _id: "one" }));
});

describe("filters", () => {
  test.each<[Document]>([
    [{ nothing: null }],
    [{ missing: null }],
    [{ missing: { $ne: null } }],
    [{ missing: { $eq: null } }],
    [{ "inner.missing": null }],
    [{ "inner.two": 2 }],
    [{ "nothing.a": null }],
    [{ two: { $gt: 1, $lt: 3 } }],
    [{ two: { $gt: "a" } }],
    [{ missing: { $lt: 3 } }],
    [{ nothing: { $lte: AT } }],
    [{ nothing: { $lte: null } }],
    [{ at: AT }],
    [{ at: { $lte: new Date(AT.getTime() + 1) } }],
    [{ at: { $type: "date" } }],
    [{ text: { $type: "string" } }],
    [{ missing: { $type: "string" } }],
    [{ two: { $type: "number" } }],
    [{ list: { $type: "string" } }],
    [{ list: "a" }],
    [{ list: { $eq: "a" } }],
    [{ list: { $ne: "a" } }],
    [{ list: { $ne: "c" } }],
    [{ list: { $in: ["b", "c"] } }],
    [{ list: { $nin: ["b", "c"] } }],
    [{ list: { $all: ["a", "b"] } }],
    [{ list: { $gt: "a" } }],
    [{ missing: { $in: [null] } }],
    [{ missing: { $nin: [null, "a"] } }],
    [{ text: { $in: ["a"] } }],
    [{ rows: { $elemMatch: { id: { $gt: 1 } } } }],
    [{ rows: { $elemMatch: { id: 2, name: "x" } } }],
    [{ "rows.id": 2 }],
    [{ "rows.id": { $in: [2, 3] } }],
    [{ "rows.id": { $gt: 1 } }],
    [{ "rows.missing": null }],
    [{ inner: { two: 2, nothing: null } }],
    [{ text: { $regex: /^A/i } }],
    [{ $or: [{ two: 3 }, { text: "a" }] }],
    [{ $and: [{ two: 3 }, { text: "a" }] }],
    [{ $expr: { $eq: ["$missing", null] } }],
    [{ $expr: "$two" }],
  ])("%j", async (filter) => {
    const collection = client.db().collection<Document & { _id: string }>("filters");
    await collection.deleteMany({});
    await collection.insertOne({ ...DOCUMENT });
    const database = createMemoryDatabase();
    database.insert("filters", { ...DOCUMENT });
    expect(database.find("filters", filter).length).toBe((await collection.find(filter).toArray()).length);
  });
});
