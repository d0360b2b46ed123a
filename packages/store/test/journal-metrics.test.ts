/** Metrics of appends, by the journal of an executor and by the turns of clients. */
import { parsePlan } from "@planwright/plan";
import { createStore, type JournalMetrics } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { expect, onTestFinished, test } from "vitest";
import { openCollections } from "../src/database/collections.ts";
import { createMongoEntryLog, type EntryLog } from "../src/journal/entry-log.ts";
import { createJournal } from "../src/journal/journal.ts";
import { createMemoryEntryLog } from "../src/memory/create-memory-store.ts";
import { createMemoryDatabase } from "../src/memory/memory-database.ts";
import type { JournalDocument } from "../src/records/request-document.ts";
import { playRecords } from "./play-records.ts";

function counting() {
  const seen = { appended: 0, taken: 0, failed: 0, bulks: [] as number[], durationsMs: [] as number[] };
  const metrics: JournalMetrics = {
    appendEnded(outcome, durationMs) {
      seen[outcome] += 1;
      seen.durationsMs.push(durationMs);
    },
    bulkWritten: (entries) => void seen.bulks.push(entries),
  };
  return { seen, metrics };
}

const entry = (requestId: string, seq: number) => ({
  requestId,
  tenant: "t1",
  planId: "plan_1",
  seq,
  by: { kind: "api" as const, id: "api" },
  events: [{ type: "resume.asked" as const }],
});

test("appends are counted by result, with their durations", async () => {
  const { seen, metrics } = counting();
  const log = createMemoryEntryLog(createMemoryDatabase());
  let nowMs = 0;
  const slow: EntryLog = {
    ...log,
    async insert(entries) {
      nowMs += 20;
      return log.insert(entries);
    },
  };
  const journal = createJournal({ log: slow, owner: "w", now: () => 0, monotonic: () => nowMs, metrics });
  await Promise.all([journal.append(entry("req_1", 1)), journal.append(entry("req_2", 1))]);
  await journal.append(entry("req_1", 1));
  expect(seen).toEqual({ appended: 2, taken: 1, failed: 0, bulks: [2, 1], durationsMs: [20, 20, 20] });
});

test("an append with an unknown result counts as failed, and its bulk is not counted", async () => {
  const { seen, metrics } = counting();
  const log: EntryLog = {
    ...createMemoryEntryLog(createMemoryDatabase()),
    insert: () => Promise.reject(Object.assign(new Error("away"), { name: "MongoNetworkError" })),
  };
  const journal = createJournal({ log, owner: "w", now: () => 0, retryForMs: 0, retryEveryMs: 1, metrics });
  await expect(journal.append(entry("req_1", 1))).rejects.toThrow();
  expect(seen).toMatchObject({ appended: 0, taken: 0, failed: 1, bulks: [] });
});

test("a store counts appends of its executor and of a rerun", async () => {
  const { seen, metrics } = counting();
  const url = testServers().mongodbUrl;
  const store = await createStore({ url, journalMetrics: metrics });
  onTestFinished(() => store.close());
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const { request, plan } = await store.submitPlan({
    tenant: "t1",
    query: null,
    plan: parsed.plan,
    raw: "raw",
    diagnostics: [],
    autoExecute: true,
  });
  const claim = (await store.claimPlan(plan._id, "e1"))!;
  await playRecords(store, claim, [{ key: "a", stepId: "a", status: "FAILED", attempts: 1 }]);
  await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });
  const client = await MongoClient.connect(url);
  onTestFinished(() => client.close());
  const stored = () => client.db().collection("journal").countDocuments({ requestId: request._id });
  const byOwner = await stored();
  expect(seen).toMatchObject({ appended: byOwner, taken: 0, failed: 0 });
  expect(seen.bulks.length).toBeGreaterThan(0);

  await store.rerunPlan("t1", request._id, { from: null, autoExecute: true });
  expect(await stored()).toBe(byOwner + 1);
  expect(seen.appended).toBe(byOwner + 1);
});

test("entries that MongoDB refuses count once, even if their bulk is sent again", async () => {
  const { seen, metrics } = counting();
  const client = await MongoClient.connect(testServers().mongodbUrl);
  onTestFinished(() => client.close());
  const db = client.db();
  const log = createMongoEntryLog({
    ...openCollections(client, db),
    journal: db.collection<JournalDocument>("journal_counted"),
  });
  let losses = 1;
  const losing: EntryLog = {
    ...log,
    async insert(entries) {
      const taken = await log.insert(entries);
      if (losses-- > 0) throw Object.assign(new Error("away"), { name: "MongoNetworkError" });
      return taken;
    },
  };
  const journal = createJournal({ log: losing, owner: "w", now: () => 0, retryEveryMs: 1, metrics });
  await journal.append(entry("req_counted", 1));
  await journal.append(entry("req_counted", 1));
  expect(seen).toMatchObject({ appended: 1, taken: 1, failed: 0, bulks: [1, 1] });
});
