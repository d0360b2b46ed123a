import type { JournalEvent } from "@planwright/engine";
import { testServers } from "@planwright/testing";
import { type Document, MongoClient } from "mongodb";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startChangeLog } from "../src/chaos/change-log.ts";

let client: MongoClient;

beforeEach(async () => {
  client = await MongoClient.connect(testServers().mongodbUrl);
});

afterEach(async () => {
  await client.db().dropDatabase();
  await client.close();
});

interface Step {
  _id: string;
  status: string;
  [field: string]: unknown;
}

const PLAN_ID = "plan_1700000000_abcdefghij0123456789";
const REQUEST_ID = "req_1700000000_abcdefghij0123456789";

test("a change log has every write in order, with steps from the journal, and without other collections", async () => {
  const log = await startChangeLog(client);
  const journal = client.db().collection<Document & { _id: string }>("journal");
  const plans = client.db().collection<Document & { _id: string }>("plans");
  await client.db().collection("tools").insertOne({ status: "seen" });
  const step = { id: "a", tool: "t", arguments: {}, dependsOn: [] };
  await plans.insertOne({
    _id: PLAN_ID,
    requestId: REQUEST_ID,
    status: "QUEUED",
    epoch: 0,
    plan: { steps: [step] },
  });
  const entryId = (seq: number) => `${REQUEST_ID}/${String(seq).padStart(8, "0")}`;
  const append = (seq: number, ...events: JournalEvent[]) => {
    const by = { kind: "executor", id: "host:1:a" };
    const entry = { requestId: REQUEST_ID, planId: PLAN_ID, seq, by, at: new Date(), epoch: 1, events };
    return journal.insertOne({ _id: entryId(seq), ...entry });
  };
  const call: JournalEvent = {
    type: "attempt.started",
    stepId: "a",
    units: ["a"],
    attempt: 1,
    attemptId: "1",
    tool: "t",
    effectClass: "K",
    mayAct: true,
    argsHash: "",
    arguments: { sizeBytes: 2 },
    at: new Date(),
  };
  await append(1, { type: "lease.taken", worker: "host:1:a", epoch: 1, from: null }, call);
  await append(2, { type: "step.changed", key: "a", stepId: "a", status: "COMPLETED" });
  await append(4, { type: "step.changed", key: "a", stepId: "a", status: "FAILED" });
  await journal.deleteOne({ _id: entryId(4) });
  await log.finish();
  const step1 = `${PLAN_ID}/a`;
  const recorded = log.changes.map((change) => {
    const { at: _at, collection: _collection, fields: _fields, ...rest } = change;
    return rest;
  });
  expect(recorded).toEqual([
    { type: "insert", id: PLAN_ID, status: "QUEUED", epoch: 0 },
    { type: "update", id: step1, status: "RUNNING", epoch: 1, writer: "host:1:a" },
    { type: "update", id: step1, status: "COMPLETED", epoch: 1, writer: "host:1:a" },
    { type: "invalid", id: entryId(4), reason: expect.stringContaining("entry 3") },
    { type: "delete", id: entryId(4) },
  ]);
});

test("a claim is recorded with its owner", async () => {
  const log = await startChangeLog(client);
  const plans = client.db().collection<Step>("plans");
  await plans.insertOne({ _id: "p", status: "QUEUED", epoch: 0, lease: null });
  const lease = { owner: "host:1:a", epoch: 1 };
  await plans.updateOne({ _id: "p" }, [
    { $set: { lease: { $literal: lease }, epoch: 1, status: "RUNNING" } },
  ]);
  await plans.updateOne({ _id: "p" }, [{ $set: { "lease.owner": "host:2:b", epoch: 2 } }]);
  await plans.updateOne({ _id: "p" }, [{ $set: { updatedAt: "$$NOW" } }]);
  await log.finish();
  expect(log.changes.map(({ owner, epoch }) => ({ owner, epoch }))).toEqual([
    { epoch: 0 },
    { owner: "host:1:a", epoch: 1 },
    { owner: "host:2:b", epoch: 2 },
    {},
  ]);
});

test("an entry that stores a version waits for its plan, and so do later entries; without the plan it is invalid", async () => {
  const log = await startChangeLog(client);
  const journal = client.db().collection<Document & { _id: string }>("journal");
  const plans = client.db().collection<Document & { _id: string }>("plans");
  const store = (requestId: string, seq: number, event: JournalEvent) =>
    journal.insertOne({
      _id: `${requestId}/${String(seq).padStart(8, "0")}`,
      requestId,
      planId: event.type === "plan.stored" ? event.planId : PLAN_ID,
      seq,
      by: { kind: "api", id: "api" },
      at: new Date(),
      events: [event],
    });
  const stored = {
    type: "plan.stored" as const,
    planId: PLAN_ID,
    version: 1,
    isValid: true,
    carried: [],
    settled: [],
    unanswered: [],
  };
  const cancelled: JournalEvent = { type: "step.changed", key: "a", stepId: "a", status: "CANCELLED" };
  await store(REQUEST_ID, 1, stored);
  await store(REQUEST_ID, 2, cancelled);
  await plans.insertOne({
    _id: PLAN_ID,
    requestId: REQUEST_ID,
    status: "READY",
    epoch: 0,
    plan: { steps: [{ id: "a", tool: "t", arguments: {}, dependsOn: [] }] },
  });
  const other = REQUEST_ID.replace("a", "b");
  await store(other, 1, { ...stored, planId: "plan_other" });
  await log.finish();
  expect(log.changes.map(({ type, id, status }) => [type, id, status])).toEqual([
    ["insert", PLAN_ID, "READY"],
    ["update", `${PLAN_ID}/a`, "CANCELLED"],
    ["invalid", `${other}/00000001`, undefined],
  ]);
});
