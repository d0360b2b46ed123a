import { MongoClient } from "mongodb";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startChangeLog } from "../chaos/change-log.ts";
import { testServers } from "../src/index.ts";

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

test("a change log has every write in order, and nothing of other collections", async () => {
  const log = await startChangeLog(client);
  const steps = client.db().collection<Step>("steps");
  const attempt = { attempt: 1, executor: "host:1:a", endedAt: null };
  await client.db().collection("tools").insertOne({ status: "seen" });
  await steps.insertOne({ _id: "p/a", status: "PENDING", epoch: 1, attempts: [] });
  await steps.updateOne({ _id: "p/a" }, { $set: { status: "RUNNING", writeId: "w:1", attempts: [attempt] } });
  await steps.updateOne({ _id: "p/a" }, [{ $set: { epoch: { $add: ["$epoch", 1] } } }]);
  await steps.updateOne({ _id: "p/a" }, { $set: { "attempts.0.endedAt": new Date() } });
  await steps.deleteOne({ _id: "p/a" });
  await log.finish();
  expect(
    log.changes.map(({ type, id, status, epoch, writeId, executor }) => ({
      type,
      id,
      status,
      epoch,
      writeId,
      executor,
    })),
  ).toEqual([
    { type: "insert", id: "p/a", status: "PENDING", epoch: 1 },
    { type: "update", id: "p/a", status: "RUNNING", writeId: "w:1", executor: "host:1:a" },
    { type: "update", id: "p/a", epoch: 2 },
    { type: "update", id: "p/a" },
    { type: "delete", id: "p/a" },
  ]);
});

test("a claim is seen with its owner", async () => {
  const log = await startChangeLog(client);
  const plans = client.db().collection<Step>("plans");
  await plans.insertOne({ _id: "p", status: "QUEUED", epoch: 0, lease: null });
  const lease = { owner: "host:1:a", epoch: 1, expiresAt: new Date() };
  await plans.updateOne({ _id: "p" }, [
    { $set: { lease: { $literal: lease }, epoch: 1, status: "RUNNING" } },
  ]);
  await plans.updateOne({ _id: "p" }, [{ $set: { "lease.owner": "host:2:b", epoch: 2 } }]);
  await plans.updateOne({ _id: "p" }, [{ $set: { "lease.expiresAt": "$$NOW" } }]);
  await log.finish();
  expect(log.changes.map(({ owner, epoch }) => ({ owner, epoch }))).toEqual([
    { epoch: 0 },
    { owner: "host:1:a", epoch: 1 },
    { owner: "host:2:b", epoch: 2 },
    {},
  ]);
});
