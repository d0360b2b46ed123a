import { type PlanId, parsePlan, type RequestId } from "@planwright/plan";
import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStore, type Store, WORKER_DEAD_AFTER_MS } from "../src/index.ts";

let store: Store;
let client: MongoClient;
beforeAll(async () => {
  const { mongodbUrl } = testServers();
  store = await createStore({ url: mongodbUrl });
  client = await MongoClient.connect(mongodbUrl);
});
afterAll(async () => {
  await client.close();
  await store.close();
});

test("workers that say so are alive, until they stop or are silent for 5 s", async () => {
  expect(await store.liveWorkers()).toEqual({ planner: 0, executor: 0 });
  await store.beat({ _id: "e1", kind: "executor" });
  await store.beat({ _id: "e2", kind: "executor" });
  await store.beat({ _id: "p1", kind: "planner" });
  await store.beat({ _id: "e1", kind: "executor" });
  expect(await store.liveWorkers()).toEqual({ planner: 1, executor: 2 });

  await store.removeWorker("e2");
  expect(await store.liveWorkers()).toEqual({ planner: 1, executor: 1 });

  const silent = [{ $set: { seenAt: { $subtract: ["$$NOW", WORKER_DEAD_AFTER_MS] } } }];
  await client.db().collection<{ _id: string }>("workers").updateOne({ _id: "e1" }, silent);
  expect(await store.liveWorkers()).toEqual({ planner: 1, executor: 0 });
  await store.beat({ _id: "e1", kind: "executor" });
  expect(await store.liveWorkers()).toEqual({ planner: 1, executor: 1 });
});

test("a model is missing while planners live and each of them says that it has none", async () => {
  for (const id of ["p1", "p2", "p3"]) await store.removeWorker(id);
  expect(await store.isModelMissing()).toBe(false);
  await store.beat({ _id: "p2", kind: "planner", hasModel: false });
  expect(await store.isModelMissing()).toBe(true);
  await store.beat({ _id: "p3", kind: "planner", hasModel: true });
  expect(await store.isModelMissing()).toBe(false);
  await store.removeWorker("p3");
  await store.beat({ _id: "p1", kind: "planner" });
  expect(await store.isModelMissing()).toBe(false);
});

const dueAt = async (collection: string, id: string, path: "dueAt" | "planning.dueAt"): Promise<Date> => {
  const [found] = await client
    .db()
    .collection<{ _id: string }>(collection)
    .aggregate<{ at: Date }>([{ $match: { _id: id } }, { $project: { at: `$${path}` } }])
    .toArray();
  if (!found) throw new TypeError("it is not there");
  return found.at;
};

async function heldPlan(owner: string): Promise<string> {
  const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
  if (!parsed.ok) throw new TypeError("the plan is not valid");
  const what = { tenant: "t1", query: null, raw: "", diagnostics: [], autoExecute: true };
  const { plan } = await store.submitPlan({ ...what, plan: parsed.plan });
  if (!(await store.claimPlan(plan._id, owner))) throw new TypeError("nothing to claim");
  return plan._id;
}

async function heldRequest(owner: string): Promise<string> {
  const request = await store.createRequest({ tenant: "t1", query: "x", autoExecute: true });
  if (!(await store.claimRequest(request._id, owner))) throw new TypeError("nothing to claim");
  return request._id;
}

test("what a dead worker held is due as soon as another one listens at its place, and nothing else", async () => {
  await store.beat({ _id: "old", kind: "executor", place: "here" });
  await store.beat({ _id: "elsewhere", kind: "executor", place: "there" });
  await store.beat({ _id: "planner", kind: "planner", place: "here" });
  const [mine, theirs] = [await heldPlan("old"), await heldPlan("elsewhere")];
  const request = await heldRequest("planner");
  expect(await store.replacePredecessors({ _id: "new", kind: "executor", place: "here" })).toBe(1);
  expect((await dueAt("plans", mine, "dueAt")).getTime()).toBeLessThanOrEqual(store.now() + 1_000);
  expect((await dueAt("plans", theirs, "dueAt")).getTime()).toBeGreaterThan(store.now() + 2_000);
  expect((await store.claimPlan(mine as PlanId, "new"))?.plan.takenFrom).toBe("old");
  expect(await store.claimPlan(theirs as PlanId, "new")).toBeNull();
  expect(await store.replacePredecessors({ _id: "new", kind: "executor", place: "here" })).toBe(0);

  expect(await store.claimRequest(request as RequestId, "p9")).toBeNull();
  expect(await store.replacePredecessors({ _id: "p9", kind: "planner", place: "here" })).toBe(1);
  expect((await store.claimRequest(request as RequestId, "p9"))?.request.planning.takenFrom).toBe("planner");
});

test("a worker is not its own predecessor, nor is one that said that it stopped or that has no place", async () => {
  await store.beat({ _id: "self", kind: "executor", place: "corner" });
  await store.beat({ _id: "stopped", kind: "executor", place: "corner" });
  await store.removeWorker("stopped");
  await store.beat({ _id: "placeless", kind: "executor" });
  expect(await store.replacePredecessors({ _id: "self", kind: "executor", place: "corner" })).toBe(0);
});
