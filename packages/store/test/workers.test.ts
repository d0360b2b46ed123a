import { type PlanId, parsePlan, type RequestId } from "@planwright/plan";
import { startServerProxy, testServers } from "@planwright/testing";
import type { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createStore, type Store, StoreUnavailableError, WORKER_DEAD_AFTER_MS } from "../src/index.ts";
import { openStoreAndClient } from "./store-and-client.ts";

let store: Store;
let client: MongoClient;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ store, client, close } = await openStoreAndClient());
});
afterAll(() => close());

test("added workers are live until they stop or are silent for 5 s", async () => {
  expect(await store.liveWorkers()).toMatchObject({ planner: 0, executor: 0 });
  await store.addWorker({ _id: "e1", kind: "executor" });
  await store.addWorker({ _id: "e2", kind: "executor" });
  await store.addWorker({ _id: "p1", kind: "planner" });
  await store.addWorker({ _id: "e1", kind: "executor" });
  expect(await store.liveWorkers()).toMatchObject({ planner: 1, executor: 2 });

  await store.removeWorker("e2");
  expect(await store.liveWorkers()).toMatchObject({ planner: 1, executor: 1 });

  await silence("e1");
  expect(await store.liveWorkers()).toMatchObject({ planner: 1, executor: 0 });
  expect(await store.beat("e1", WORKER_DEAD_AFTER_MS)).toBe(true);
  expect(await store.liveWorkers()).toMatchObject({ planner: 1, executor: 1 });
});

test("a model is missing while there are live planners and none of them has one", async () => {
  for (const id of ["p1", "p2", "p3"]) await store.removeWorker(id);
  expect(await store.isModelMissing()).toBe(false);
  await store.addWorker({ _id: "p2", kind: "planner", hasModel: false });
  expect(await store.isModelMissing()).toBe(true);
  await store.addWorker({ _id: "p3", kind: "planner", hasModel: true });
  expect(await store.isModelMissing()).toBe(false);
  await store.removeWorker("p3");
  await store.addWorker({ _id: "p1", kind: "planner" });
  expect(await store.isModelMissing()).toBe(false);
});

async function heldPlan(owner: string): Promise<string> {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const input = { tenant: "t1", query: null, raw: "", diagnostics: [], autoExecute: true };
  const { plan } = await store.submitPlan({ ...input, plan: parsed.plan });
  if (!(await store.claimPlan(plan._id, owner))) throw new TypeError("nothing to claim");
  return plan._id;
}

async function heldRequest(owner: string): Promise<string> {
  const request = await store.createRequest({ tenant: "t1", query: "x", autoExecute: true });
  if (!(await store.claimRequest(request._id, owner))) throw new TypeError("nothing to claim");
  return request._id;
}

/** Makes a worker silent for the default time. */
async function silence(id: string): Promise<void> {
  await client
    .db()
    .collection<{ _id: string }>("workers")
    .updateOne({ _id: id }, [{ $set: { seenAt: { $subtract: ["$$NOW", WORKER_DEAD_AFTER_MS] } } }]);
}

test("the work of a silent worker is due when it is declared dead, which its next heartbeat reports", async () => {
  await store.addWorker({ _id: "silent", kind: "executor" });
  await store.addWorker({ _id: "alive", kind: "executor" });
  await store.addWorker({ _id: "planner", kind: "planner" });
  const [mine, theirs, request] = [
    await heldPlan("silent"),
    await heldPlan("alive"),
    await heldRequest("planner"),
  ];
  await silence("silent");
  await silence("planner");
  expect(await store.takeFromDead({ declaresSilent: false })).toEqual({ owners: [], plans: 0, requests: 0 });
  expect(await store.beat("silent", WORKER_DEAD_AFTER_MS)).toBe(true);
  await silence("silent");
  const taken = await store.takeFromDead({ declaresSilent: true });
  expect({ ...taken, owners: taken.owners.toSorted() }).toEqual({
    owners: ["planner", "silent"],
    plans: 1,
    requests: 1,
  });
  expect(await store.beat("silent", WORKER_DEAD_AFTER_MS)).toBe(false);
  expect(await store.beat("alive", WORKER_DEAD_AFTER_MS)).toBe(true);
  expect((await store.claimPlan(mine as PlanId, "new"))?.plan.takenFrom).toBe("silent");
  expect(await store.claimPlan(theirs as PlanId, "new")).toBeNull();
  expect((await store.claimRequest(request as RequestId, "p9"))?.request.takenFrom).toBe("planner");
});

