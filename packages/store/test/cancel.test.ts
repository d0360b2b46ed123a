import { parsePlan } from "@planwright/plan";
import {
  createMemoryDatabase,
  createMemoryStore,
  type Reach,
  UnreachableError,
} from "@planwright/store/memory";
import { beforeEach, describe, expect, test } from "vitest";
import { type OpenStore, STORES } from "./open-stores.ts";

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
    expect(await store.listSteps("t1", [plan._id])).toMatchObject([
      { status: "CANCELLED", finishedAt: expect.any(Date), waitReason: null },
    ]);
  });

  test("in the first planning ends the request, of its tenant alone, and no plan comes", async () => {
    const { store } = opened;
    const asked = { tenant: "t1", query: "do a", autoExecute: true, wantsAnswer: true };
    const { _id, planId } = await store.createRequest(asked);
    expect(await store.cancelPlanning("t2", _id)).toBeNull();
    expect(await store.cancelPlanning("t1", _id)).toMatchObject({
      status: "CANCELLED",
      planning: { lease: null, dueAt: null, finishedAt: expect.any(Date) },
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
  "a cancel cut off %s any of its writes leaves nothing half done",
  async (when) => {
    const database = createMemoryDatabase();
    let writesLeft = Number.POSITIVE_INFINITY;
    const reach: Reach = async ({ name, apply }) => {
      if (when === "before" && writesLeft-- <= 0) throw new UnreachableError(name);
      const result = await apply();
      if (when === "after" && writesLeft-- <= 0) throw new UnreachableError(name);
      return result;
    };
    const store = createMemoryStore({ database, owner: "api", reach });
    const look = createMemoryStore({ database, owner: "reader" });
    for (const done of [0, 1, 2]) {
      writesLeft = Number.POSITIVE_INFINITY;
      const { plan, request } = await store.submitPlan(submission);
      writesLeft = done;
      await store.requestCancel("t1", plan._id, "client").catch(() => undefined);
      const { status } = (await look.getPlan("t1", plan._id))!;
      expect((await look.getRequest("t1", request._id))!.status).toBe(status);
      expect((await look.listSteps("t1", [plan._id]))[0]!.status).toBe(
        status === "READY" ? "PENDING" : status,
      );
    }
  },
);
