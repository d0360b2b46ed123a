import { parsePlan } from "@planwright/plan";
import type { PlanClaim } from "@planwright/store";
import {
  createMemoryDatabase,
  createMemoryStore,
  type Reach,
  UnreachableError,
} from "@planwright/store/memory";
import { eventually, listSteps } from "@planwright/testing";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type OpenStore, STORES } from "./open-stores.ts";
import { playRecords } from "./play-records.ts";

const parsed = parsePlan([{ id: "a", tool: "a", arguments: {} }]);
if (!parsed.ok) throw new TypeError("the plan is not valid");
const submission = {
  tenant: "t1",
  query: null,
  plan: parsed.plan,
  raw: "",
  diagnostics: [],
  autoExecute: false,
};

describe.each(STORES)("on $name, a cancel before the start", ({ open }) => {
  let opened: OpenStore;
  beforeEach(async () => {
    opened = await open();
    return () => opened.close();
  });

  test("ends the plan, its request and its steps at once", async () => {
    const { store } = opened;
    const { plan, request } = await store.submitPlan(submission);
    expect(await store.requestCancel("t1", plan._id, "client")).toMatchObject({
      status: "CANCELLED",
      dueAt: null,
    });
    expect(await store.getRequest("t1", request._id)).toMatchObject({ status: "CANCELLED" });
    expect(await listSteps(store, "t1", [plan._id])).toMatchObject([
      { status: "CANCELLED", finishedAt: expect.any(Date), waitReason: null },
    ]);
  });

  test("during the first planning ends the request, only for its tenant, and no plan is made", async () => {
    const { store } = opened;
    const asked = { tenant: "t1", query: "do a", autoExecute: true, wantsAnswer: true };
    const { _id, planId } = await store.createRequest(asked);
    expect(await store.cancelPlanning("t2", _id)).toBeNull();
    expect(await store.cancelPlanning("t1", _id)).toMatchObject({
      status: "CANCELLED",
      lease: null,
      dueAt: null,
      planning: { finishedAt: expect.any(Date) },
      answerError: { code: "PLAN_NOT_COMPLETED" },
    });
    expect(await store.cancelPlanning("t1", _id)).toBeNull();
    expect(await store.queuePlan("t1", planId, _id)).toBeNull();
    expect(await store.getRequest("t1", _id)).toMatchObject({ status: "CANCELLED" });
  });

  test("of a plan of another tenant changes nothing", async () => {
    const { store } = opened;
    const { plan } = await store.submitPlan(submission);
    expect(await store.requestCancel("t2", plan._id, "client")).toBeNull();
    expect(await store.getPlan("t1", plan._id)).toMatchObject({ status: "READY" });
  });
});

test.each(["before", "after"])(
  "a cancel that was interrupted %s any of its writes is done completely or not at all, and can be repeated",
  async (when) => {
    const database = createMemoryDatabase();
    let writesLeft = Number.POSITIVE_INFINITY;
    const reach: Reach = async ({ name, apply }) => {
      if (when === "before" && writesLeft-- <= 0) throw new UnreachableError(name);
      const result = await apply();
      if (when === "after" && writesLeft-- <= 0) throw new UnreachableError(name);
      return result;
    };
    const store = createMemoryStore({ database, owner: "api", reach, retryForMs: 0, retryEveryMs: 1 });
    const reader = createMemoryStore({ database, owner: "reader" });
    const seen = new Set<string>();
    for (let writesDone = 0; writesDone < 12; writesDone++) {
      writesLeft = Number.POSITIVE_INFINITY;
      const { plan, request } = await store.submitPlan(submission);
      writesLeft = writesDone;
      await store.requestCancel("t1", plan._id, "client").catch(() => undefined);
      const [step] = await listSteps(reader, "t1", [plan._id]);
      seen.add(`${(await reader.getPlan("t1", plan._id))?.status} ${step?.status}`);
      expect(await reader.requestCancel("t1", plan._id, "client")).toMatchObject({ status: "CANCELLED" });
      expect(await reader.getRequest("t1", request._id)).toMatchObject({ status: "CANCELLED" });
      expect((await listSteps(reader, "t1", [plan._id]))[0]).toMatchObject({ status: "CANCELLED" });
    }
    expect([...seen].toSorted()).toEqual(["CANCELLED CANCELLED", "READY PENDING"]);
  },
);

/** A request whose plan has one completed and one failed step. */
async function failedPlan(store: OpenStore["store"]) {
  const steps = [
    { id: "a", tool: "a", arguments: {} },
    { id: "b", tool: "a", arguments: {} },
  ];
  const two = parsePlan(steps);
  if (!two.ok) throw new TypeError("the plan is not valid");
  const { plan, request } = await store.submitPlan({ ...submission, plan: two.plan, autoExecute: true });
  const claim = await eventually(() => store.claimPlan(plan._id, "e1"));
  const error = { code: "NO", message: "no", retryable: false };
  await playRecords(store, claim, [
    { key: "a", stepId: "a", status: "COMPLETED", attempts: 1, output: 1 },
    { key: "b", stepId: "b", status: "FAILED", attempts: 1, error },
  ]);
  await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {}, error });
  return request._id;
}

describe.each(STORES)("on $name", ({ open }) => {
  test("a version that is cancelled before its start keeps the carried steps", async () => {
    const { store, close } = await open();
    onTestFinished(() => close());
    const requestId = await failedPlan(store);
    const again = await store.rerunPlan("t1", requestId, { from: null, autoExecute: false });
    if (again.type !== "rerun") throw new TypeError(`there is no version: ${again.type}`);
    expect(await store.requestCancel("t1", again.plan._id, "client")).toMatchObject({ status: "CANCELLED" });
    const steps = await listSteps(store, "t1", [again.plan._id]);
    expect(steps.map(({ key, status }) => [key, status])).toEqual([
      ["a", "COMPLETED"],
      ["b", "CANCELLED"],
    ]);
    expect(await store.getRequest("t1", requestId)).toMatchObject({ status: "CANCELLED" });
  });
});

test("a plan that is started during its cancel continues until its executor reads the control", async () => {
  const database = createMemoryDatabase();
  const other = createMemoryStore({ database, owner: "other" });
  const { plan, request } = await other.submitPlan(submission);
  let claim: PlanClaim | null = null;
  const slow: Reach = async ({ name, apply }) => {
    const answer = await apply();
    if (name !== "plans.findOne" || claim) return answer;
    await other.queuePlan("t1", plan._id, request._id);
    claim = await other.claimPlan(plan._id, "e1");
    const record = { key: "a", stepId: "a", status: "COMPLETED" as const, attempts: 1, output: 1 };
    if (claim) await playRecords(other, claim, [record]);
    return answer;
  };
  const store = createMemoryStore({ database, owner: "api", reach: slow });
  expect(await store.requestCancel("t1", plan._id, "client")).toMatchObject({
    status: "RUNNING",
    cancelRequestedAt: expect.any(Date),
  });
  expect((await listSteps(other, "t1", [plan._id]))[0]).toMatchObject({ status: "COMPLETED", output: 1 });
});
