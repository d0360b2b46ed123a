/** Databases that released versions have written, one of each format, open in this version, and their requests end. */
import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { JsonObject } from "@planwright/plan";
import { startSystem } from "@planwright/testing";
import { BSON, type Document, MongoClient } from "mongodb";
import { describe, expect, onTestFinished, test } from "vitest";
import { find, WAITING_REQUESTS } from "./stored-databases/waiting-requests.ts";

interface KeptDatabase {
  keptAt: Date;
  /** Ids of the requests, by what they wait for. */
  requests: Record<string, string>;
  /** Effects of their calls so far. */
  effects: number;
  collections: Record<string, Document[]>;
}

const FOLDER = new URL("stored-databases/", import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith(".json.gz"));

function read(name: string): KeptDatabase {
  const text = gunzipSync(readFileSync(new URL(name, FOLDER))).toString("utf8");
  return BSON.EJSON.parse(text, { relaxed: false }) as KeptDatabase;
}

/** The database as if it had been written just now: otherwise approvals have expired, and plans are too late. */
async function fill(mongodbUrl: string, { keptAt, collections }: KeptDatabase): Promise<void> {
  const client = await MongoClient.connect(mongodbUrl);
  const laterMs = Date.now() - keptAt.getTime();
  for (const [name, documents] of Object.entries(collections))
    if (documents.length > 0) await client.db().collection(name).insertMany(shifted(documents, laterMs));
  await client.close();
}

/** A copy of a value in which every date is later. */
function shifted<Value>(value: Value, byMs: number): Value;
function shifted(value: unknown, byMs: number): unknown {
  if (value instanceof Date) return new Date(value.getTime() + byMs);
  if (Array.isArray(value)) return value.map((one: unknown) => shifted(one, byMs));
  if (typeof value !== "object" || value === null || "_bsontype" in value) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shifted(one, byMs)]));
}

test("a database of each format that can be converted is stored", () => {
  expect(FILES).toContain("format-6.json.gz");
});

describe.each(FILES)("the database %s", (name) => {
  test("opens, and every request that waits goes on where it stopped and ends", {
    timeout: 120_000,
  }, async () => {
    const kept = read(name);
    const system = await startSystem({ fillDatabase: (mongodbUrl) => fill(mongodbUrl, kept) });
    onTestFinished(() => system.close());
    const plan = { steps: [{ id: "a", tool: "keyed_effect", arguments: { value: "question" } }] };
    system.model.script(() => ({ type: "answer", text: JSON.stringify(plan as JsonObject) }));
    await system.startPlanner();
    const waiting = Object.entries(kept.requests).flatMap(([what, id]) => {
      const request = WAITING_REQUESTS[what];
      return request ? [{ what, id, ...request }] : [];
    });
    expect(waiting.map(({ what }) => what).toSorted()).toEqual(Object.keys(WAITING_REQUESTS).toSorted());
    for (const { id, waits, goOn, what } of waiting) {
      const found = await find(system, id);
      // A retry is due by now.
      if (what !== "retry") expect(waits(found)).toBe(true);
      await goOn(system, id, found);
    }
    for (const { id } of waiting)
      await expect.poll(async () => (await find(system, id)).status, { timeout: 60_000 }).toBe("COMPLETED");
    const more = waiting.reduce((sum, { effects: [before, after] }) => sum + after - before, 0);
    expect(await system.tools.ledger()).toHaveLength(more);
    expect(Number(kept.effects)).toBe(waiting.reduce((sum, { effects: [before] }) => sum + before, 0));
  });
});