test("a worker may be silent for the `deadAfterMs` of its last heartbeat", async () => {
  await store.addWorker({ _id: "slow", kind: "executor", deadAfterMs: 60_000 });
  const plan = await heldPlan("slow");
  await silence("slow");
  await store.takeFromDead({ declaresSilent: true });
  expect(await store.beat("slow", WORKER_DEAD_AFTER_MS)).toBe(true);
  expect(await store.claimPlan(plan as PlanId, "new")).toBeNull();
  await silence("slow");
  await store.takeFromDead({ declaresSilent: true });
  expect(await store.beat("slow", WORKER_DEAD_AFTER_MS)).toBe(false);
});

test("the work of an owner that was never added, or is removed, is due at the next check", async () => {
  const stray = await heldPlan("never added");
  await store.addWorker({ _id: "stopped", kind: "executor" });
  const left = await heldPlan("stopped");
  await store.removeWorker("stopped");
  expect((await store.takeFromDead({ declaresSilent: false })).plans).toBe(2);
  for (const id of [stray, left]) expect(await store.claimPlan(id as PlanId, "new")).not.toBeNull();
});

test("only the work of a worker is due whose address another one of its kind has", async () => {
  await store.addWorker({ _id: "old", kind: "executor", addressKey: "here" });
  await store.addWorker({ _id: "elsewhere", kind: "executor", addressKey: "there" });
  await store.addWorker({ _id: "a planner", kind: "planner", addressKey: "here" });
  const [mine, theirs] = [await heldPlan("old"), await heldPlan("elsewhere")];
  expect(await store.declarePredecessorsDead({ _id: "new", kind: "executor", addressKey: "here" })).toBe(1);
  await store.takeFromDead({ declaresSilent: false });
  expect((await store.claimPlan(mine as PlanId, "new"))?.plan.takenFrom).toBe("old");
  expect(await store.claimPlan(theirs as PlanId, "new")).toBeNull();
  expect(await store.declarePredecessorsDead({ _id: "new", kind: "executor", addressKey: "here" })).toBe(0);
});

test("a worker is not its own predecessor, nor is one that stopped or has no address", async () => {
  await store.addWorker({ _id: "self", kind: "executor", addressKey: "corner" });
  await store.addWorker({ _id: "gone", kind: "executor", addressKey: "corner" });
  await store.removeWorker("gone");
  await store.addWorker({ _id: "placeless", kind: "executor" });
  expect(await store.declarePredecessorsDead({ _id: "self", kind: "executor", addressKey: "corner" })).toBe(
    0,
  );
});

test("a worker that takes no more work keeps its leases", async () => {
  await store.addWorker({ _id: "stopping", kind: "executor" });
  const plan = await heldPlan("stopping");
  const before = await store.liveWorkers();
  await store.retireWorker("stopping");
  const after = await store.liveWorkers();
  expect(after.executor).toBe(before.executor - 1);
  expect(after.owners.has("stopping")).toBe(true);
  await store.takeFromDead({ declaresSilent: true });
  expect(await store.claimPlan(plan as PlanId, "new")).toBeNull();
});

test("a heartbeat without an answer ends in time for the next one, and long before the connection is given up", async () => {
  const proxy = await startServerProxy(testServers().mongodbUrl);
  onTestFinished(() => proxy.close());
  const behind = await createStore({ url: proxy.url });
  onTestFinished(() => behind.close());
  await behind.addWorker({ _id: "cut off", kind: "executor" });
  proxy.freeze();
  onTestFinished(() => proxy.mend());
  await expect(behind.beat("cut off", WORKER_DEAD_AFTER_MS)).rejects.toBeInstanceOf(StoreUnavailableError);
});
