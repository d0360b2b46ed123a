import type { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Store, WORKER_DEAD_AFTER_MS } from "../src/index.ts";
import { openStoreAndClient, submitOneStep } from "./store-and-client.ts";

let store: Store;
let client: MongoClient;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ store, client, close } = await openStoreAndClient());
});
afterAll(() => close());

const submitted = (tenant = "t1") => submitOneStep(store, tenant);

/** Makes a worker silent for this time. */
async function silence(id: string, ms = WORKER_DEAD_AFTER_MS): Promise<void> {
  await client
    .db()
    .collection<{ _id: string }>("workers")
    .updateOne({ _id: id }, [{ $set: { seenAt: { $subtract: ["$$NOW", ms] } } }]);
}

const lostNamed = async (name: string) => (await store.readFleet()).lost.find((one) => one.name === name);

test("an empty fleet has no workers and no waiting work", async () => {
  expect(await store.readFleet()).toEqual({
    at: expect.any(Date),
    workers: [],
    lost: [],
    plans: { due: 0, oldest: null },
    requests: { due: 0, oldest: null },
  });
});

test("live workers are listed by kind and name, with their heartbeat and the work that they hold", async () => {
  await store.addWorker({ _id: "p1", kind: "planner", hasModel: true });
  await store.addWorker({ _id: "e2", kind: "executor" });
  await store.addWorker({ _id: "e1", kind: "executor" });
  await store.retireWorker("e2");
  await silence("e1", 2_000);
  const { planId } = await submitted();
  await store.claimPlan(planId, "e1");
  const request = await store.createRequest({ tenant: "t2", query: "x", autoExecute: true });
  await store.claimRequest(request._id, "p1");

  const { workers, lost } = await store.readFleet();
  expect(workers).toMatchObject([
    { name: "e1", kind: "executor", hasModel: null, takesWork: true, holds: 1 },
    { name: "e2", kind: "executor", takesWork: false, holds: 0 },
    { name: "p1", kind: "planner", hasModel: true, takesWork: true, holds: 1 },
  ]);
  expect(workers[0]?.silentMs).toBeGreaterThanOrEqual(1_500);
  await store.planLeases.releaseUnheld([{ id: planId, epoch: 1 }]);
  expect((await store.readFleet()).workers[0]).toMatchObject({ name: "e1", holds: 0 });
  await store.claimPlan(planId, "e1");
  expect(lost).toEqual([]);
});

test("due work is counted, and the oldest is returned with its tenant", async () => {
  const first = await submitted("t7");
  await submitted("t8");
  const request = await store.createRequest({ tenant: "t9", query: "y", autoExecute: true });
  const { plans, requests } = await store.readFleet();
  expect(plans).toMatchObject({ due: 2, oldest: { tenant: "t7", requestId: first.requestId } });
  expect(plans.oldest?.ageMs).toBeGreaterThanOrEqual(0);
  expect(requests).toMatchObject({ due: 1, oldest: { tenant: "t9", requestId: request._id } });
});

test("a worker that is silent for too long is lost, and its work is counted when it is taken", async () => {
  await store.addWorker({ _id: "silent", kind: "executor" });
  for (const { planId } of [await submitted(), await submitted()]) await store.claimPlan(planId, "silent");
  await silence("silent");
  expect(await lostNamed("silent")).toMatchObject({ kind: "executor", deadAt: null, leasesLost: 0 });
  await store.takeFromDead({ declaresSilent: true });
  await store.takeFromDead({ declaresSilent: true });
  expect(await lostNamed("silent")).toMatchObject({ deadAt: expect.any(Date), leasesLost: 2 });
  expect((await store.readFleet()).workers.map(({ name }) => name)).not.toContain("silent");
});

test("a worker that was restarted at its address is lost under its old name; a stopped worker is not", async () => {
  await store.addWorker({ _id: "killed", kind: "executor", addressKey: "here" });
  await store.addWorker({ _id: "stopped", kind: "executor", addressKey: "there" });
  await store.removeWorker("stopped");
  await store.declarePredecessorsDead({ _id: "next", kind: "executor", addressKey: "here" });
  expect(await lostNamed("killed")).toMatchObject({ deadAt: expect.any(Date) });
  expect(await lostNamed("stopped")).toBeUndefined();
});
