import type { RequestId } from "@planwright/plan";
import type { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../src/index.ts";
import { openStoreAndClient, submitOneStep } from "./store-and-client.ts";

let store: Store;
let client: MongoClient;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ store, client, close } = await openStoreAndClient());
});
afterAll(() => close());

const submitted = (tenant: string) => submitOneStep(store, tenant);

async function ended(
  tenant: string,
  status: "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED",
): Promise<RequestId> {
  const { requestId, planId } = await submitted(tenant);
  const claim = await store.claimPlan(planId, "e1");
  const error = status === "FAILED" ? { code: "TOOL_FAILED", message: "no", retryable: false } : undefined;
  await store.finishPlan(claim!, { type: "finish", status, outputs: {}, error });
  return requestId;
}

const requests = () => client.db().collection<{ _id: string }>("requests");

test("a tenant without requests has no workload", async () => {
  const { at, since, ...counts } = await store.readWorkload("a tenant without requests");
  expect(at.getTime() - since.getTime()).toBe(3_600_000);
  expect(counts).toEqual({ ended: 0, failed: 0, running: 0, waiting: 0, oldest: null });
});

test("requests that ended within the last hour are counted, and those of them that failed", async () => {
  for (const status of ["COMPLETED", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED"] as const)
    await ended("t1", status);
  const old = await ended("t1", "FAILED");
  await requests().updateOne({ _id: old }, [{ $set: { updatedAt: { $subtract: ["$$NOW", 3_700_000] } } }]);
  await ended("t2", "FAILED");
  expect(await store.readWorkload("t1")).toMatchObject({ ended: 5, failed: 2, running: 0, waiting: 0 });
});

test("held work is counted as running, other due work as waiting, and the oldest is returned", async () => {
  const request = await store.createRequest({ tenant: "t3", query: "x", autoExecute: true });
  const first = await submitted("t3");
  await submitted("t3");
  const running = await submitted("t3");
  await store.claimPlan(running.planId, "e1");
  await submitted("t4");
  expect(await store.readWorkload("t3")).toMatchObject({
    running: 1,
    waiting: 3,
    oldest: { requestId: request._id, since: expect.any(Date), ageMs: expect.any(Number) },
  });
  await store.claimRequest(request._id, "p1");
  expect(await store.readWorkload("t3")).toMatchObject({
    running: 2,
    waiting: 2,
    oldest: { requestId: first.requestId },
  });
});

test("work that was taken from a dead worker waits, and is not counted as running", async () => {
  await store.addWorker({ _id: "dead", kind: "executor" });
  const { planId } = await submitted("t6");
  await store.claimPlan(planId, "dead");
  expect(await store.readWorkload("t6")).toMatchObject({ running: 1, waiting: 0 });
  await client
    .db()
    .collection<{ _id: string }>("workers")
    .updateOne({ _id: "dead" }, { $set: { seenAt: new Date(0) } });
  await store.takeFromDead({ declaresSilent: true });
  expect(await store.readWorkload("t6")).toMatchObject({ running: 0, waiting: 1 });
});

test("work that is due later is not counted as waiting", async () => {
  const { planId } = await submitted("t5");
  const claim = await store.claimPlan(planId, "e1");
  const dueAtMs = store.now() + 60_000;
  await store.releasePlan(claim!, { status: "WAITING", reason: "backoff", dueAtMs });
  expect(await store.readWorkload("t5")).toMatchObject({ running: 0, waiting: 0, oldest: null });
});
