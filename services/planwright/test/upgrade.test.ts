/**
 * Databases that released versions have written, one of each format: they open in this version, and so does a backup
 * of each after its restore. Their requests end, and no call is made twice.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { inspectDatabase, type RestoreFacts, restoreDatabase } from "@planwright/store";
import { type System, startSystem, testAndProof } from "@planwright/testing";
import { BSON, type Document, MongoClient } from "mongodb";
import { describe, expect, onTestFinished, test } from "vitest";
import { ask, find, startVault, WAITING_REQUESTS } from "./stored-databases/waiting-requests.ts";

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
const BACKUPS = readdirSync(FOLDER).filter((name) => name.endsWith(".backup"));

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

/** A copy of a value in which every date is later, except those that are kept. */
function shifted<Value>(value: Value, byMs: number, isKept?: (date: Date) => boolean): Value;
function shifted(value: unknown, byMs: number, isKept = (_date: Date) => false): unknown {
  if (value instanceof Date) return isKept(value) ? value : new Date(value.getTime() + byMs);
  if (Array.isArray(value)) return value.map((one: unknown) => shifted(one, byMs, isKept));
  if (typeof value !== "object" || value === null || "_bsontype" in value) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shifted(one, byMs, isKept)]));
}

/** Longer than a plan may take, and shorter than an approval is waited for. */
const BACKUP_AGE_MS = 5 * 86_400_000;

/** Restores a backup, as if it had been made {@link BACKUP_AGE_MS} ago. */
async function restore(mongodbUrl: string, path: string): Promise<RestoreFacts> {
  const beganAt = new Date();
  const facts = await restoreDatabase({ url: mongodbUrl }, { path });
  const endedAt = new Date();
  const laterMs = endedAt.getTime() - BACKUP_AGE_MS - facts.takenAt.getTime();
  const isOfRestore = (date: Date): boolean => date >= beganAt && date <= endedAt;
  const client = await MongoClient.connect(mongodbUrl);
  for (const { name } of await client.db().listCollections().toArray()) {
    const collection = client.db().collection(name);
    const documents = await collection.find().toArray();
    await collection.deleteMany({});
    if (documents.length > 0) await collection.insertMany(shifted(documents, laterMs, isOfRestore));
  }
  await client.close();
  return facts;
}

const formatOf = (name: string): number => Number(/\d+/.exec(name)?.[0]);

/** The requests of a database of this format, with what they wait for. */
function waitingIn(kept: KeptDatabase, format: number) {
  const waiting = Object.entries(kept.requests).flatMap(([what, id]) => {
    const request = WAITING_REQUESTS[what];
    return request ? [{ what, id, ...request }] : [];
  });
  const expected = Object.entries(WAITING_REQUESTS).filter(
    ([, { sinceFormat = 0 }]) => format >= sinceFormat,
  );
  expect(waiting.map(({ what }) => what).toSorted()).toEqual(expected.map(([what]) => what).toSorted());
  return waiting;
}

/** A system on this database, with a vault to which no person is signed in. */
async function startOn(fillDatabase: (mongodbUrl: string) => Promise<void>) {
  const vault = await startVault();
  onTestFinished(() => vault.close());
  const system = await startSystem({ ...vault.system, fillDatabase });
  onTestFinished(() => system.close());
  const ledger = async () => [...(await system.tools.ledger()), ...(await vault.ledger())];
  return { ...system, vault, ledger };
}

/** A planner whose model gives the question's request a plan. */
async function startPlanner(system: System): Promise<void> {
  const plan = { steps: [{ id: "a", tool: "keyed_effect", arguments: { value: "question" } }] };
  system.model.script(() => ({ type: "answer", text: JSON.stringify(plan) }));
  await system.startPlanner();
}

const statusOf = async (system: System, id: string): Promise<string> => (await find(system, id)).status;

test("a database of each format that can be converted is stored, and a backup of it", () => {
  expect(FILES).toContain(`${OLDEST}.json.gz`);
  expect(BACKUPS).toEqual(FILES.map((name) => name.replace(".json.gz", ".backup")));
});

/** `npm test` converts the oldest format; `npm run proof` also opens and restores the others. */
const OLDEST = "format-6";
const files = testAndProof(FILES, (name) => name, [`${OLDEST}.json.gz`]);
const backups = testAndProof(BACKUPS, (name) => name, [`${OLDEST}.backup`]);

for (const { cases, options } of files)
  describe.each(cases)("the database %s", options, (name) => {
    test("opens, and every request that waits goes on where it stopped and ends", {
      timeout: 120_000,
    }, async () => {
      const kept = read(name);
      const system = await startOn((mongodbUrl) => fill(mongodbUrl, kept));
      await startPlanner(system);
      const waiting = waitingIn(kept, formatOf(name));
      for (const { id, waits, goOn, what } of waiting) {
        const found = await find(system, id);
        // A retry is due by now.
        if (what !== "retry") expect(waits(found)).toBe(true);
        await goOn(system, id, found);
      }
      for (const { id } of waiting)
        await expect.poll(() => statusOf(system, id), { timeout: 60_000 }).toBe("COMPLETED");
      const more = waiting.reduce((sum, { effects: [before, after] }) => sum + after - before, 0);
      expect(await system.ledger()).toHaveLength(more);
      expect(Number(kept.effects)).toBe(waiting.reduce((sum, { effects: [before] }) => sum + before, 0));
    });
  });

for (const { cases, options } of backups)
  describe.each(cases)("the backup %s", options, (name) => {
    test("is restored in its format, converted by the next start, and every request goes on once it is named", {
      timeout: 120_000,
    }, async () => {
      const format = formatOf(name);
      const waiting = waitingIn(read(name.replace(".backup", ".json.gz")), format);
      const idOf = (wanted: string): string => waiting.find(({ what }) => what === wanted)?.id ?? "";
      const formats: (number | null)[] = [];
      const system = await startOn(async (url) => {
        const facts = await restore(url, fileURLToPath(new URL(name, FOLDER)));
        const started = waiting.filter(({ what }) => what !== "question").map(({ id }) => id);
        expect(facts.paused.map(({ requestId }) => requestId)).toEqual(started.toSorted());
        expect(facts.notStarted.map(({ requestId }) => requestId)).toEqual([idOf("question")]);
        formats.push(facts.format, (await inspectDatabase({ url })).format.found);
      });
      const { found, expected } = (await inspectDatabase({ url: system.mongodbUrl })).format;
      expect([...formats, found]).toEqual([format, format, expected]);

      await startPlanner(system);
      for (const { id, what } of waiting)
        if (what !== "question")
          await expect.poll(async () => (await find(system, id)).plan?.status).toBe("PAUSED");
      // A client resumes this one as part of its decision.
      for (const { id, goOn, what } of waiting)
        if (what !== "pause") await goOn(system, id, await find(system, id));
      await expect.poll(() => statusOf(system, idOf("question"))).toBe("READY");
      expect(await system.ledger()).toEqual([]);

      for (const { id, goOn, what } of waiting) {
        if (what === "pause") await goOn(system, id, await find(system, id));
        else {
          const mutation = what === "question" ? "executePlan" : "resume";
          await ask(system, `mutation ($id: ID!) { ${mutation}(requestId: $id) { status } }`, { id });
        }
      }
      for (const { id } of waiting)
        await expect.poll(() => statusOf(system, id), { timeout: 60_000 }).toBe("COMPLETED");
      const values = (await system.ledger()).map((effect) => effect.arguments["value"]);
      expect(values.map(String).toSorted()).toEqual([
        "approval",
        "doubt is settled",
        "pause is over",
        "question",
        "retry",
        ...(idOf("sign-in") === "" ? [] : ["sign-in"]),
      ]);
    });
  });
